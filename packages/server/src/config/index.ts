import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf } from "../base/folders.ts";
import { isQuoted, type Parsed, shown } from "./parsers.ts";
import { fileVariableOf, flagOf, SETTINGS, type Setting, type SettingKey, variableOf } from "./settings.ts";

export type { LogLevel } from "./parsers.ts";
export { makeSealKeys, readOrMakeSealKeys, readSealKeyFile, readSealKeys } from "./seal-key.ts";
export { fileVariableOf, flagOf, hasFlag, SETTINGS, type SettingKey, variableOf } from "./settings.ts";

type ValueOf<K extends SettingKey> = ReturnType<(typeof SETTINGS)[K]["parse"]> extends Parsed<infer T> ? T : never;

/** Settings without a default. */
type Optional = "publicUrl" | "operatorKey" | "sealKeys" | "egressCa";

/** All settings, checked and typed. Those without a default may be null. */
export type Config = {
	readonly [K in Exclude<
		SettingKey,
		"egressAllow" | "egressDeny" | "egressPorts" | "alertUrl" | "alertSecret"
	>]: K extends Optional ? ValueOf<K> | null : ValueOf<K>;
} & {
	/** The file that the database's URL was read from; null if it was given otherwise. */
	readonly databaseUrlFile: string | null;
	/** Where it is left if it is created and not shown (next to the database, mode 0600). Null with PostgreSQL. */
	readonly operatorKeyFile: string | null;
	/** Where the setup link is left if it isn't shown (next to the database, mode 0600). Null with PostgreSQL. */
	readonly setupLinkFile: string | null;
	/** Where the seal key is stored if it isn't set (next to the database, mode 0600). Null if it must be set. */
	readonly sealKeyFile: string | null;
	/** Exceptions to the egress guard's own rules. */
	readonly egress: EgressConfig;
	/** Null without alerts. */
	readonly alerts: { readonly url: string; readonly secret: string } | null;
};

interface EgressConfig {
	/** CIDRs, each with its `/bits`. */
	readonly allow: readonly string[];
	readonly deny: readonly string[];
	/** Ranges of ports, both ends included. */
	readonly ports: readonly (readonly [number, number])[];
}

interface ConfigSource {
	readonly env: Readonly<Record<string, string | undefined>>;
	/** Values of flags, by the key of their setting. They win over the environment. */
	readonly flags?: Readonly<Partial<Record<SettingKey, string>>>;
}

type ConfigResult =
	| { readonly ok: true; readonly config: Config }
	/** One line for each fault: where it is, and which values are valid. */
	| { readonly ok: false; readonly faults: readonly string[] };

/** Reads and checks everything at once. Never throws. */
export function readConfig({ flags = {}, ...source }: ConfigSource): ConfigResult {
	const env = withoutServiceLinks(source.env);
	const faults = unknownVariables(env);
	const given = new Set<SettingKey>();
	const read = <T>(key: SettingKey, setting: Setting<T>): T | null => {
		const found = find(setting, flags[key], env);
		if (found !== null) given.add(key);
		if (found !== null && "fault" in found) {
			faults.push(found.fault);
			return null;
		}
		const text = found?.text ?? setting.default;
		if (text === null) return null;
		const parsed: Parsed<T> = setting.parse(text);
		if (parsed.ok) return parsed.value;
		faults.push(`${found?.where ?? variableOf(setting)} ${wrong(setting, text)}; it must be ${parsed.must}.`);
		return null;
	};
	const values = Object.fromEntries(
		Object.entries(SETTINGS).map(([key, setting]) => [key, read(key as SettingKey, setting as Setting)]),
	) as { [K in SettingKey]: ValueOf<K> | null };

	if (values.database?.engine === "postgres" && !given.has("sealKeys"))
		faults.push(
			"POSTHORN_SEAL_KEY is not set; with PostgreSQL it is required, and must be the same on every node; make one with: openssl rand -base64 32.",
		);
	if (given.has("alertUrl") !== given.has("alertSecret"))
		faults.push(
			`POSTHORN_${given.has("alertUrl") ? "ALERT_SECRET" : "ALERT_URL"} is not set; alerts need POSTHORN_ALERT_URL and POSTHORN_ALERT_SECRET; make a secret with: posthorn alert --new-secret.`,
		);
	if (faults.length > 0) return { ok: false, faults };

	const {
		egressAllow: allow,
		egressDeny: deny,
		egressPorts: ports,
		alertUrl: url,
		alertSecret: secret,
		database,
		...rest
	} = values;
	const nextToDatabase = (name: string): string | null =>
		database!.engine === "sqlite" ? join(dirname(database!.path), name) : null;
	const config: { readonly [K in keyof Config]: Config[K] | null } = {
		...rest,
		database,
		databaseUrlFile: flags.database === undefined ? (env[fileVariableOf(SETTINGS.database)!] ?? null) : null,
		operatorKeyFile: nextToDatabase("posthorn.operatorkey"),
		setupLinkFile: nextToDatabase("posthorn.setuplink"),
		sealKeyFile: nextToDatabase("posthorn.sealkey"),
		egress: { allow: allow!, deny: deny!, ports: ports! },
		alerts: url === null || secret === null ? null : { url, secret },
	};
	// Those that have a default aren't null by now.
	return { ok: true, config: config as Config };
}

type Found = { readonly where: string; readonly text: string } | { readonly fault: string };

/** The variable or flag that gives a setting, and its text, or why that isn't accepted; null if none gives it. */
function find(setting: Setting, flag: string | undefined, env: ConfigSource["env"]): Found | null {
	const [variable, fileVariable] = [variableOf(setting), fileVariableOf(setting)];
	const value = env[variable];
	const file = fileVariable === null ? undefined : env[fileVariable];
	if (flag !== undefined && isSecret(setting, flag))
		return {
			fault: `${flagOf(setting)} would show a secret in the list of processes; set ${variable}, or ${fileVariable} to a file with it.`,
		};
	if (flag !== undefined) return { where: flagOf(setting), text: flag };
	// Programs that read files of variables differ in whether they keep a CR or a space at the end of a line.
	if (file === undefined) return value === undefined ? null : { where: variable, text: value.trim() };
	if (value !== undefined) return { fault: `${variable} and ${fileVariable} are both set; set one of them.` };
	try {
		return { where: fileVariable!, text: readFileSync(file, "utf8").trim() };
	} catch (error) {
		const why = codeOf(error) ?? "not a path";
		return { fault: `${fileVariable} is ${shown(file)}; it must be a file that can be read (${why}).` };
	}
}

/** The URL under which this machine reaches a service that listens there. */
export function localUrl({ host, port }: Pick<Config, "host" | "port">): string {
	if (host === "0.0.0.0") return `http://127.0.0.1:${port}`;
	if (host === "::") return `http://[::1]:${port}`;
	return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** The URL of PostgreSQL in a file; null if there is none that is valid. */
export function readDatabaseUrl(file: string): string | null {
	try {
		// Reading a pipe, as secret managers offer it, would block the service until someone writes to it again.
		if (!statSync(file).isFile()) return null;
		const parsed = SETTINGS.database.parse(readFileSync(file, "utf8").trim());
		return parsed.ok && parsed.value.engine === "postgres" ? parsed.value.url : null;
	} catch {
		return null;
	}
}

/** Whether a value must not be a flag. */
const isSecret = ({ secret = false }: Setting, text: string): boolean =>
	typeof secret === "function" ? secret(text) : secret;

/** What is wrong with a value; without the value of a secret. */
function wrong(setting: Setting, text: string): string {
	if (text === "") return "is empty";
	if (isQuoted(text)) return "is in quotes, which count as part of it: leave them out";
	return setting.secret ? "is not valid" : `is ${shown(text)}`;
}

/** `POSTHORN_SERVICE_HOST`, `POSTHORN_DB_PORT_5432_TCP_ADDR` and the like. */
const SERVICE_LINK =
	/^POSTHORN_(?:\w+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;

/**
 * Removes what Kubernetes injects for Services whose names begin with `posthorn`, unless a pod opts out. It includes
 * `POSTHORN_PORT=tcp://10.0.0.1:8420`.
 */
function withoutServiceLinks(env: ConfigSource["env"]): ConfigSource["env"] {
	const isLink = ([name, value]: [string, string | undefined]): boolean =>
		SERVICE_LINK.test(name) || (/^POSTHORN_(?:\w+_)?PORT$/.test(name) && /^(?:tcp|udp|sctp):\/\//.test(value ?? ""));
	return Object.fromEntries(Object.entries(env).filter((entry) => !isLink(entry)));
}

/** What the command line and programs read that talk to a service. Shells and containers often share one environment. */
const CLIENT_VARIABLES = ["POSTHORN_URL", "POSTHORN_API_KEY", "POSTHORN_API_KEY_FILE", "POSTHORN_PROJECT"];

/** Names are similar if they begin alike, and at least this part of their pairs of neighboring letters is the same. */
const SIMILAR = 1 / 3;

/** Names the setting that was probably meant, if any is similar. */
function suggestion(name: string, known: readonly string[]): string {
	const textOf = (variable: string): string => variable.slice("POSTHORN_".length, 100).toUpperCase();
	const text = textOf(name);
	const pairs = pairsOf(text);
	const scored = known
		.map((each) => ({ each, other: textOf(each) }))
		.filter(({ other }) => other[0] === text[0])
		.map(({ each, other }) => ({ each, score: alike(pairs, pairsOf(other)) }))
		.filter(({ score }) => score >= SIMILAR)
		.sort((a, b) => b.score - a.score);
	return scored.length > 0 ? ` Did you mean ${scored[0]!.each}?` : "";
}

const pairsOf = (text: string): Set<string> => new Set(Array.from(text.slice(1), (letter, i) => text[i]! + letter));

const alike = (a: Set<string>, b: Set<string>): number => (2 * a.intersection(b).size) / (a.size + b.size);

function unknownVariables(env: ConfigSource["env"]): string[] {
	const settings = Object.values(SETTINGS).flatMap((setting) =>
		[variableOf(setting), fileVariableOf(setting) ?? []].flat(),
	);
	const known = [...settings, ...CLIENT_VARIABLES];
	return Object.keys(env)
		.filter((name) => /^POSTHORN_/i.test(name) && env[name] !== undefined && !known.includes(name))
		.map(
			(name) =>
				`${/^\w{1,80}$/.test(name) ? name : shown(name)} is not a Posthorn setting.${suggestion(name, settings)} posthorn serve --help lists them all.`,
		);
}

import { dirname, join } from "node:path";
import type { Config } from "./config.ts";
import { flagOf, type Parsed, type Setting, variableOf } from "./setting.ts";
import { SETTINGS, type SettingKey } from "./settings.ts";

/** Values longer than this are not quoted in a fault. */
const MAX_QUOTED = 80;

export interface ConfigSource {
	readonly env: Readonly<Record<string, string | undefined>>;
	/** Values of flags, by the key of their setting. They win over the environment. */
	readonly flags?: Readonly<Partial<Record<SettingKey, string>>>;
}

export type ConfigResult =
	| { readonly ok: true; readonly config: Config }
	/** One line for each fault: what is wrong, where, and what it must be. */
	| { readonly ok: false; readonly faults: readonly string[] };

/** Reads and checks everything at once. Never throws. */
export function readConfig({ env, flags = {} }: ConfigSource): ConfigResult {
	const faults = unknownVariables(env);
	const read = <T>(key: SettingKey, setting: Setting<T>): T | null => {
		const flag = flags[key];
		const given = flag ?? env[variableOf(setting)];
		const text = given ?? setting.default;
		if (text === null) return null;
		const parsed: Parsed<T> = setting.parse(text);
		if (parsed.ok) return parsed.value;
		const where = flag === undefined ? variableOf(setting) : flagOf(setting);
		faults.push(`${where} ${quoted(setting, text)}; it must be ${parsed.must}.`);
		return null;
	};
	const values = Object.fromEntries(
		Object.entries(SETTINGS).map(([key, setting]) => [key, read(key as SettingKey, setting as Setting<unknown>)]),
	) as { [K in SettingKey]: ReturnType<(typeof SETTINGS)[K]["parse"]> extends Parsed<infer T> ? T | null : never };

	if (
		values.database?.engine === "postgres" &&
		values.sealKey === null &&
		!faults.some((line) => line.includes("SEAL_KEY"))
	)
		faults.push("POSTHORN_SEAL_KEY is not set; with PostgreSQL it must be given, the same for every node.");
	if (faults.length > 0) return { ok: false, faults };

	const database = values.database!;
	return {
		ok: true,
		config: {
			host: values.host!,
			port: values.port!,
			database,
			operatorKey: values.operatorKey,
			sealKey: values.sealKey,
			sealKeyFile: database.engine === "sqlite" ? join(dirname(database.path), "posthorn.sealkey") : null,
			brand: values.brand!,
			retryDelaysMs: values.retryDelays!,
			attemptTimeoutMs: values.attemptTimeout!,
			logRetentionMs: values.logRetention!,
			basketIdleMs: values.basketIdle!,
			maxEventBytes: values.maxEventBytes!,
			maxWebhooksPerProject: values.maxWebhooks!,
			maxUrlLength: values.maxUrlLength!,
			maxDescriptionLength: values.maxDescriptionLength!,
			egressAllow: values.egressAllow!,
			egressCa: values.egressCa,
			logLevel: values.logLevel!,
		},
	};
}

function quoted(setting: Setting<unknown>, text: string): string {
	if (setting.secret) return "is not valid";
	if (text === "") return "is empty";
	return text.length > MAX_QUOTED ? "is too long to be right" : `is ${JSON.stringify(text)}`;
}

function unknownVariables(env: ConfigSource["env"]): string[] {
	const known = Object.values(SETTINGS).map(variableOf);
	return Object.keys(env)
		.filter((name) => name.startsWith("POSTHORN_") && !known.includes(name))
		.map((name) => {
			const near = known.find((each) => distance(each, name) <= 3);
			return `${name} is no setting of Posthorn${near ? `; did you mean ${near}?` : ". posthorn serve --help lists them all."}`;
		});
}

/** How many letters must be added, taken away or changed to make one text of the other (Levenshtein). */
function distance(a: string, b: string): number {
	let row = Array.from({ length: b.length + 1 }, (_, i) => i);
	for (let i = 1; i <= a.length; i++) {
		const next = [i];
		for (let j = 1; j <= b.length; j++)
			next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
		row = next;
	}
	return row[b.length]!;
}

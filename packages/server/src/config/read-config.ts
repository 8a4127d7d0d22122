/** How many letters a variable's name may differ by for a suggestion. */
import { dirname, join } from "node:path";
import { type Config, flagOf, type Parsed, type Setting, shown, variableOf } from "./config.ts";
import { SETTINGS, type SettingKey } from "./settings.ts";

const MAX_SLIPS = 3;

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
	const given = (key: SettingKey): string | undefined => flags[key] ?? env[variableOf(SETTINGS[key])];
	const read = <T>(key: SettingKey, setting: Setting<T>): T | null => {
		const text = given(key) ?? setting.default;
		if (text === null) return null;
		const parsed: Parsed<T> = setting.parse(text);
		if (parsed.ok) return parsed.value;
		const where = flags[key] === undefined ? variableOf(setting) : flagOf(setting);
		faults.push(`${where} ${found(setting, text)}; it must be ${parsed.must}.`);
		return null;
	};
	const values = Object.fromEntries(
		Object.entries(SETTINGS).map(([key, setting]) => [key, read(key as SettingKey, setting as Setting<unknown>)]),
	) as { [K in SettingKey]: ReturnType<(typeof SETTINGS)[K]["parse"]> extends Parsed<infer T> ? T | null : never };

	if (values.database?.engine === "postgres" && given("sealKey") === undefined)
		faults.push("POSTHORN_SEAL_KEY is not set; with PostgreSQL it is required, and must be the same on every node.");
	if (faults.length > 0) return { ok: false, faults };

	const database = values.database!;
	return {
		ok: true,
		config: {
			host: values.host!,
			port: values.port!,
			publicUrl: values.publicUrl,
			trustProxy: values.trustProxy!,
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
			maxBatchBytes: values.maxBatchBytes!,
			maxBodyBytesInFlight: values.maxBodyBytesInFlight!,
			maxWebhooksPerProject: values.maxWebhooks!,
			maxUrlLength: values.maxUrlLength!,
			maxDescriptionLength: values.maxDescriptionLength!,
			egressAllow: values.egressAllow!,
			egressCa: values.egressCa,
			logLevel: values.logLevel!,
		},
	};
}

function found(setting: Setting<unknown>, text: string): string {
	if (text === "") return "is empty";
	return setting.secret ? "is not valid" : `is ${shown(text)}`;
}

function unknownVariables(env: ConfigSource["env"]): string[] {
	const known = Object.values(SETTINGS).map(variableOf);
	return Object.keys(env)
		.filter((name) => name.startsWith("POSTHORN_") && env[name] !== undefined && !known.includes(name))
		.map((name) => {
			const meant = nearest(name, known);
			const advice = meant ? `; did you mean ${meant}?` : ". posthorn serve --help lists them all.";
			return `${/^\w{1,80}$/.test(name) ? name : shown(name)} is not a Posthorn setting${advice}`;
		});
}

function nearest(name: string, known: readonly string[]): string | undefined {
	const [best] = known
		.filter((each) => Math.abs(each.length - name.length) <= MAX_SLIPS)
		.map((each) => ({ each, slips: distance(each, name) }))
		.sort((a, b) => a.slips - b.slips);
	return best && best.slips <= MAX_SLIPS ? best.each : undefined;
}

/** How many letters must be added, removed or changed to turn one text into the other (Levenshtein). */
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

/** All settings, checked and typed, as `readConfig` reads them from environment and flags. */
export interface Config {
	/** A host name or IP address (IPv6 without brackets). */
	readonly host: string;
	/** 0 to 65535; 0 picks a free one. */
	readonly port: number;
	/** Where users reach the dashboard: an origin without a trailing slash; null: the listening address. */
	readonly publicUrl: string | null;
	/** CIDRs of proxies whose `X-Forwarded-For` is trusted. */
	readonly trustProxy: readonly string[];
	readonly database: DatabaseConfig;
	/** The operator's API key, if set: 32 characters or more of printable ASCII. */
	readonly operatorKey: string | null;
	/** 32 bytes, if set; otherwise read from `sealKeyFile`, or created there. */
	readonly sealKey: Uint8Array | null;
	/** Where the seal key is stored if it isn't set (next to the database, mode 0600). Null if it must be set. */
	readonly sealKeyFile: string | null;
	/** The word in header names and user agent. */
	readonly brand: string;
	/** Delays before attempts 2, 3 …, milliseconds; 1 to 50 of them, each at most 30 days. Attempts = their number + 1. */
	readonly retryDelaysMs: readonly number[];
	/** Time limit for a whole attempt, milliseconds. */
	readonly attemptTimeoutMs: number;
	/** How long events and the delivery log are kept, milliseconds. */
	readonly logRetentionMs: number;
	/** How long a basket goes untouched before `basket.abandoned`, milliseconds. */
	readonly basketIdleMs: number;
	/** Maximum size of an event's `data`, bytes. */
	readonly maxEventBytes: number;
	/** The body of a request that publishes several events, bytes. */
	readonly maxBatchBytes: number;
	/** Request bodies being received or processed, bytes. */
	readonly maxBodyBytesInFlight: number;
	readonly maxWebhooksPerProject: number;
	/** Maximum length of a webhook's URL, characters. */
	readonly maxUrlLength: number;
	/** Maximum length of a webhook's description, characters. */
	readonly maxDescriptionLength: number;
	/** Where requests may go besides, or in spite of, the egress guard's own rules. */
	readonly egress: EgressConfig;
	/** PEM text of extra certificate authorities for receivers. */
	readonly egressCa: string | null;
	readonly logLevel: LogLevel;
}

export interface EgressConfig {
	/** CIDRs, each with its `/bits`. */
	readonly allow: readonly string[];
	readonly deny: readonly string[];
	/** Ranges of ports, both ends included. */
	readonly ports: readonly (readonly [number, number])[];
}

export type DatabaseConfig =
	/** The path is relative to the working directory, or absolute. */
	{ readonly engine: "sqlite"; readonly path: string } | { readonly engine: "postgres"; readonly url: string };

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/** A parsed value, or what it must be. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly must: string };

/** A setting: an environment variable, or a flag of `posthorn serve`. */
export interface Setting<T> {
	/** The variable's name without `POSTHORN_`, such as `RETRY_DELAYS`; the flag is the same in kebab case. */
	readonly name: string;
	readonly group: "Listening" | "Data" | "Delivery" | "Network" | "Limits";
	/** The value's placeholder in help. */
	readonly placeholder: string;
	/** The default, parsed like a given value. Null if there is none. */
	readonly default: string | null;
	/** The default in words, if the value doesn't explain itself. */
	readonly defaultText?: string;
	readonly meaning: string;
	/**
	 * Its value is never shown and may come from a file. As a flag it is refused, or if this is a function, values for
	 * which it returns true: other users of the machine can read flags in the list of processes.
	 */
	readonly secret?: boolean | ((text: string) => boolean);
	readonly parse: (text: string) => Parsed<T>;
}

export const variableOf = (setting: Pick<Setting<unknown>, "name">): string => `POSTHORN_${setting.name}`;
/** The variable that names a file with the value; null for settings that aren't secrets. */
export const fileVariableOf = (setting: Pick<Setting<unknown>, "name" | "secret">): string | null =>
	setting.secret ? `${variableOf(setting)}_FILE` : null;
/** Whether it has a flag: secrets have none. */
export const hasFlag = (setting: Pick<Setting<unknown>, "secret">): boolean => setting.secret !== true;
export const flagOf = (setting: Pick<Setting<unknown>, "name">): string =>
	`--${setting.name.toLowerCase().replaceAll("_", "-")}`;

export const valid = <T>(value: T): Parsed<T> => ({ ok: true, value });
export const mustBe = (must: string): Parsed<never> => ({ ok: false, must });

/** How much of a longer value is shown, characters. */
const MAX_SHOWN = 80;

/** A value as shown to users: quoted, on one line, and shortened. */
export function shown(text: string): string {
	return text.length > MAX_SHOWN
		? `${JSON.stringify(text.slice(0, MAX_SHOWN))}… (${text.length} characters)`
		: JSON.stringify(text);
}

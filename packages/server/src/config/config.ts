/** Everything that can be set, checked and typed. Made by `readConfig` from environment and flags. */
export interface Config {
	/** A host name or IP address (IPv6 without brackets). */
	readonly host: string;
	/** 0 to 65535; 0 takes any that is free. */
	readonly port: number;
	/** Where people reach the dashboard, as an origin without a slash at its end; null: where it listens. */
	readonly publicUrl: string | null;
	/** CIDRs of proxies whose `X-Forwarded-For` is believed. */
	readonly trustProxy: readonly string[];
	readonly database: DatabaseConfig;
	/** The operator's API key, 32 characters or more of printable ASCII, if it was given. */
	readonly operatorKey: string | null;
	/** 32 bytes, if given; else read from, or made in, `sealKeyFile`. */
	readonly sealKey: Uint8Array | null;
	/** Where the seal key is kept when it is not given (beside the database, mode 0600). Null where it must be given. */
	readonly sealKeyFile: string | null;
	/** The word in header names and user agent. */
	readonly brand: string;
	/** Waits before attempts 2, 3 …, milliseconds; 1 to 50 of them, each 30 days at most. Attempts = their number + 1. */
	readonly retryDelaysMs: readonly number[];
	/** The whole of an attempt, milliseconds. */
	readonly attemptTimeoutMs: number;
	/** How long events and the delivery log are kept, milliseconds. */
	readonly logRetentionMs: number;
	/** How long a basket sits untouched before `basket.abandoned`, milliseconds. */
	readonly basketIdleMs: number;
	/** The largest `data` of an event, bytes. */
	readonly maxEventBytes: number;
	/** The body of a request that publishes several events, bytes. */
	readonly maxBatchBytes: number;
	/** Request bodies that are arriving or being worked on, bytes. */
	readonly maxBodyBytesInFlight: number;
	readonly maxWebhooksPerProject: number;
	/** The longest URL of a webhook, characters. */
	readonly maxUrlLength: number;
	/** The longest description of a webhook, characters. */
	readonly maxDescriptionLength: number;
	/** CIDRs that the egress guard lets through; every one has its `/bits`. */
	readonly egressAllow: readonly string[];
	/** PEM text of extra certificate authorities for receivers. */
	readonly egressCa: string | null;
	readonly logLevel: LogLevel;
}

export type DatabaseConfig =
	/** The path is relative to the working directory, or absolute. */
	{ readonly engine: "sqlite"; readonly path: string } | { readonly engine: "postgres"; readonly url: string };

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/** What reading a value came to: the value, or what it must be. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly must: string };

/** One thing that can be set, by an environment variable or by a flag of `posthorn serve`. */
export interface Setting<T> {
	/** The variable's name without `POSTHORN_`, such as `RETRY_DELAYS`; the flag is the same in kebab case. */
	readonly name: string;
	readonly group: "Listening" | "Data" | "Delivery" | "Network" | "Limits";
	/** What stands for the value in help. */
	readonly placeholder: string;
	/** What holds when it is not set; read like a value that was. Null: there is none. */
	readonly default: string | null;
	/** What the default is, in words, where the value does not say it. */
	readonly defaultText?: string;
	readonly meaning: string;
	/** Its value is never shown. */
	readonly secret?: boolean;
	readonly parse: (text: string) => Parsed<T>;
}

export const variableOf = (setting: Pick<Setting<unknown>, "name">): string => `POSTHORN_${setting.name}`;
export const flagOf = (setting: Pick<Setting<unknown>, "name">): string =>
	`--${setting.name.toLowerCase().replaceAll("_", "-")}`;

export const valid = <T>(value: T): Parsed<T> => ({ ok: true, value });
export const mustBe = (must: string): Parsed<never> => ({ ok: false, must });

/** Of a longer value the beginning is shown, characters. */
const MAX_SHOWN = 80;

/** A value as people are shown it: quoted, in one line, and no longer than they can take in. */
export function shown(text: string): string {
	return text.length > MAX_SHOWN
		? `${JSON.stringify(text.slice(0, MAX_SHOWN))}… (${text.length} characters)`
		: JSON.stringify(text);
}

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

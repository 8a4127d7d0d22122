/** Everything that can be set, checked and typed. Made by `readConfig` from environment and flags. */
export interface Config {
	readonly host: string;
	readonly port: number;
	readonly database: DatabaseConfig;
	/** The operator's API key, if it was given; else one is made at first start and kept as a hash. */
	readonly operatorKey: string | null;
	/** 32 bytes, if given; else read from, or made in, `sealKeyFile`. */
	readonly sealKey: Uint8Array | null;
	/** Where the seal key is kept when it is not given (beside the database, mode 0600). Null where it must be given. */
	readonly sealKeyFile: string | null;
	/** The word in header names and user agent. */
	readonly brand: string;
	/** Waits before attempts 2, 3 …, milliseconds. Attempts = their number + 1. */
	readonly retryDelaysMs: readonly number[];
	/** The whole of an attempt, milliseconds. */
	readonly attemptTimeoutMs: number;
	readonly logRetentionMs: number;
	readonly basketIdleMs: number;
	/** The largest `data` of an event, bytes. */
	readonly maxEventBytes: number;
	readonly maxWebhooksPerProject: number;
	readonly maxUrlLength: number;
	readonly maxDescriptionLength: number;
	/** CIDRs that the egress guard lets through. */
	readonly egressAllow: readonly string[];
	/** PEM text of extra certificate authorities for receivers. */
	readonly egressCa: string | null;
	readonly logLevel: LogLevel;
}

export type DatabaseConfig =
	| { readonly engine: "sqlite"; readonly path: string }
	| { readonly engine: "postgres"; readonly url: string };

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

import { REQUESTS } from "../base/budgets.ts";
import type { Parsed } from "./parsers.ts";
import * as parse from "./parsers.ts";

/** A setting: an environment variable, or a flag of `posthorn serve`. */
export interface Setting<T = unknown> {
	/** The variable's name without `POSTHORN_`, such as `RETRY_DELAYS`; the flag is the same in kebab case. */
	readonly name: string;
	readonly group: "Listening" | "Data" | "Delivery" | "Network" | "Alerts" | "Limits";
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

export const variableOf = (setting: Setting): string => `POSTHORN_${setting.name}`;
/** The variable that names a file with the value; null for settings that aren't secrets. */
export const fileVariableOf = (setting: Setting): string | null =>
	setting.secret ? `${variableOf(setting)}_FILE` : null;
/** Whether it has a flag: secrets have none. */
export const hasFlag = (setting: Setting): boolean => setting.secret !== true;
export const flagOf = (setting: Setting): string => `--${setting.name.toLowerCase().replaceAll("_", "-")}`;

/** Settings that help and the documentation list under one heading. */
const group = <Values>(
	group: Setting["group"],
	rows: { readonly [K in keyof Values]: Omit<Setting<Values[K]>, "group"> },
) =>
	Object.fromEntries(
		Object.entries<Omit<Setting, "group">>(rows).map(([key, row]) => [key, { ...row, group }]),
	) as unknown as { readonly [K in keyof Values]: Setting<Values[K]> };

/** All settings. Reading the environment and flags, help and the documentation all use this table. */
export const SETTINGS = {
	...group("Listening", {
		host: {
			name: "HOST",
			placeholder: "host",
			default: "127.0.0.1",
			meaning:
				"Address that the API listens on. It speaks plain HTTP: put a TLS proxy in front of it to serve other machines.",
			parse: parse.host,
		},
		port: {
			name: "PORT",
			placeholder: "port",
			default: "8420",
			meaning: "Port that the API listens on.",
			parse: parse.whole(0, 65535),
		},
		publicUrl: {
			name: "PUBLIC_URL",
			placeholder: "url",
			default: null,
			defaultText: "the address it listens on",
			meaning:
				"Where users reach the dashboard, such as https://hooks.example.com. Links begin with it, and if it is https://, cookies are only sent over HTTPS.",
			parse: parse.origin,
		},
		trustProxy: {
			name: "TRUST_PROXY",
			placeholder: "cidrs",
			default: "",
			defaultText: "none",
			meaning:
				"Addresses of proxies whose X-Forwarded-For header is trusted, so that wrong keys count against the right client.",
			parse: parse.cidrs,
		},
	}),
	...group("Data", {
		database: {
			name: "DATABASE_URL",
			placeholder: "url",
			default: "sqlite:./data/posthorn.db",
			meaning:
				"Where all data is stored: sqlite:PATH for one machine, postgres://… for several. A URL with a password can't be a flag.",
			secret: parse.hasPassword,
			parse: parse.database,
		},
		operatorKey: {
			name: "OPERATOR_KEY",
			placeholder: "key",
			default: null,
			defaultText: "created at the first start and printed once",
			meaning:
				"API key of the person who runs the instance. If standard error isn't a terminal, the created key isn't printed, but left in `posthorn.operatorkey` next to the database; with PostgreSQL, none is created then. `posthorn operator-key --new` replaces a lost one.",
			secret: true,
			parse: parse.operatorKey,
		},
		sealKeys: {
			name: "SEAL_KEY",
			placeholder: "base64",
			default: null,
			defaultText: "created at the first start, next to the database; required with PostgreSQL",
			meaning:
				"Key that signing secrets are stored sealed (encrypted) with. Back it up, but not together with the database. While it is being replaced, there are several: the first seals, and all open.",
			secret: true,
			parse: parse.sealKeys,
		},
		logRetentionMs: {
			name: "LOG_RETENTION_DAYS",
			placeholder: "days",
			default: "30",
			meaning: "How long events and the delivery log are kept; with PostgreSQL up to a day longer.",
			parse: parse.days(1, 3650),
		},
		logLevel: {
			name: "LOG_LEVEL",
			placeholder: "level",
			default: "info",
			meaning: "How much the service writes to its own log. At info, it logs failed attempts; at debug, all of them.",
			parse: parse.logLevel,
		},
	}),
	...group("Delivery", {
		brand: {
			name: "BRAND",
			placeholder: "word",
			default: "Service",
			meaning: "The word that replaces Service in the X-Service-* headers and in the user agent, Service-Webhooks/1.0.",
			parse: parse.brand,
		},
		retryDelaysMs: {
			name: "RETRY_DELAYS",
			placeholder: "seconds",
			default: "30,60,120,300,600,1800,3600",
			meaning:
				"Delays before attempts 2, 3 …, each from the end of the previous attempt. Attempts = number of delays + 1.",
			parse: parse.retryDelays,
		},
		attemptTimeoutMs: {
			name: "ATTEMPT_TIMEOUT",
			placeholder: "seconds",
			default: "15",
			meaning:
				"How long an attempt may take in total, including name resolution and TLS. Waiting for a turn to connect doesn't count.",
			parse: parse.seconds(0.1, 300),
		},
		basketIdleMs: {
			name: "BASKET_IDLE",
			placeholder: "seconds",
			default: "86400",
			meaning: "How long a basket must go untouched before basket.abandoned is published.",
			parse: parse.seconds(1, 31_536_000),
		},
	}),
	...group("Network", {
		egressAllow: {
			name: "EGRESS_ALLOW",
			placeholder: "cidrs",
			default: "",
			defaultText: "none",
			meaning:
				"Address ranges that deliveries may go to in addition to public ones, for tests and private networks. This machine's own addresses are only allowed if named here.",
			parse: parse.cidrs,
		},
		egressDeny: {
			name: "EGRESS_DENY",
			placeholder: "cidrs",
			default: "",
			defaultText: "none",
			meaning:
				"Address ranges that deliveries never go to, even if POSTHORN_EGRESS_ALLOW contains them. Name the public addresses of your own network here: behind NAT, Posthorn can't know them. The same goes for a NAT64 prefix other than 64:ff9b::/96: name what it must not translate, such as 2001:db8:64::a9fe:0/112 for the prefix 2001:db8:64::/96.",
			parse: parse.cidrs,
		},
		egressPorts: {
			name: "EGRESS_PORTS",
			placeholder: "ports",
			default: "1-65535",
			meaning: "Ports that deliveries may go to. Port 25 (mail) is never allowed.",
			parse: parse.ports,
		},
		egressCa: {
			name: "EGRESS_CA_FILE",
			placeholder: "file",
			default: null,
			defaultText: "none",
			meaning: "PEM file with certificate authorities to trust for receivers, in addition to the public ones.",
			parse: parse.certificates,
		},
	}),
	...group("Alerts", {
		alertUrl: {
			name: "ALERT_URL",
			placeholder: "url",
			default: null,
			defaultText: "none",
			meaning:
				"Where alerts about failing webhooks and dead letters are sent (docs/operations/alerts.md). It may be in a private network. Set it on every node.",
			secret: parse.hasPassword,
			parse: parse.alertUrl,
		},
		alertSecret: {
			name: "ALERT_SECRET",
			placeholder: "secret",
			default: null,
			defaultText: "none; required with POSTHORN_ALERT_URL",
			meaning: "The secret that alerts are signed with.",
			secret: true,
			parse: parse.signingSecret,
		},
	}),
	...group("Limits", {
		maxEventBytes: {
			name: "MAX_EVENT_BYTES",
			placeholder: "bytes",
			default: String(REQUESTS.eventBytes),
			meaning: "Maximum size of an event's data.",
			parse: parse.whole(1_024, 16_777_216),
		},
		maxBatchBytes: {
			name: "MAX_BATCH_BYTES",
			placeholder: "bytes",
			default: String(REQUESTS.batchBytes),
			meaning:
				"Maximum body size of a request that publishes several events or reports several orders. A body may always be as large as that of a single event.",
			parse: parse.whole(1_024, 16_777_216),
		},
		maxBodyBytesInFlight: {
			name: "MAX_BODY_BYTES_IN_FLIGHT",
			placeholder: "bytes",
			default: String(REQUESTS.bodyBytesInFlight),
			meaning:
				"Maximum total size of the request bodies being received or processed. One project may use an eighth of it, or one body if that is larger.",
			parse: parse.whole(8_388_608, 1_073_741_824),
		},
		maxWebhooksPerProject: {
			name: "MAX_WEBHOOKS",
			placeholder: "count",
			default: "100",
			meaning: "Maximum number of webhooks in a project.",
			parse: parse.whole(1, 10_000),
		},
		maxUrlLength: {
			name: "MAX_URL_LENGTH",
			placeholder: "characters",
			default: "2048",
			meaning: "Maximum length of a webhook's URL.",
			parse: parse.whole(16, 8_192),
		},
		maxDescriptionLength: {
			name: "MAX_DESCRIPTION_LENGTH",
			placeholder: "characters",
			default: "200",
			meaning: "Maximum length of a webhook's description.",
			parse: parse.whole(0, 10_000),
		},
	}),
};

export type SettingKey = keyof typeof SETTINGS;

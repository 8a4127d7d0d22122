import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { isBrand } from "@posthorn/protocol";
import ipaddr from "ipaddr.js";
import { codeOf } from "../base/folders.ts";
import { SEAL_KEY_BYTES } from "../base/seal.ts";
import { serverUrls } from "../base/text.ts";

/** A parsed value, or what it must be. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly must: string };

type DatabaseConfig =
	/** The path is relative to the working directory, or absolute. */
	{ readonly engine: "sqlite"; readonly path: string } | { readonly engine: "postgres"; readonly url: string };

const valid = <T>(value: T): Parsed<T> => ({ ok: true, value });
const mustBe = (must: string): Parsed<never> => ({ ok: false, must });

/** How much of a longer value is shown, characters. */
const MAX_SHOWN = 80;

/** A value as shown to users: quoted, on one line, and shortened. */
export function shown(text: string): string {
	return text.length > MAX_SHOWN
		? `${JSON.stringify(text.slice(0, MAX_SHOWN))}… (${text.length} characters)`
		: JSON.stringify(text);
}

/** Whether a value is in quotes. Some programs, such as Docker, keep those of a file with variables. */
export const isQuoted = (text: string): boolean => /^(["']).*\1$/s.test(text);

const DAY_S = 24 * 60 * 60;
const MAX_RETRIES = 50;
const MAX_RETRY_DELAY_S = 30 * DAY_S;
const MIN_OPERATOR_KEY = 32;
const MAX_PORT = 65_535;
/** The egress guard refuses it whatever the setting. */
const MAIL_PORT = 25;

/** Parsers of numbers from `min` to `max`. The value is converted to the smaller `unit` and rounded. */
const numbers =
	(what: string, form: RegExp, unit: number) =>
	(min: number, max: number) =>
	(text: string): Parsed<number> => {
		const value = Number(text);
		const isValid = form.test(text) && value >= min && value <= max;
		return isValid ? valid(Math.round(value * unit)) : mustBe(`${what} from ${min} to ${max}`);
	};

export const whole = numbers("a whole number", /^\d+$/, 1);
/** The value is in milliseconds. */
export const seconds = numbers("a number of seconds", /^\d+(\.\d+)?$/, 1_000);
/** The value is in milliseconds. */
export const days = numbers("a whole number of days", /^\d+$/, DAY_S * 1_000);

/** Labels of letters, digits, hyphens and underscores; a numeric last label would be a malformed address. */
const HOST_NAME = /^(?=.{1,253}$)(?:[\w](?:[\w-]{0,61}\w)?\.)*(?!\d+$)\w(?:[\w-]{0,61}\w)?$/;

export function host(text: string): Parsed<string> {
	return isIP(text) !== 0 || HOST_NAME.test(text)
		? valid(text)
		: mustBe("a host name or IP address to listen on, such as 127.0.0.1");
}

/** An origin as browsers write it: scheme, host, and any non-default port. */
export function origin(text: string): Parsed<string> {
	const url = URL.parse(text);
	const isOrigin = url !== null && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href;
	return isOrigin
		? valid(url.origin)
		: mustBe("http:// or https:// and a host, with no path, such as https://hooks.example.com");
}

/** Where alerts go: checked like a webhook's URL, except for its address. */
export function alertUrl(text: string): Parsed<string> {
	const url = URL.parse(text);
	const isUsable = url?.protocol === "https:" && url.username === "" && url.password === "" && url.port !== "25";
	return isUsable ? valid(url.href) : mustBe("an https:// URL without a password, such as https://shop.example/alerts");
}

/** As {@link createSecret} makes them: with others, the digest that signs isn't the key that receivers use. */
export function signingSecret(text: string): Parsed<string> {
	return /^whsec_[A-Za-z0-9+/]{88}$/.test(text)
		? valid(text)
		: mustBe("whsec_ and 66 random bytes in base64 (88 characters), as posthorn alert --new-secret prints it");
}

/** SQLite gives names with these beginnings a special meaning, and slashes in a URL name a host. */
const NO_FILE = /^(?:$|:|file:|\/\/)/;

/** Shells replace it only at the beginning of a word: here it would be a folder of that name. */
const HOME = /^~[\w.-]*\//;

/** A URL whose password seems to contain a `/` or `#`: an @ in the path, or a fragment, which servers don't get. */
const CUT_PASSWORD = /^[^/?#]*:\/\/[^/?#]*(?:\/[^?#]*@|.*#)/s;

/** A `?` or `#` in the database's name, which the driver leaves encoded. */
const UNUSABLE_NAME = /^\w+:\/\/[^/?#]*\/[^?#]*%(?:3f|23)/i;

export function database(text: string): Parsed<DatabaseConfig> {
	if (text.startsWith("sqlite:")) {
		const path = text
			.slice("sqlite:".length)
			.replace(/^\/\/(?=\/)/, "")
			.replace(/^(?:\.\/+)+(?=.)/, "");
		if (HOME.test(path))
			return mustBe("sqlite: and a file's path without ~, which is only a shell's name of your home folder");
		return NO_FILE.test(path) || path.endsWith("/")
			? mustBe("sqlite: and a file's path, such as sqlite:./data/posthorn.db or sqlite:///var/lib/posthorn.db")
			: valid({ engine: "sqlite", path });
	}
	const servers = serverUrls(text);
	const isPostgres = /^postgres(ql)?:\/\//.test(text);
	// The rest of the password would be taken for a host, and shown in errors.
	if (isPostgres && (CUT_PASSWORD.test(text) || !servers.every((url) => URL.canParse(url))))
		return mustBe(
			"postgres://USER:PASSWORD@HOST/DATABASE, with special characters of the password percent-encoded, such as %2F for / and %23 for #",
		);
	if (isPostgres && UNUSABLE_NAME.test(text))
		return mustBe("the URL of a database whose name has no ? or #: the PostgreSQL driver can't connect to others");
	if (/^postgres(ql)?:\/\/[^/?#]/.test(text)) {
		const target = new URL(servers[0]!).searchParams.get("target_session_attrs");
		return target === null || TARGETS.includes(target)
			? valid({ engine: "postgres", url: text })
			: mustBe(`a server that can be written to: target_session_attrs may be ${TARGETS.join(", ")}`);
	}
	return mustBe("sqlite:PATH, such as sqlite:./data/posthorn.db, or postgres://USER:PASSWORD@HOST/DATABASE");
}

/** Whether a database URL contains a password: before the host, or as a parameter as libpq takes it. */
export function hasPassword(text: string): boolean {
	// The host follows the last @: a user's name may contain one.
	if (/^\w+:\/\/[^/?#]*:[^/?#]*@/.test(text)) return true;
	const names = [...new URLSearchParams(text.slice(text.indexOf("?") + 1)).keys()];
	return names.some((name) => /^(?:ssl)?password$/i.test(name));
}

/** Which of several servers to use, as in libpq; read-only targets are no use here. */
const TARGETS: readonly string[] = ["any", "primary", "read-write"];

export function operatorKey(text: string): Parsed<string> {
	// A program that removes the quotes would have another key.
	return text.length >= MIN_OPERATOR_KEY && /^[\x21-\x7e]+$/.test(text) && !isQuoted(text)
		? valid(text)
		: mustBe(`${MIN_OPERATOR_KEY} characters or more, printable ASCII without spaces`);
}

/** One key, or several with commas or line breaks between them. */
export function sealKeys(text: string): Parsed<readonly Uint8Array[]> {
	const keys = text
		.trim()
		.split(/\s*[,\n]\s*/)
		.map(bytesOf);
	if (keys.some(({ length }) => length !== SEAL_KEY_BYTES))
		return mustBe(
			`${SEAL_KEY_BYTES} bytes in base64, or several such keys with commas between them; make one with: openssl rand -base64 ${SEAL_KEY_BYTES}`,
		);
	return valid(keys);
}

const bytesOf = (base64: string): Buffer =>
	/^[A-Za-z0-9+/_-]+={0,2}$/.test(base64) ? Buffer.from(base64, "base64") : Buffer.alloc(0);

export function brand(text: string): Parsed<string> {
	return isBrand(text) ? valid(text) : mustBe("1 to 32 letters, digits and inner hyphens, beginning with a letter");
}

const partsOf = (text: string): string[] => text.split(",").map((part) => part.trim());

/** Comma-separated seconds; the values are in milliseconds. */
export function retryDelays(text: string): Parsed<readonly number[]> {
	const must = `1 to ${MAX_RETRIES} numbers of seconds, each from 0 to ${MAX_RETRY_DELAY_S}, separated by commas, such as 30,60,120`;
	const parse = seconds(0, MAX_RETRY_DELAY_S);
	const delays: number[] = [];
	for (const part of partsOf(text)) {
		const parsed = parse(part);
		if (!parsed.ok) return mustBe(`${must} (${shown(part)} isn't)`);
		delays.push(parsed.value);
	}
	return delays.length <= MAX_RETRIES ? valid(delays) : mustBe(`${must} (these are ${delays.length})`);
}

/** Comma-separated CIDRs; a bare address means just itself. */
export function cidrs(text: string): Parsed<readonly string[]> {
	const ranges: string[] = [];
	for (const part of partsOf(text).filter((each) => each !== "")) {
		const range = part.includes("/") ? part : `${part}/${part.includes(":") ? 128 : 32}`;
		if (!isCidr(range))
			return mustBe(`address ranges, separated by commas, such as 10.0.0.0/8,127.0.0.0/8 (${shown(part)} isn't)`);
		ranges.push(range);
	}
	return valid(ranges);
}

/** Node decides what is an address first: the library also accepts octal and short forms, and zones. */
function isCidr(range: string): boolean {
	const [address = "", bits = ""] = range.split("/");
	return isIP(address) !== 0 && !address.includes("%") && /^\d{1,3}$/.test(bits) && ipaddr.isValidCIDR(range);
}

/** Comma-separated ports and ranges of ports; the value is ranges, both ends included. */
export function ports(text: string): Parsed<readonly (readonly [number, number])[]> {
	const must = `ports and ranges of them from 1 to ${MAX_PORT}, separated by commas, such as 443,8000-8999`;
	const ranges: [number, number][] = [];
	for (const part of partsOf(text)) {
		const [, first = "", last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part) ?? [];
		const [from, to] = [Number(first), Number(last)];
		if (!(from >= 1 && from <= to && to <= MAX_PORT)) return mustBe(`${must} (${shown(part)} isn't)`);
		if (from === MAIL_PORT && to === MAIL_PORT) return mustBe(`${must} (port ${MAIL_PORT} is never allowed)`);
		ranges.push([from, to]);
	}
	return valid(ranges);
}

/** The path of a PEM file; the value is its text. */
export function certificates(path: string): Parsed<string> {
	let pem: string;
	try {
		pem = readFileSync(path, "utf8");
	} catch (error) {
		return mustBe(`a file that can be read (${codeOf(error)})`);
	}
	const found = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
	const sound = found.every((one) => {
		try {
			return new X509Certificate(one).subject !== undefined;
		} catch {
			return false; // It claims to be a certificate, but isn't one.
		}
	});
	return found.length > 0 && sound ? valid(pem) : mustBe("a PEM file with at least one certificate, all of them valid");
}

const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export function logLevel(text: string): Parsed<LogLevel> {
	const level = LOG_LEVELS.find((each) => each === text);
	return level ? valid(level) : mustBe(`one of ${LOG_LEVELS.join(", ")}`);
}

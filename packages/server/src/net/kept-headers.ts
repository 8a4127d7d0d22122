import { RECEIVERS } from "../base/budgets.ts";
import { inertText } from "../base/text.ts";

/**
 * The header fields of a response that are stored if it isn't 2xx: those that tell its owner why. No others, because any
 * of them might be a secret (`Set-Cookie`) or repeat one.
 */
export const KEPT_HEADERS: ReadonlySet<string> = new Set([
	"allow",
	"cf-mitigated",
	"cf-ray",
	"content-encoding",
	"content-type",
	"date",
	"location",
	"retry-after",
	"server",
	"via",
	"www-authenticate",
	"x-powered-by",
	"x-request-id",
]);

/** Header fields of one response, bounded by {@link RECEIVERS}. */
export class KeptHeaders {
	readonly #fields = new Map<string, string>();
	#bytesLeft: number = RECEIVERS.headerBytes;

	/** By name in lower case; null if there are none. */
	get fields(): Readonly<Record<string, string>> | null {
		return this.#fields.size === 0 ? null : Object.fromEntries(this.#fields);
	}

	/** @param value as Latin-1. The first field of a name counts, and `Via` has all. */
	add(name: string, value: string): void {
		if (!KEPT_HEADERS.has(name) || value === "") return;
		const known = this.#fields.get(name);
		if (known !== undefined && name !== "via") return;
		const text = textOf(value);
		const all = known === undefined ? text : inertText(`${known}, ${text}`, RECEIVERS.headerValueBytes);
		const bytes =
			known === undefined ? name.length + Buffer.byteLength(all) : Buffer.byteLength(all) - Buffer.byteLength(known);
		if (bytes > this.#bytesLeft) return;
		this.#bytesLeft -= bytes;
		this.#fields.set(name, all);
	}
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Header values are usually ASCII; some servers send UTF-8. */
function textOf(value: string): string {
	let text = value;
	try {
		text = UTF8.decode(Buffer.from(value, "latin1"));
	} catch {
		// It is Latin-1.
	}
	return withoutCredentials(inertText(text, RECEIVERS.headerValueBytes));
}

/** A `Location` may contain a user and password. */
const withoutCredentials = (text: string): string => text.replace(/^([\w+.-]+:)?\/\/[^/?#@]*@/, "$1//");

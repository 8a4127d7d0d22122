import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { UNAUTHENTICATED } from "../../base/budgets.ts";
import { BoundedMap } from "../../base/collections.ts";

type Credentials = Pick<IncomingHttpHeaders, "authorization" | "cookie">;

/**
 * Credentials that were valid when last used, so that their requests need not wait for those of unauthenticated clients.
 * It grants nothing: each request is authorized as before. Only hashes are kept.
 */
export class KnownCallers {
	readonly #hashes = new BoundedMap<string, true>(UNAUTHENTICATED.knownTokens);

	/** A name for the holder of these credentials; null if they aren't known. */
	find(credentials: Credentials): string | null {
		const name = nameOf(credentials);
		return name !== null && this.#hashes.has(name) ? name : null;
	}

	/** Records whether a request with these was authenticated. */
	note(credentials: Credentials, isValid: boolean): void {
		const name = nameOf(credentials);
		if (name === null) return;
		if (isValid) this.#hashes.set(name, true);
		else this.#hashes.delete(name);
	}
}

function nameOf({ authorization, cookie }: Credentials): string | null {
	const credential = authorization ?? cookie;
	return credential === undefined ? null : hash("sha256", credential, "base64");
}

import type { DetailedPeerCertificate, PeerCertificate } from "node:tls";
import { RECEIVERS } from "../base/budgets.ts";
import type { Clock } from "../base/clock.ts";

/** Maximum number of certificates examined in a chain; OpenSSL accepts no longer chains by default. */
const MAX_CHAIN = 100;

/** A TLS session that may be resumed. */
export interface TlsSession {
	readonly session: Buffer;
	/** When the first of the certificates that it was made with expires, milliseconds since the epoch. */
	readonly validTo: number;
}

/**
 * TLS sessions for resumption, one for each host and port (RFC 8446, 2.2). Resumption skips the certificate check, so a
 * session never outlives the certificates that it was made with; a session issued on resumption inherits that expiry.
 * The least recently used are dropped, and large ones aren't kept.
 */
export class TlsSessions {
	readonly #clock: Pick<Clock, "now">;
	readonly #byPlace = new Map<string, TlsSession>();

	constructor(clock: Pick<Clock, "now">) {
		this.#clock = clock;
	}

	find(place: string): TlsSession | undefined {
		const known = this.#byPlace.get(place);
		if (known === undefined || known.validTo > this.#clock.now()) return known;
		this.#byPlace.delete(place);
		return undefined;
	}

	keep(place: string, session: TlsSession): void {
		this.#byPlace.delete(place);
		if (session.session.length > RECEIVERS.sessionBytes) return;
		this.#byPlace.set(place, session);
		if (this.#byPlace.size > RECEIVERS.tlsSessions) this.drop(this.#byPlace.keys().next().value ?? place);
	}

	drop(place: string): void {
		this.#byPlace.delete(place);
	}
}

/** When the first certificate of the chain expires, milliseconds since the epoch; 0 if any has no expiry. */
export function validUntil(certificate: PeerCertificate): number {
	let validTo = Number.POSITIVE_INFINITY;
	let each: Partial<DetailedPeerCertificate> | undefined = certificate;
	for (let i = 0; i < MAX_CHAIN && each !== undefined; i++) {
		validTo = Math.min(validTo, Date.parse(each.valid_to ?? "") || 0);
		// The root is its own issuer.
		each = each.issuerCertificate === each ? undefined : each.issuerCertificate;
	}
	return validTo;
}

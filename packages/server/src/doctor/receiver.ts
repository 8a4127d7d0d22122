import { TLSSocket } from "node:tls";
import { certificateFields, dnsText, isoTimeOrNull } from "@posthorn/protocol";
import { systemClock } from "../base/clock.ts";
import type { Config } from "../config/index.ts";
import { reasonText } from "../engine/send/outcome.ts";
import { createDialer } from "../net/dial.ts";
import { createGuard, type Guard, hostOf, portOf } from "../net/egress.ts";
import { detailsOf, reasonOf, SendFailure } from "../net/errors.ts";
import { createResolver } from "../net/resolver.ts";
import { type Finding, fault, ok, warning } from "./local.ts";

const DAY_MS = 86_400_000;
/** A certificate that expires within this many days should have been renewed. */
const FEW_DAYS = 7;
/** How long a receiver may take to close its end. */
const LEAVE_MS = 1_000;

/** Connects to a receiver as a delivery would, up to the verified TLS connection. Sends nothing. */
export async function examineReceiver(url: URL, config: Config): Promise<Finding> {
	try {
		const guard = createGuard(config.egress);
		const verdict = guard.checkUrl(url);
		// Only the URL's host: a path may contain a token.
		if (!verdict.ok) return fault("Receiver", `${url.host}: ${verdict.text}`);
		const begun = performance.now();
		const socket = await connect(url, guard, config);
		const took = Math.round(performance.now() - begun);
		const daysLeft = Math.floor((Date.parse(socket.getPeerCertificate().valid_to) - Date.now()) / DAY_MS);
		const way = `${url.host}: connected to ${socket.remoteAddress} in ${took} ms (${socket.getProtocol()})`;
		await leave(socket);
		if (daysLeft < FEW_DAYS)
			return warning("Receiver", `${way}; its certificate expires in ${inDays(daysLeft)}: renew it.`);
		return ok("Receiver", `${way}; its certificate is valid for ${daysLeft} more days. Nothing was sent.`);
	} catch (error) {
		return fault("Receiver", `${url.host}: ${textOf(error, config)}`);
	}
}

const inDays = (days: number): string => (days < 1 ? "less than a day" : days === 1 ? "1 day" : `${days} days`);

async function connect(url: URL, guard: Guard, { egressCa, attemptTimeoutMs }: Config): Promise<TLSSocket> {
	const resolver = createResolver({ guard, clock: systemClock });
	const dialer = createDialer({ guard, resolver, clock: systemClock, extraCa: egressCa ?? undefined });
	const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
	const dialing = dialer.dial({
		hostname: hostOf(url),
		port: portOf(url),
		owner: "doctor",
		done: (dialed) => (dialed instanceof TLSSocket ? resolve(dialed) : reject(dialed)),
		received: () => true,
	});
	const timer = systemClock.setTimeout(() => {
		reject(new SendFailure("timeout", "no connection in time"));
		dialing.cancel();
	}, attemptTimeoutMs);
	try {
		return await promise;
	} finally {
		timer.cancel();
	}
}

/**
 * Closes the connection properly, so that the receiver logs no failed handshake. With TLS 1.3 a receiver only now
 * reports whether it accepts this client (RFC 8446, 4.4.2.4): rejects if it doesn't.
 */
function leave(socket: TLSSocket): Promise<void> {
	const { promise, resolve, reject } = Promise.withResolvers<void>();
	socket.once("error", reject);
	socket.once("close", () => resolve());
	systemClock.setTimeout(() => socket.destroy(), LEAVE_MS);
	socket.end();
	return promise;
}

function textOf(error: unknown, { attemptTimeoutMs }: Config): string {
	const reason = reasonOf(error);
	if (reason === null) return (error as Error).message;
	if (reason === "timeout")
		return `No connection within ${attemptTimeoutMs / 1_000} s. Check its network, and whether firewalls in between allow requests from here.`;
	const now = Date.now();
	const circumstances = { details: detailsOf(error), startedAt: now, endedAt: now };
	return [reasonText(reason, circumstances), ...detailTexts(error)].join(" ");
}

/** What name servers answered, and the certificate that was rejected: as in the delivery log. */
function detailTexts(error: unknown): string[] {
	const { dns, certificate } = detailsOf(error) ?? {};
	const texts = dns === undefined ? [] : [dnsText(dns)];
	if (certificate === undefined) return texts;
	const { validFrom, validTo, ...names } = certificate;
	const fields = certificateFields({
		...names,
		valid_from: isoTimeOrNull(validFrom),
		valid_to: isoTimeOrNull(validTo),
	});
	const listed = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
	return [...texts, `${listed.join("; ")}.`];
}

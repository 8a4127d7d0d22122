import { PATIENCE_MS } from "@posthorn/testkit/until";
import { afterEach, beforeEach } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { createGuard } from "../../net/egress.ts";
import { createAuthority } from "../../net/tls/credentials.fixture.ts";
import { Handshakes, type HandshakesOptions } from "../../net/tls/handshakes.ts";
import { createHttpSender, type HttpSenderOptions } from "./http-sender.ts";
import type { Answered, Sent, Unanswered } from "./outcome.ts";
import { answered, Receiver } from "./receiver.fixture.ts";

type HttpSender = ReturnType<typeof createHttpSender>;

/**
 * For each test of a file: a receiver on loopback that answers 200, and a sender that trusts it and may connect to it.
 */
export class Rig {
	readonly authority = createAuthority();
	readonly credentials = this.authority.issue({ names: ["localhost", "127.0.0.1"] });
	/** Errors passed to `onFault`. */
	faults: unknown[] = [];
	receiver!: Receiver;
	sender!: HttpSender;
	#cleanups: (() => Promise<void>)[] = [];

	constructor() {
		beforeEach(async () => {
			this.faults = [];
			this.receiver = await this.listen();
			this.sender = this.makeSender();
		});
		afterEach(async () => {
			for (const cleanup of this.#cleanups.splice(0).reverse()) await cleanup();
		});
	}

	/** Another receiver, closed after the test. */
	async listen(options: ConstructorParameters<typeof Receiver>[0] = {}): Promise<Receiver> {
		const receiver = await new Receiver({ ...this.credentials, ...options }, answered(200, "ok")).listen();
		this.#cleanups.push(() => receiver.close());
		return receiver;
	}

	/** Another sender, closed after the test. */
	makeSender(options: Partial<HttpSenderOptions> = {}): HttpSender {
		const sender = createHttpSender({
			clock: systemClock,
			random: Math.random,
			guard: createGuard({ allow: ["127.0.0.0/8"] }),
			brand: "Service",
			// On a busy machine, hundreds of handshakes take longer than an attempt usually may.
			timeoutMs: PATIENCE_MS,
			extraCa: this.authority.cert,
			handshakes: makeHandshakes(),
			onFault: (error) => this.faults.push(error),
			...options,
		});
		this.#cleanups.push(() => sender.close());
		return sender;
	}
}

/** Unless a test says otherwise, chance meters nothing, and no handshake is costly, however slow the machine is. */
export function makeHandshakes(options: Partial<HandshakesOptions> = {}): Handshakes {
	return new Handshakes({ clock: systemClock, random: () => 1, readCpuMs: () => 0, ...options });
}

/** An attempt that was not cancelled. */
export function made(outcome: Sent): Answered | Unanswered {
	if (outcome.kind === "cancelled" || outcome.kind === "deferred") throw new Error(`The attempt was ${outcome.kind}.`);
	return outcome;
}

/** The response's body, or why there was no response. */
export function text(outcome: Sent): string {
	if (outcome.kind === "cancelled") return "cancelled";
	if (outcome.kind === "deferred") return outcome.shortage;
	return outcome.kind === "answered" ? Buffer.from(outcome.body).toString("latin1") : outcome.reason;
}

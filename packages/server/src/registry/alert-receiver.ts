import { secretDigest, signingKey } from "@posthorn/protocol";
import { ALERTS } from "../base/budgets.ts";
import type { Clock } from "../base/clock.ts";
import { createHttpSender } from "../engine/send/http-sender.ts";
import { explain } from "../engine/send/outcome.ts";
import { createGuard } from "../net/egress.ts";
import type { AlertEvent } from "./alert-event.ts";

/** Where alerts go. */
export interface AlertReceiver {
	/** Sends an alert. Resolves with why it wasn't accepted, in a sentence; null if it was. */
	send(event: AlertEvent): Promise<string | null>;
}

interface AlertReceiverOptions {
	readonly url: string;
	readonly secret: string;
	/** The word in the header names and the user agent. */
	readonly brand: string;
	/** PEM with certificate authorities to trust in addition to the public ones; null if there are none. */
	readonly extraCa: string | null;
	readonly clock: Clock;
	/** Chooses among connections to close. */
	readonly random: () => number;
	/** Receives an error in this service. */
	readonly onFault: (error: unknown) => void;
}

/** Alerts are signed and sent as events are, but to any address: the operator chose it. */
export function openAlertReceiver({ url, secret, extraCa, ...options }: AlertReceiverOptions): AlertReceiver {
	const sender = createHttpSender({
		...options,
		guard: createGuard({ allow: ["0.0.0.0/0", "::/0"] }),
		timeoutMs: ALERTS.timeoutMs,
		extraCa: extraCa ?? undefined,
		idleConnections: 0,
	});
	const target = { projectId: "alerts", url, key: signingKey(secretDigest(secret)), active: true };
	return {
		async send({ id, type, body }) {
			const sent = await sender.send({ eventId: id, eventType: type, body, target, mayLeave: () => true });
			switch (sent.kind) {
				case "deferred":
					return `This machine has run out of ${sent.shortage.replace("_", " ")}.`;
				case "cancelled":
					return "It was cancelled.";
				case "unanswered":
					return explain(sent)!.text;
				case "answered":
					if (sent.status >= 200 && sent.status < 300) return null;
					return explain(sent)?.text ?? `The receiver returned ${sent.status}.`;
			}
		},
	};
}

import { RECEIVERS } from "../base/budgets.ts";
import type { Socket } from "./socket.ts";

/** How the key log's line for a key update begins. */
const KEY_UPDATED = Buffer.from("SERVER_TRAFFIC_SECRET_N ");

/**
 * Reports a receiver that floods a connection with records that carry no data. OpenSSL handles them without a read, so
 * they count towards no other limit. The only signs of them in Node are the key log, to which OpenSSL writes a line for
 * each key update, and `secureConnect`, which Node emits again for each request to renegotiate, although OpenSSL refuses
 * it. The secrets in the key log are not kept.
 *
 * @param flooded called with what the receiver does, once or more often: OpenSSL still handles all records that were read
 *   together
 */
export function watchFloods(socket: Socket, flooded: (what: string) => void): void {
	let keyUpdates = 0;
	socket.on("keylog", (line) => {
		if (!line.subarray(0, KEY_UPDATED.length).equals(KEY_UPDATED)) return;
		if (++keyUpdates > RECEIVERS.keyUpdates) flooded("the receiver updates its keys without end");
	});
	let handshakes = 0;
	socket.on("secureConnect", () => {
		if (++handshakes > 1 + RECEIVERS.renegotiations) flooded("the receiver asks for new handshakes without end");
	});
	let sessions = 0;
	socket.on("session", () => {
		if (++sessions > RECEIVERS.sessionsPerConnection) flooded("the receiver hands out TLS sessions without end");
	});
}

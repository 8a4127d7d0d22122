import { RECEIVERS } from "../../base/budgets.ts";
import { SendFailure } from "./errors.ts";
import type { Socket } from "./socket.ts";

/** How the key log's line for a key update begins. */
const KEY_UPDATED = Buffer.from("SERVER_TRAFFIC_SECRET_N ");

/**
 * Closes a connection whose receiver floods it with records that carry no data. OpenSSL handles them without a read, so
 * they count towards no other limit. The only signs of them in Node are the key log, to which OpenSSL writes a line for
 * each key update, and `secureConnect`, which Node emits again for each request to renegotiate, although OpenSSL refuses
 * it. The secrets in the key log are not kept.
 */
export function limitFloods(socket: Socket): void {
	let keyUpdates = 0;
	socket.on("keylog", (line) => {
		if (!line.subarray(0, KEY_UPDATED.length).equals(KEY_UPDATED)) return;
		if (++keyUpdates > RECEIVERS.keyUpdates)
			socket.destroy(new SendFailure("tls_failed", "the receiver updates its keys without end"));
	});
	let handshakes = 0;
	socket.on("secureConnect", () => {
		if (++handshakes > 1 + RECEIVERS.renegotiations)
			socket.destroy(new SendFailure("tls_failed", "the receiver asks for new handshakes without end"));
	});
}

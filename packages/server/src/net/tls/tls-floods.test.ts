import { constants } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { connect } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { serveTlsFlood, type TlsFlood } from "../../../../testkit/src/tls/tls-floods.ts";
import { RECEIVERS } from "../../base/budgets.ts";
import { shipment } from "../../engine/send/receiver.fixture.ts";
import { makeHandshakes, Rig, text } from "../../engine/send/rig.fixture.ts";

const rig = new Rig();
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
	for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** A receiver that responds to each request with this many records, and closes the connection. */
async function listen(kind: TlsFlood, records: number): Promise<number> {
	const connections: Socket[] = [];
	const server = createServer((raw) => {
		connections.push(raw);
		const { socket, flood } = serveTlsFlood(raw, rig.credentials, kind);
		socket.on("error", () => socket.destroy());
		socket.once("data", () => {
			flood(records);
			raw.end();
		});
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	cleanups.push(() => {
		server.close();
		for (const raw of connections) raw.destroy();
		return once(server, "close");
	});
	return (server.address() as AddressInfo).port;
}

/** How many of each a plain client is notified of, until the connection closes. */
async function heard(port: number): Promise<Record<TlsFlood, number>> {
	const counts = { "key updates": 0, "hello requests": -1 };
	const secureOptions = constants.SSL_OP_NO_RENEGOTIATION;
	const socket = connect({ host: "127.0.0.1", port, servername: "localhost", ca: rig.authority.cert, secureOptions });
	socket.on("secureConnect", () => counts["hello requests"]++);
	socket.on("keylog", (line: Buffer) => {
		if (line.toString().startsWith("SERVER_TRAFFIC_SECRET_N")) counts["key updates"]++;
	});
	socket.on("error", () => {});
	await once(socket, "secureConnect");
	socket.write("anything");
	await once(socket, "close");
	return counts;
}

const outcomeAt = async (port: number): Promise<string> =>
	text(await rig.makeSender().send(shipment(`https://localhost:${port}/`)));

// Neither caused a read, so nothing ended the connection before the attempt's deadline.
test.each<[TlsFlood, number]>([
	["key updates", RECEIVERS.keyUpdates],
	["hello requests", RECEIVERS.renegotiations],
])("a connection ends with too many %s", async (kind, most) => {
	expect(await heard(await listen(kind, most + 1))).toMatchObject({ [kind]: most + 1 });
	expect(await outcomeAt(await listen(kind, most + 1))).toBe("tls_failed");
	expect(await outcomeAt(await listen(kind, most))).toBe("connection_reset");
	expect(rig.faults).toEqual([]);
});

// OpenSSL handles all records that were read together, however soon the connection is closed.
test("a flood counts as a costly handshake", async () => {
	const handshakes = makeHandshakes();
	const sender = rig.makeSender({ handshakes });
	const port = await listen("key updates", RECEIVERS.keyUpdates + 10);
	expect(text(await sender.send(shipment(`https://localhost:${port}/`)))).toBe("tls_failed");
	expect(handshakes.costly).toBe(1);
});

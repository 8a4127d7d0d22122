// Serves receivers of the installed package over HTTP on any runtime, with its own server where it has one. Prints each
// adapter's responses as JSON.
import { once } from "node:events";
import { createServer } from "node:http";
import { createReceiver, memoryStore } from "@posthorn/webhooks";
import { fetchHandler } from "@posthorn/webhooks/fetch";
import { nodeHandler } from "@posthorn/webhooks/node";
import { sampleEvent, signEvent } from "@posthorn/webhooks/testing";

const secret = "whsec_test";
const newReceiver = () =>
	createReceiver({ secret: [secret, "whsec_old"], store: memoryStore(), on: { "*": () => {} } });

/** Starts a server of this runtime for a fetch handler. @returns its port and how to stop it */
async function serveFetch(handler) {
	if (globalThis.Bun) {
		const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: handler });
		return { port: server.port, stop: () => server.stop(true) };
	}
	if (globalThis.Deno) {
		const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, handler);
		return { port: server.addr.port, stop: () => server.shutdown() };
	}
	return null;
}

async function serveNode(handler) {
	const server = createServer(handler).listen(0, "127.0.0.1");
	await once(server, "listening");
	const stop = () => {
		server.closeAllConnections();
		server.close();
	};
	return { port: server.address().port, stop };
}

/** What a receiver responds to genuine, repeated and forged requests. */
async function answers({ port, stop }) {
	const send = async ({ body, headers }) => {
		const response = await fetch(`http://127.0.0.1:${port}/hooks`, { method: "POST", body, headers });
		await response.text();
		return response.status;
	};
	const emoji = await signEvent(sampleEvent("customer.created", { name: "Zoë 🎺\u2028\ufeff" }), secret);
	const large = await signEvent(sampleEvent("delivery.success", { text: "é".repeat(131_072) }), secret);
	const rotated = await signEvent(sampleEvent("delivery.success"), "whsec_old");
	const stale = await signEvent(sampleEvent("delivery.success"), secret, { now: Date.now() - 301_000 });
	const said = {
		genuine: await send(emoji),
		repeated: await send(emoji),
		large: await send(large),
		rotated: await send(rotated),
		altered: await send({ ...large, body: `${large.body} ` }),
		stale: await send(stale),
		unsigned: await send({ body: "{}", headers: {} }),
	};
	await stop();
	return said;
}

const results = { node: await answers(await serveNode(nodeHandler(newReceiver()))) };
const served = await serveFetch(fetchHandler(newReceiver()));
if (served !== null) results.fetch = await answers(served);
console.log(JSON.stringify(results));

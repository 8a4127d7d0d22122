/**
 * A virtual network under the service's own sender. Nothing of the sender is replaced but what it takes from the machine:
 * sockets, name servers, the hosts file and the network interfaces. Time and random numbers are handed in, so the same
 * seed gives the same bytes at the same times.
 *
 * ```ts
 * const network = new Network({ time, streams: (...names) => stream(seed, ...names), observer });
 * network.names.set("shop.example", ["93.184.216.7"]); // may change at any time: rebinding, nxdomain, servfail, silence
 * const receiver = new Receiver("shop.example");
 * network.listen(receiver, "93.184.216.7");
 * receiver.behave = (request, draw) => (draw.chance(0.1) ? later(draw.between(0, 500), answer(503)) : answer(200));
 *
 * const node = network.attach(host, clock); // one for each life of a node
 * const sender = createNodeSender(node, { clock, guard, brand, timeoutMs, shortages, onFault });
 *
 * node.shortage = { code: "EMFILE" }; // until it is null again
 * node.nameServers.state = "silent";
 * const heal = network.cut(node.name, "93.184.216.7", "held"); // or "lost"; null: any node, any address
 * node.die("process"); // or "machine"
 * ```
 *
 * - {@link Time}: `now()` and `at(ms, run)`. Every packet is an event of it. `process.run` is where packets enter the
 *   process: it delays them while the process is frozen, and drops them once it is dead.
 * - {@link Receiver.accept} says what becomes of a connection, {@link Receiver.behave} what becomes of a request. Both are
 *   asked each time, with a stream of random numbers of their own: for connections it is named after node, address and how
 *   many there were between the two; for requests after the receiver, `keyOf(request)` (the path, unless set) and how many
 *   came with the same key. So steps that are left out of a plan shift nothing else, as long as the keys are stable.
 * - Behaviours: {@link answer}, {@link redirect}, {@link hang}, {@link closes}, {@link garbage}, and what can be made of them:
 *   {@link later}, {@link dripping}, {@link cutShort}, {@link twice}. `text` says it in words.
 * - {@link SeenRequest}: a request as it was written. `receivedAt` is null unless its receiver got all of it. They are kept in
 *   `network.requests` (unless `keepRequests` is false), and handed to the {@link NetworkObserver}.
 * - `network.faults` lists invalid requests that nodes wrote: an oracle should find it empty.
 *
 * What it leaves out: bandwidth, loss of single packets, certificates beyond their names (a handshake fails with whatever
 * code {@link Acceptance} says), ports (an address listens on all of them).
 */
export {
	type AnswerOptions,
	answer,
	type Behaviour,
	bodyStart,
	closes,
	cutShort,
	dripping,
	garbage,
	hang,
	later,
	redirect,
	twice,
} from "./behaviour.ts";
export { type NameAnswer, Names, NodeNameServers } from "./names.ts";
export { Network, type NetworkOptions } from "./network.ts";
export { NodeNetwork, type NodeShortage } from "./node.ts";
export type { Cut } from "./pipe.ts";
export { ACCEPTED, type Acceptance, type KeepAlive, Receiver } from "./receiver.ts";
export { createNodeSender } from "./sender.ts";
export type { Draw, NetworkObserver, NodeClock, Process, SeenRequest, Streams, Time } from "./types.ts";

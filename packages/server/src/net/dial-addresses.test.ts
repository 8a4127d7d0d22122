import { EventEmitter } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { VirtualClock } from "../../../testkit/src/virtual-clock.ts";
import { createDialer } from "./dial.ts";
import { reasonOf } from "./errors.ts";
import type { Connect, Socket } from "./socket.ts";

const SLOW = "192.0.2.1";
const QUICK = "192.0.2.2";
const SILENT = "192.0.2.3";
const SILENT_TOO = "192.0.2.4";
const REFUSING = "192.0.2.5";
const LATE_REFUSING = "192.0.2.6";
/** Begins addresses that refuse. */
const REFUSING_NET = "203.0.113.";
/** Every address accepts here. */
const OPEN_PORT = 8443;
/** This machine has no IPv6. */
const IPV6 = "2001:db8::1";
/** When the kernel's second SYN is answered, if the first one was lost. */
const SLOW_MS = 1_050;

class FakeSocket extends EventEmitter {
	readonly address: string;
	readonly writable = true;
	readonly writableLength = 0;
	isDestroyed = false;

	constructor(address: string) {
		super();
		this.address = address;
	}

	destroy(): void {
		this.isDestroyed = true;
	}

	setNoDelay(): void {}

	accept(): void {
		if (this.isDestroyed) return;
		this.emit("connect");
		this.emit("secureConnect");
	}

	fail(code: string): void {
		if (!this.isDestroyed) this.emit("error", Object.assign(new Error(code), { code }));
	}
}

/** Dials a host with these addresses, and lets this much time pass. */
const dial = (addresses: readonly string[], ms: number) => dialing(addresses)(ms);

/** The same, several times with one dialer: after `ms`, a connection that isn't made is abandoned. */
function dialing(addresses: readonly string[]) {
	const clock = new VirtualClock();
	let sockets: FakeSocket[] = [];
	const behaviors: Record<string, (socket: FakeSocket) => void> = {
		[SLOW]: (socket) => clock.setTimeout(() => socket.accept(), SLOW_MS),
		[QUICK]: (socket) => clock.setTimeout(() => socket.accept(), 1),
		[REFUSING]: (socket) => clock.setTimeout(() => socket.fail("ECONNREFUSED"), 1),
		[LATE_REFUSING]: (socket) => clock.setTimeout(() => socket.fail("ECONNREFUSED"), SLOW_MS),
		[IPV6]: (socket) => clock.setTimeout(() => socket.fail("ENETUNREACH"), 1),
	};
	const connect: Connect = ({ host, port }) => {
		const socket = new FakeSocket(host);
		sockets.push(socket);
		behaviors[port === OPEN_PORT ? QUICK : host]?.(socket);
		if (host.startsWith(REFUSING_NET)) behaviors[REFUSING]!(socket);
		return socket as unknown as Socket;
	};
	const dialer = createDialer({
		guard: { refusal: () => null, permitsPort: () => true },
		resolver: { lookup: async () => addresses },
		clock,
		connect,
		interfaces: () => ({ eth0: [{ family: "IPv4", internal: false, address: "198.51.100.7" }] as never }),
	});
	return async (ms: number, { cancel = false, port = 443 } = {}) => {
		sockets = [];
		let outcome: string | null = null;
		const one = dialer.dial({
			hostname: "host.example",
			port,
			owner: "proj_1",
			done: (dialed) => {
				outcome = dialed instanceof Error ? reasonOf(dialed) : (dialed as unknown as FakeSocket).address;
			},
			received: () => true,
		});
		onTestFinished(() => one.cancel());
		for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
		clock.advance(ms);
		if (cancel) one.cancel();
		return { outcome: outcome as string | null, tried: sockets.map(({ address }) => address), sockets };
	};
}

test("an address that accepts late is left for the next one, if that accepts", async () => {
	expect(await dial([SLOW, QUICK], 5_000)).toMatchObject({ outcome: QUICK, tried: [SLOW, QUICK] });
});

// A host with an IPv6 address, which this machine can't connect to, had a single second to accept: a lost packet counted
// as a failed attempt.
test.each([[[SLOW, IPV6]], [[SLOW, REFUSING]], [[SLOW, SILENT]], [[SILENT, SLOW]]])(
	"an address that accepts late is used if no other does: %s",
	async (addresses) => {
		const { outcome, sockets } = await dial(addresses, 6_000);
		expect(outcome).toBe(SLOW);
		expect(sockets.filter(({ isDestroyed }) => !isDestroyed)).toHaveLength(1);
	},
);

test("several addresses that never accept are tried in turn, with twice the time in each round", async () => {
	const { outcome, tried, sockets } = await dial([SILENT, IPV6, SILENT_TOO], 1_000 + 1 + 1_000 + 2_000 + 2_000 + 4_000);
	expect(outcome).toBeNull();
	expect(tried).toEqual([SILENT, IPV6, SILENT_TOO, SILENT, SILENT_TOO, SILENT, SILENT_TOO]);
	expect(sockets.map(({ isDestroyed }) => isDestroyed)).toEqual([true, true, true, true, true, true, false]);
});

test("what an address says in its last try counts", async () => {
	expect(await dial([LATE_REFUSING, IPV6], 5_000)).toMatchObject({
		outcome: "connection_refused",
		tried: [LATE_REFUSING, IPV6, LATE_REFUSING],
	});
});

// The others were never tried, however often the delivery was.
test("after a failure, the next connection begins with the addresses that weren't tried", async () => {
	const refusing = Array.from({ length: 20 }, (_, n) => `${REFUSING_NET}${n}`);
	const again = dialing([...refusing, QUICK, SILENT]);
	expect(await again(100)).toMatchObject({ outcome: "connection_refused", tried: refusing.slice(0, 8) });
	expect(await again(100)).toMatchObject({ outcome: "connection_refused", tried: refusing.slice(8, 16) });
	expect(await again(100)).toMatchObject({ outcome: QUICK, tried: [...refusing.slice(16), QUICK] });
	// It stays with what works.
	expect(await again(100)).toMatchObject({ outcome: QUICK, tried: [QUICK] });
});

// Each connection to the other port began the search from the first address again.
test("addresses that accept another port don't count", async () => {
	const silent = Array.from({ length: 10 }, (_, n) => `198.51.100.${n}`);
	const again = dialing([...silent, QUICK]);
	const limited = { cancel: true };
	for (const from of [0, 4, 8]) {
		expect(await again(100, { port: OPEN_PORT })).toMatchObject({ outcome: silent[0], tried: [silent[0]] });
		const tried = [...silent, QUICK].slice(from, from + 4);
		expect(await again(3_500, limited)).toMatchObject({ outcome: from === 8 ? QUICK : null, tried });
	}
});

test("an attempt that runs out of time leaves the other addresses to the next one", async () => {
	const again = dialing([SILENT, SILENT_TOO, "192.0.2.7", QUICK]);
	expect(await again(1_500, { cancel: true })).toMatchObject({ outcome: null, tried: [SILENT, SILENT_TOO] });
	expect(await again(1_500)).toMatchObject({ outcome: QUICK, tried: ["192.0.2.7", QUICK] });
	// The order of name servers again: they may spread the load.
	expect(await again(1_500, { cancel: true })).toMatchObject({ outcome: null, tried: [SILENT, SILENT_TOO] });
});

test("what was tried without a connection is tried again if nothing else works", async () => {
	const again = dialing([REFUSING, `${REFUSING_NET}1`]);
	for (let n = 0; n < 3; n++) expect((await again(100)).tried).toEqual([REFUSING, `${REFUSING_NET}1`]);
});

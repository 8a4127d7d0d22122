import { Socket } from "node:net";
import type { NetworkInterfaceInfo } from "node:os";
import { afterEach, describe, expect, test, vi } from "vitest";
import { VirtualClock } from "../../../testkit/src/virtual-clock.ts";
import { systemClock } from "../base/clock.ts";
import { answered, shipment } from "../engine/send/receiver.fixture.ts";
import { Rig, text } from "../engine/send/rig.fixture.ts";
import { createDialer } from "./dial.ts";
import { createGuard } from "./egress.ts";
import { shortageOf } from "./errors.ts";
import { Shortages } from "./shortages.ts";
import { hasLocalAddressFor, type Interfaces } from "./socket.ts";

const rig = new Rig();

afterEach(() => {
	vi.restoreAllMocks();
});

const failing = (code: string): Error => Object.assign(new Error(code), { code });

/** Makes the next connections fail like sockets for which the kernel had no resources. */
function failConnecting(code: string, times = 1): void {
	const connect = vi.spyOn(Socket.prototype, "connect");
	for (let i = 0; i < times; i++)
		connect.mockImplementationOnce(function (this: Socket) {
			Object.assign(this, { connecting: true });
			process.nextTick(() => this.destroy(failing(code)));
			return this;
		});
}

const interfaces =
	(...addresses: [family: string, address: string, internal: boolean][]): Interfaces =>
	() => ({
		any: addresses.map(([family, address, internal]) => ({ family, address, internal }) as NetworkInterfaceInfo),
	});

describe("local shortages", () => {
	test.each([
		["EMFILE", "descriptors"],
		["ENFILE", "descriptors"],
		["ENOBUFS", "memory"],
		["ENOMEM", "memory"],
		["EADDRNOTAVAIL", "ports"],
	] as const)("%s doesn't count as an attempt, but as a shortage of %s", async (code, shortage) => {
		const shortages = new Shortages(systemClock);
		const sender = rig.makeSender({ shortages });
		failConnecting(code);
		expect(await sender.send(shipment(rig.receiver.url()))).toEqual({ kind: "deferred", shortage });
		expect([shortages.current, shortages.total(shortage)]).toEqual([shortage, 1]);
		expect(rig.faults).toEqual([]);
	});

	test("counts as a shortage even if it only affects opening the hosts file", async () => {
		const lookup = async (): Promise<never> => {
			throw failing("EMFILE");
		};
		const sender = rig.makeSender({ resolver: { lookup } });
		expect(text(await sender.send(shipment("https://any.example/")))).toBe("descriptors");
	});

	test("requests on a kept-alive connection continue", async () => {
		const shortages = new Shortages(systemClock);
		const sender = rig.makeSender({ shortages });
		expect(text(await sender.send(shipment(rig.receiver.url())))).toBe("ok");
		shortages.met("descriptors", true);
		expect(text(await sender.send(shipment(rig.receiver.url())))).toBe("ok");
		expect(text(await sender.send(shipment(rig.receiver.url("/", "127.0.0.1"))))).toBe("descriptors");
		expect(rig.receiver.tcpConnections).toBe(1);
	});

	test("a receiver's fault counts as an attempt, even if its other addresses met a shortage", () => {
		const refused = failing("ECONNREFUSED");
		const full = failing("EMFILE");
		expect(shortageOf(new AggregateError([full, refused]))).toBeNull();
		expect(shortageOf(new AggregateError([full, full]))).toBe("descriptors");
		expect(shortageOf(new AggregateError([full, new Error("unknown")]))).toBe("descriptors");
		for (const code of ["ENETUNREACH", "EHOSTUNREACH", "ECONNREFUSED", "EPERM", "EACCES"])
			expect(shortageOf(failing(code)), code).toBeNull();
	});
});

describe("an address of a family that this machine has no address for", () => {
	/** Dials an IPv6 address whose connection fails with this code; resolves with the dialer's error. */
	async function failure(code: string, found: Interfaces, addresses = ["2001:db8::1"]): Promise<unknown> {
		failConnecting(code, addresses.length);
		const { promise, resolve } = Promise.withResolvers<unknown>();
		const dialer = createDialer({
			guard: createGuard({ allow: [] }),
			resolver: { lookup: async () => addresses },
			clock: systemClock,
			interfaces: found,
		});
		dialer.dial({ hostname: "six.example", port: 443, owner: "p", done: resolve, received: () => true });
		return promise;
	}

	const withoutIpv6 = interfaces(["IPv4", "192.0.2.1", false], ["IPv6", "fe80::1", false], ["IPv6", "::1", true]);
	const withIpv6 = interfaces(["IPv4", "192.0.2.1", false], ["IPv6", "2001:db8::9", false]);

	test("is unreachable, even if the error with IPv6 disabled is that of exhausted ports", async () => {
		expect(await failure("EADDRNOTAVAIL", withoutIpv6)).toMatchObject({ reason: "host_unreachable" });
		expect(shortageOf(await failure("EADDRNOTAVAIL", withIpv6))).toBe("ports");
	});

	test("doesn't count if a shortage prevented trying the others", async () => {
		expect(shortageOf(await failure("EADDRNOTAVAIL", withoutIpv6, ["192.0.2.7", "2001:db8::1"]))).toBe("ports");
	});

	// Listing the addresses takes a descriptor: this ended the process.
	test("is a failure like others while the addresses can't be listed", async () => {
		const unlisted: Interfaces = () => {
			throw Object.assign(new Error("too many open files"), { code: "EMFILE" });
		};
		expect(shortageOf(await failure("EADDRNOTAVAIL", unlisted))).toBe("ports");
		expect(await failure("ENETUNREACH", unlisted)).toMatchObject({ code: "ENETUNREACH" });
	});

	test("needs a local address of its family, on loopback only for a loopback target", () => {
		expect(hasLocalAddressFor("2001:db8::1", withIpv6)).toBe(true);
		expect(hasLocalAddressFor("2001:db8::1", withoutIpv6)).toBe(false);
		expect(hasLocalAddressFor("::1", withoutIpv6)).toBe(true);
		expect(hasLocalAddressFor("::1", withIpv6)).toBe(false);
		expect(hasLocalAddressFor("192.0.2.7", withIpv6)).toBe(true);
		expect(hasLocalAddressFor("127.0.0.1", withIpv6)).toBe(false);
	});
});

describe("while a shortage lasts", () => {
	test("one send tries after each delay, and the delay doubles up to ten seconds", () => {
		const clock = new VirtualClock();
		const shortages = new Shortages(clock);
		// These started before the shortage was known.
		for (let i = 0; i < 100; i++) shortages.met("memory", true);
		const tries: number[] = [];
		for (let at = 0; at < 60; at++) {
			for (let i = 0; i < 10; i++) {
				const blocked = shortages.blocks("memory");
				shortages.met("memory", !blocked);
				if (!blocked) tries.push(at);
			}
			clock.advance(1_000);
		}
		expect(tries).toEqual([1, 3, 7, 15, 25, 35, 45, 55]);
		expect(shortages.total("memory")).toBe(700);
	});

	test("deferred sends don't prolong it: it ends once no send has tried for a while", () => {
		const clock = new VirtualClock();
		const shortages = new Shortages(clock);
		shortages.met("ports", true);
		for (let seconds = 0; seconds < 30; seconds++) {
			expect(shortages.lasts("ports")).toBe(true);
			shortages.met("ports", false);
			clock.advance(1_000);
		}
		expect(shortages.lasts("ports")).toBe(false);
	});

	test("10,000 waiters cost one timer; few are woken to try, and all once it has ended", () => {
		const clock = new VirtualClock();
		let timers = 0;
		const counted = {
			now: () => clock.now(),
			elapsed: () => clock.elapsed(),
			setTimeout(fire: () => void, ms: number) {
				timers++;
				return clock.setTimeout(fire, ms);
			},
		};
		const shortages = new Shortages(counted);
		shortages.met("descriptors", true);
		const woken = new Set<number>();
		for (let i = 0; i < 10_000; i++) shortages.wait("descriptors", () => woken.add(i));
		clock.advance(1_000);
		expect(woken.size).toBe(16);
		expect(timers).toBe(2);
		shortages.passed("descriptors");
		clock.advance(1_000);
		expect(woken.size).toBe(10_000);
		expect(clock.nextAt).toBeNull();
	});

	test("it ends if nothing has met it for half a minute", () => {
		const clock = new VirtualClock();
		const shortages = new Shortages(clock);
		shortages.met("ports", true);
		clock.advance(29_999);
		expect(shortages.current).toBe("ports");
		clock.advance(1);
		expect(shortages.current).toBeNull();
		expect(shortages.blocks("ports")).toBe(false);
	});

	test("the operator is notified of each kind at most once a minute, however often it recurs", () => {
		const clock = new VirtualClock();
		const told: string[] = [];
		let second = 0;
		const shortages = new Shortages(clock, (shortage) => told.push(`${shortage} at ${second}`));
		for (; second <= 120; second++) {
			for (let i = 0; i < 10; i++) {
				shortages.met("memory", true);
				shortages.passed("memory");
			}
			if (second === 30) shortages.met("ports", true);
			clock.advance(1_000);
		}
		expect(told).toEqual(["memory at 0", "ports at 30", "memory at 60", "memory at 120"]);
	});

	test("a refused connection shows that sockets are available again", async () => {
		const clock = new VirtualClock();
		const shortages = new Shortages(clock);
		const sender = rig.makeSender({ shortages, clock });
		shortages.met("descriptors", true);
		clock.advance(1_000);
		rig.receiver.answer = answered(200);
		failConnecting("ECONNREFUSED");
		expect(text(await sender.send(shipment(rig.receiver.url())))).toBe("connection_refused");
		expect(shortages.current).toBeNull();
	});
});

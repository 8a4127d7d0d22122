import { beforeEach, describe, expect, test } from "vitest";
import { VirtualClock } from "../../../../testkit/src/virtual-clock.ts";
import { HANDSHAKES } from "../../base/budgets.ts";
import type { SendFailure } from "../errors.ts";
import { type CostlyHandshake, type Handshake, Handshakes } from "./handshakes.ts";

const COSTLY_MS = 50;
const REST_MS = HANDSHAKES.restFactor * COSTLY_MS;
/** By default, chance meters nothing. */
let random: number;
let clock: VirtualClock;
let handshakes: Handshakes;
let costly: CostlyHandshake[];

beforeEach(() => {
	random = 1;
	costly = [];
	clock = new VirtualClock();
	handshakes = new Handshakes({
		clock,
		random: () => random,
		readCpuMs: () => clock.elapsed(),
		onCostly: (handshake) => costly.push(handshake),
	});
});

/** A handshake as the dialer sees it. */
interface Try {
	readonly handshake: Handshake;
	/** "admitted" and "stopped", in order. */
	readonly calls: string[];
}

function request(host: string, project = "p"): Try {
	const calls: string[] = [];
	const user = { admitted: () => calls.push("admitted"), stopped: () => calls.push("stopped") };
	return { handshake: handshakes.request(project, host, user), calls };
}

/** Makes it take this much CPU time, and succeed if it may. */
function run({ handshake }: Try, cpuMs: number, bytes = 4_000): SendFailure | null {
	const failure = handshake.process(bytes, () => clock.advance(cpuMs));
	if (failure !== null) handshake.failed();
	return failure ?? handshake.succeeded();
}

function prove(host: string, project = "p"): void {
	expect(run(request(host, project), 1)).toBeNull();
}

describe("metering", () => {
	test("meters the handshakes with a host until one has been cheap", () => {
		const first = [request("a"), request("a")];
		expect(first.map(({ handshake }) => handshake.isMetered)).toEqual([true, true]);
		run(first[0]!, 1);
		expect(request("a").handshake.isMetered).toBe(false);
		expect(request("b").handshake.isMetered).toBe(true);
	});

	test("meters a random part of the others", () => {
		prove("a");
		random = HANDSHAKES.meteredShare - 0.001;
		expect(request("a").handshake.isMetered).toBe(true);
		random = HANDSHAKES.meteredShare;
		expect(request("a").handshake.isMetered).toBe(false);
	});

	test("runs only a few of a project's handshakes unmetered at a time", () => {
		prove("a");
		const tries = Array.from({ length: HANDSHAKES.unmetered + 1 }, () => request("a"));
		expect(tries.filter(({ handshake }) => !handshake.isMetered)).toHaveLength(HANDSHAKES.unmetered);
		expect(request("a", "other").handshake.isMetered).toBe(false);
		tries[0]!.handshake.cancel();
		expect(request("a").handshake.isMetered).toBe(false);
	});

	// A chain that is costly to check is usually not trusted.
	test("meters again after a handshake failed", () => {
		prove("a");
		request("a").handshake.failed();
		expect(request("a").handshake.isMetered).toBe(true);
	});

	test("a handshake that never took place proves nothing", () => {
		request("a").handshake.cancel();
		expect(request("a").handshake.isMetered).toBe(true);
	});
});

describe("a costly handshake", () => {
	test("doesn't fail an attempt if it is the host's first, but does if it is the second in a row", () => {
		expect(run(request("a"), COSTLY_MS)).toBeNull();
		clock.advance(REST_MS);
		expect(run(request("a"), COSTLY_MS)).toMatchObject({ reason: "tls_costly" });
		prove("a", "other");
		random = 0;
		expect(run(request("a", "other"), COSTLY_MS)).toBeNull();
		expect(handshakes.costly).toBe(3);
		expect(costly[1]).toEqual({ projectId: "p", host: "a", cpuMs: COSTLY_MS, bytes: 4_000 });
	});

	test("fails the attempt if it takes too many bytes, before they are processed", () => {
		const { handshake } = request("a");
		expect(handshake.process(HANDSHAKES.bytes, () => undefined)).toBeNull();
		expect(
			handshake.process(1, () => {
				throw new Error("These bytes would be expensive.");
			}),
		).toMatchObject({ reason: "tls_costly" });
		handshake.failed();
		const next = request("a");
		clock.advance(HANDSHAKES.restFactor * HANDSHAKES.longChainMs - 1);
		expect(next.calls).toEqual([]);
		clock.advance(1);
		expect(next.calls).toEqual(["admitted"]);
	});

	test("is charged once, whatever the number of chunks", () => {
		const { handshake } = request("a");
		for (let n = 0; n < 5; n++) handshake.process(100, () => clock.advance(COSTLY_MS / 5));
		handshake.succeeded();
		expect(handshakes.costly).toBe(1);
		const next = request("b");
		clock.advance(REST_MS - COSTLY_MS);
		expect(next.calls).toEqual([]);
		clock.advance(COSTLY_MS);
		expect(next.calls).toEqual(["admitted"]);
	});

	test("may also be one whose receiver floods the connection later", () => {
		const a = request("a");
		run(a, 1);
		a.handshake.flooded();
		expect(handshakes.costly).toBe(1);
		const next = request("b");
		clock.advance(HANDSHAKES.restFactor * HANDSHAKES.floodMs - 1);
		expect(next.calls).toEqual([]);
		clock.advance(1);
		expect(next.calls).toEqual(["admitted"]);
	});

	test("counts elapsed time if that is less, because the system counts CPU time in coarse steps", () => {
		let cpuMs = 0;
		handshakes = new Handshakes({ clock, random: () => 1, readCpuMs: () => cpuMs });
		expect(request("a").handshake.process(1, () => (cpuMs += 2 * HANDSHAKES.cpuMs))).toBeNull();
		expect(handshakes.costly).toBe(0);
	});

	test("counts CPU time if that is less, because other processes may have run", () => {
		handshakes = new Handshakes({ clock, random: () => 1, readCpuMs: () => 0 });
		expect(run(request("a"), COSTLY_MS)).toBeNull();
		expect(handshakes.costly).toBe(0);
	});
});

describe("after a costly handshake", () => {
	test("new hosts of the project wait, then take turns", () => {
		run(request("a"), COSTLY_MS);
		const [b, c, other] = [request("b"), request("c"), request("d", "other")];
		expect([b.calls, c.calls, other.calls]).toEqual([[], [], ["admitted"]]);
		expect(b.handshake.isWaiting).toBe(true);
		clock.advance(REST_MS);
		expect([b.calls, c.calls]).toEqual([["admitted"], []]);
		run(b, 1);
		expect(c.calls).toEqual(["admitted"]);
	});

	test("hosts that have proven cheap don't wait, but are metered", () => {
		prove("good");
		run(request("a"), COSTLY_MS);
		const good = request("good");
		expect([good.calls, good.handshake.isMetered]).toEqual([["admitted"], true]);
		clock.advance(HANDSHAKES.meteredFactor * COSTLY_MS);
		expect(request("good").handshake.isMetered).toBe(false);
	});

	test("the project's other handshakes start again", () => {
		for (const host of ["good", "better"]) prove(host);
		const [a, b, good] = [request("a"), request("b"), request("good")];
		random = 0;
		const better = request("better");
		expect([good, better].map(({ handshake }) => handshake.isMetered)).toEqual([false, true]);
		run(a, COSTLY_MS);
		expect(b.calls).toEqual(["admitted", "stopped"]);
		expect([good.calls, good.handshake.isMetered]).toEqual([["admitted", "stopped", "admitted"], true]);
		expect(better.calls).toEqual(["admitted"]);
	});

	// A receiver could first prove a thousand hosts, and only then present its costly chain on each.
	test("hosts that have proven cheap wait, too, once the project has used up a second", () => {
		const allowed = HANDSHAKES.provenRestMs / REST_MS;
		for (let n = 0; n <= 2 * allowed; n++) prove(`${n}`);
		random = 0;
		const tries = Array.from({ length: 2 * allowed }, (_, n) => request(`${n}`));
		for (const each of tries) if (!each.handshake.isWaiting) run(each, COSTLY_MS);
		expect(handshakes.costly).toBeGreaterThanOrEqual(allowed);
		expect(handshakes.costly).toBeLessThanOrEqual(allowed + 1);
		const good = request(`${2 * allowed}`);
		expect(good.calls).toEqual([]);
		clock.advance(REST_MS);
		expect(good.calls).toEqual(["admitted"]);
	});

	// Its request set the timer again: for no time left, so not at all. The others then waited until their deadlines.
	test("a handshake requested just when the rest ends doesn't hold up those that wait", () => {
		run(request("a"), COSTLY_MS);
		let late: Try | undefined;
		clock.setTimeout(() => {
			late = request("c");
		}, REST_MS);
		const b = request("b");
		clock.advance(REST_MS);
		expect([b.calls, late?.calls]).toEqual([["admitted"], []]);
		run(b, 1);
		expect(late?.calls).toEqual(["admitted"]);
	});

	test("handshakes that are cancelled while they wait are forgotten", () => {
		run(request("a"), COSTLY_MS);
		const [b, c] = [request("b"), request("c")];
		b.handshake.cancel();
		clock.advance(REST_MS);
		expect([b.calls, c.calls]).toEqual([[], ["admitted"]]);
	});

	test("the time to pay has an end", () => {
		prove("good");
		for (let n = 0; n < 100; n++) {
			run(request("a"), 1_000);
			clock.advance(HANDSHAKES.restFactor * 1_000);
		}
		clock.advance(HANDSHAKES.longestMs);
		expect(request("good").handshake.isMetered).toBe(false);
	});
});

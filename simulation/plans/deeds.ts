/** What people do, and what goes wrong. */
import { EVENT_TYPES } from "@posthorn/protocol";
import { type Deed, HOUR, MINUTE, type Mood, type Shape } from "../plan.ts";
import type { Random } from "../random.ts";

export const ALL_TYPES = EVENT_TYPES.map(({ type }) => type);

const GOOD: Mood = [[1, "ok"]];
export const MOODS: readonly Mood[] = [
	GOOD,
	[
		[1, "ok"],
		[2, "last"],
	],
	[
		[8, "ok"],
		[1, "error"],
		[1, "slow"],
	],
	[
		[4, "ok"],
		[1, "close"],
		[1, "reset"],
		[1, "hang"],
		[1, "garbage"],
		[1, "interim"],
	],
	[
		[3, "ok"],
		[1, "large"],
		[1, "drip"],
		[1, "cut"],
		[1, "redirect"],
	],
	[[1, "error"]],
	[[1, "hang"]],
];

const METHODS = [
	"settle",
	"appendEvents",
	"acquireLeases",
	"renewLeases",
	"releaseLease",
	"loadLanes",
	"readLog",
	"readRetries",
	"readEvents",
	"nextAlarm",
	"updateWebhook",
	"rotateSecret",
	"deleteWebhook",
	"abandonBaskets",
	"readMarks",
	"acknowledge",
	"isInForce",
];

const LEASE_METHODS = ["acquireLeases", "renewLeases", "releaseLease", "settle", "loadLanes"];

export function someTypes(random: Random): string[] {
	if (random.chance(0.4)) return ALL_TYPES;
	const some = ALL_TYPES.filter(() => random.chance(0.4));
	return some.length > 0 ? some : [random.pick(ALL_TYPES)];
}

export function work(shape: Shape, random: Random): Deed {
	const project = random.between(0, shape.projects - 1);
	const kind = random.float();
	if (kind < 0.7) return publish(shape, random, project);
	if (kind < 0.8) {
		const basket = random.chance(0.5) ? random.between(0, 9) : null;
		return { do: "orders", project, count: random.between(1, 4), basket };
	}
	if (kind < 0.85) return { do: "refund", project, part: random.pick([0.25, 0.5, 1]) };
	if (kind < 0.95) return { do: "basket", project, basket: random.between(0, 9), isEmpty: random.chance(0.1) };
	return { do: "subscription", project, subscription: random.between(0, 4), ends: random.chance(0.4) };
}

export function publish({ webhooksPerProject }: Shape, random: Random, project: number): Deed {
	const count = webhooksPerProject > 100 || random.chance(0.7) ? 1 : random.skewed(2, 40);
	const types = Array.from({ length: count }, () => random.pick(ALL_TYPES));
	return { do: "publish", project, types, bytes: random.chance(0.05) ? random.skewed(1_000, 60_000) : 0 };
}

export function ownersDeed(shape: Shape, random: Random): Deed {
	const of = {
		project: random.between(0, shape.projects - 1),
		webhook: random.between(0, shape.webhooksPerProject - 1),
	};
	const { project } = of;
	const kind = random.float();
	if (kind < 0.12) return { do: "rotate", ...of };
	if (kind < 0.24) return { do: "pause", ...of };
	if (kind < 0.44) return { do: "resume", from: random.chance(0.7) ? "backlog" : "now", ...of };
	if (kind < 0.54) return { do: "types", types: someTypes(random), ...of };
	if (kind < 0.6) return { do: "width", maxInFlight: random.pick([1, 1, 2, 5, 20]), ...of };
	if (kind < 0.66) return { do: "url", ...of };
	if (kind < 0.72) return { do: "test", ...of };
	if (kind < 0.78) return { do: "replay one", ...of };
	if (kind < 0.84) return random.chance(0.7) ? { do: "replay failed", ...of } : { do: "replay project", project };
	if (kind < 0.9) return { do: "mood", mood: random.pick(MOODS), ...of };
	if (kind < 0.92) return { do: "app", project, installed: random.chance(0.6) };
	if (kind < 0.96) return { do: "delete", ...of };
	return {
		...{ do: "webhook", project, webhook: of.webhook, types: someTypes(random), mood: random.pick(MOODS) },
		maxInFlight: random.pick([1, 1, 3]),
	};
}

/** What makes projects change nodes, in time and too late. */
export function faultOfLeases(shape: Shape, random: Random): Deed {
	const node = random.between(0, shape.nodes - 1);
	const kind = random.float();
	if (kind < 0.1) return { do: "crash", node, ms: random.skewed(100, 20_000) };
	if (kind < 0.3) return { do: "restart", node, ms: random.skewed(100, 10_000) };
	if (kind < 0.4) return { do: "freeze", node, ms: random.skewed(2_000, 30_000) };
	if (kind < 0.85)
		return {
			...{ do: "storage", node, fault: random.pick(["fails before", "fails after", "stalls", "stalls", "slow"]) },
			...{ ms: random.between(2_000, 25_000), probability: 1, method: random.pick(LEASE_METHODS) },
		};
	if (shape.nodes === 1) return { do: "restart", node, ms: random.skewed(100, 10_000) };
	return { do: "failover", lostMs: random.skewed(10, 10_000) };
}

export function fault(shape: Shape, random: Random): Deed {
	const node = random.between(0, shape.nodes - 1);
	const isShared = shape.nodes > 1;
	const briefly = random.skewed(200, 40_000);
	const of = {
		project: random.between(0, shape.projects - 1),
		webhook: random.between(0, shape.webhooksPerProject - 1),
	};
	const kind = random.float();
	if (kind < 0.12) return { do: "crash", node, ms: random.skewed(100, 60_000) };
	if (kind < 0.2) return { do: "restart", node, ms: random.skewed(100, 10_000) };
	if (kind < 0.3) return { do: "freeze", node, ms: random.skewed(500, 60_000) };
	if (kind < 0.35) return { do: "sleep", node, ms: random.skewed(1_000, isShared ? 120_000 : 10 * HOUR) };
	if (kind < 0.37)
		return { do: "drift", node, rate: 1 + random.between(-500, 500) / 1e6, ms: random.skewed(MINUTE, 2 * HOUR) };
	if (kind < 0.4) return { do: "set clock", node, ms: random.pick([-5_000, -1_000, -200, 200, 1_000, 5_000]) };
	if (kind < 0.66)
		return {
			...{ do: "storage", node: random.chance(0.6) ? node : null, ms: briefly },
			fault: random.pick(["fails before", "fails after", "stalls", "slow"]),
			probability: random.pick([0.05, 0.3, 1]),
			method: random.chance(0.5) ? null : random.pick(METHODS),
		};
	if (kind < 0.72) return { do: "lock", project: of.project, ms: random.skewed(50, 30_000) };
	if (kind < 0.75 && isShared) return { do: "failover", lostMs: random.skewed(10, 20_000) };
	if (kind < 0.82)
		return {
			do: "name",
			answer: random.pick(["private", "mixed", "nxdomain", "servfail", "silence"]),
			ms: briefly,
			...of,
		};
	if (kind < 0.9) return { do: "cut", node, ms: briefly, how: random.pick(["held", "lost"]) };
	if (kind < 0.95) return { do: "name servers", node, ms: briefly, state: random.pick(["silent", "refusing"]) };
	return { do: "shortage", node, ms: briefly, code: random.pick(["EMFILE", "ENOBUFS", "EADDRNOTAVAIL"]) };
}

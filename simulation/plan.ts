/**
 * From a seed to a plan: how the world is, and an explicit list of all that people do and that goes wrong. Each step can be
 * left out without changing what the others do, which is how a failing plan is shrunk.
 */
import { EVENT_TYPES } from "@posthorn/protocol";
import { type Random, stream } from "./random.ts";
import type { StorageFault } from "./storage/hostile.ts";

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export interface Plan {
	readonly seed: number;
	readonly shape: Shape;
	/** In the order of their times. */
	readonly steps: readonly Step[];
}

/** How a world is, all the time. */
export interface Shape {
	readonly name: string;
	/** Nodes that share the database; with one, it is a database for one node. */
	readonly nodes: number;
	readonly projects: number;
	readonly webhooksPerProject: number;
	/** How long things happen, milliseconds. Then all faults end, and attempts in flight may finish. */
	readonly durationMs: number;
	readonly retryDelaysMs: readonly number[];
	readonly attemptTimeoutMs: number;
	readonly leaseTermMs: number;
	readonly retentionMs: number;
	readonly basketIdleMs: number;
	/** Projects that a node works at once; null: as many as it may. */
	readonly activeProjects: number | null;
	readonly sendsInFlight: number | null;
	readonly databaseLatencyMs: number;
	readonly networkLatencyMs: number;
}

/** What a receiver does with a request, and how likely it is. */
export type Answer =
	| "ok"
	| "error"
	| "slow"
	| "hang"
	| "drip"
	| "close"
	| "reset"
	| "garbage"
	| "large"
	| "redirect"
	| "interim"
	| "cut"
	/** Accepts, and closes the connection. */
	| "last";
export type Mood = readonly (readonly [weight: number, Answer])[];

interface OfWebhook {
	readonly project: number;
	readonly webhook: number;
}

export type Deed =
	| { readonly do: "project"; readonly project: number }
	| ({
			readonly do: "webhook";
			readonly types: readonly string[];
			readonly maxInFlight: number;
			readonly mood: Mood;
	  } & OfWebhook)
	| { readonly do: "publish"; readonly project: number; readonly types: readonly string[]; readonly bytes: number }
	| { readonly do: "orders"; readonly project: number; readonly count: number; readonly basket: number | null }
	| { readonly do: "refund"; readonly project: number; readonly part: number }
	| { readonly do: "basket"; readonly project: number; readonly basket: number; readonly isEmpty: boolean }
	| { readonly do: "subscription"; readonly project: number; readonly subscription: number; readonly ends: boolean }
	| ({ readonly do: "rotate" | "pause" | "delete" | "url" } & OfWebhook)
	| ({ readonly do: "resume"; readonly from: "backlog" | "now" } & OfWebhook)
	| ({ readonly do: "types"; readonly types: readonly string[] } & OfWebhook)
	| ({ readonly do: "width"; readonly maxInFlight: number } & OfWebhook)
	| ({ readonly do: "test" | "replay one" | "replay failed" | "retry one" | "retry all" } & OfWebhook)
	| { readonly do: "replay project"; readonly project: number }
	| { readonly do: "read"; readonly project: number; readonly everyMs: number }
	| { readonly do: "app"; readonly project: number; readonly installed: boolean }
	| ({ readonly do: "mood"; readonly mood: Mood } & OfWebhook)
	| ({
			readonly do: "name";
			readonly answer: "private" | "mixed" | "nxdomain" | "servfail" | "silence";
			readonly ms: number;
	  } & OfWebhook)
	| { readonly do: "crash" | "restart"; readonly node: number; readonly ms: number }
	| { readonly do: "freeze" | "sleep"; readonly node: number; readonly ms: number }
	| { readonly do: "drift"; readonly node: number; readonly rate: number; readonly ms: number }
	| { readonly do: "set clock"; readonly node: number; readonly ms: number }
	| {
			readonly do: "storage";
			/** Null: of all nodes. */
			readonly node: number | null;
			readonly fault: StorageFault;
			readonly ms: number;
			readonly probability: number;
			readonly method: string | null;
	  }
	| { readonly do: "lock"; readonly project: number; readonly ms: number }
	| { readonly do: "failover"; readonly lostMs: number }
	| { readonly do: "cut"; readonly node: number; readonly ms: number; readonly how: "held" | "lost" }
	| { readonly do: "name servers"; readonly node: number; readonly ms: number; readonly state: "silent" | "refusing" }
	| { readonly do: "shortage"; readonly node: number; readonly ms: number; readonly code: string };

/** `id` names its randomness: it stays the same when others are left out. */
export type Step = { readonly id: number; readonly at: number } & Deed;

const ALL_TYPES = EVENT_TYPES.map(({ type }) => type);
const REAL_DELAYS = [30, 60, 120, 300, 600, 1_800, 3_600].map((s) => s * 1_000);
const SHORT_DELAYS = [1, 2, 4, 8, 15, 30, 60].map((s) => s * 1_000);

const GOOD: Mood = [[1, "ok"]];
const MOODS: readonly Mood[] = [
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

/** Whether one node owns the database or several share it. */
export const NODES = ["one", "many"] as const;
export type Nodes = (typeof NODES)[number];

/** @param nodes the style's default if omitted */
export function makePlan(seed: number, style?: string, nodes?: Nodes): Plan {
	const random = stream(seed, "plan");
	const shape = withNodes(makeShape(random, style), nodes);
	const steps: Step[] = [];
	const add = (at: number, deed: Deed): void => {
		steps.push({ id: steps.length, at: Math.round(at), ...deed });
	};
	addOwners(shape, stream(seed, "plan", "owners"), add);
	if (shape.name === "scarce" || shape.name === "recovery") addRecovery(shape, stream(seed, "plan", "recovery"), add);
	else {
		addEpisodes(shape, seed, add);
		addCoincidences(shape, stream(seed, "plan", "coincidences"), add);
	}
	addRetries(shape, stream(seed, "plan", "retries"), add);
	addReaders(shape, stream(seed, "plan", "readers"), add);
	return { seed, shape, steps: steps.sort((a, b) => a.at - b.at || a.id - b.id) };
}

type Add = (at: number, deed: Deed) => void;

// ── shapes ──

/** By how often they are drawn. */
const DRAWN = ["long", "long", "long", "shop", "shared", "churn", "crowd", "fan", "scarce", "recovery"] as const;
export const STYLES = [...new Set(DRAWN)];

function withNodes(shape: Shape, nodes: Nodes | undefined): Shape {
	if (nodes === "one") return { ...shape, nodes: 1 };
	return nodes === "many" ? { ...shape, nodes: Math.max(2, shape.nodes) } : shape;
}

function makeShape(random: Random, style?: string): Shape {
	const name = style ?? random.pick(DRAWN);
	const isShort = random.chance(0.5);
	const common = {
		retryDelaysMs: isShort ? SHORT_DELAYS : REAL_DELAYS,
		attemptTimeoutMs: isShort && random.chance(0.5) ? 5_000 : 15_000,
		leaseTermMs: 10_000,
		retentionMs: 30 * DAY,
		basketIdleMs: random.pick([10 * MINUTE, DAY]),
		activeProjects: null,
		sendsInFlight: random.chance(0.2) ? 16 : null,
		databaseLatencyMs: random.pick([1, 3, 10, 40]),
		networkLatencyMs: random.pick([1, 10, 60, 300]),
	};
	switch (name) {
		case "long":
			// Days go by: absences, and the end of retention.
			return {
				...{ ...common, name, nodes: 1, projects: random.between(1, 3), webhooksPerProject: random.between(1, 4) },
				retentionMs: random.pick([2 * HOUR, DAY, 30 * DAY]),
				durationMs: random.skewed(12, 50 * 24) * HOUR,
			};
		case "shop":
			return {
				...{ ...common, name, nodes: 1, projects: random.between(1, 5), webhooksPerProject: random.between(1, 6) },
				durationMs: random.between(1, 6) * HOUR,
			};
		case "shared":
			return {
				...{ ...common, name, nodes: random.between(2, 4), projects: random.between(2, 8) },
				...{ webhooksPerProject: random.between(1, 4), durationMs: random.between(20, 90) * MINUTE },
			};
		case "churn":
			// Projects change nodes all the time, and much of what is said about leases is lost or late.
			return {
				...{ ...common, name, nodes: random.between(2, 3), projects: random.between(2, 5) },
				...{ webhooksPerProject: random.between(1, 3), retryDelaysMs: SHORT_DELAYS },
				durationMs: random.between(3, 8) * MINUTE,
			};
		case "crowd": {
			const projects = random.between(300, 2_000);
			return {
				...{ ...common, name, nodes: random.between(1, 3), projects, webhooksPerProject: 1 },
				durationMs: random.between(5, 15) * MINUTE,
				activeProjects: random.chance(0.6) ? Math.ceil(projects / random.between(4, 20)) : null,
			};
		}
		case "scarce":
			// Receivers that come back to a thousand retries, and few slots to send with.
			return {
				...{ ...common, name, nodes: 1, projects: random.between(1, 2), webhooksPerProject: random.between(1, 3) },
				...{ retryDelaysMs: REAL_DELAYS, attemptTimeoutMs: 5_000, sendsInFlight: 8, durationMs: HOUR / 2 },
			};
		case "recovery":
			// The same with slots for all: only the limits of each webhook count.
			return {
				...{ ...common, name, nodes: 1, projects: random.between(1, 2), webhooksPerProject: random.between(1, 3) },
				...{ retryDelaysMs: random.pick([REAL_DELAYS, SHORT_DELAYS]), attemptTimeoutMs: 5_000 },
				...{ sendsInFlight: null, durationMs: HOUR / 2 },
			};
		case "fan":
			return {
				...{
					...common,
					name,
					nodes: random.between(1, 2),
					projects: 1,
					webhooksPerProject: random.between(300, 2_000),
				},
				durationMs: random.between(5, 15) * MINUTE,
			};
		default:
			throw new Error(`There is no style of world called ${name}: ${STYLES.join(", ")}.`);
	}
}

// ── the initial state ──

function addOwners({ projects, webhooksPerProject }: Shape, random: Random, add: Add): void {
	const spreadMs = Math.min(30_000, 20 * projects * webhooksPerProject);
	for (let project = 0; project < projects; project++) {
		const at = random.between(0, spreadMs);
		add(at, { do: "project", project });
		for (let webhook = 0; webhook < webhooksPerProject; webhook++)
			add(at + random.between(0, 2_000), {
				...{ do: "webhook", project, webhook, types: someTypes(random), mood: random.pick(MOODS) },
				maxInFlight: random.chance(0.6) ? 1 : random.pick([2, 5, 20]),
			});
	}
}

function someTypes(random: Random): string[] {
	if (random.chance(0.4)) return ALL_TYPES;
	const some = ALL_TYPES.filter(() => random.chance(0.4));
	return some.length > 0 ? some : [random.pick(ALL_TYPES)];
}

// ── what happens ──

/** Things happen in episodes: all the time in a short world, and now and then in one that lasts for weeks. */
function addEpisodes(shape: Shape, seed: number, add: Add): void {
	const random = stream(seed, "plan", "episodes");
	const isLong = shape.durationMs > 8 * HOUR;
	const isLarge = shape.projects * shape.webhooksPerProject > 100;
	const episodes = isLong ? random.between(3, 12) : 1;
	const begin = 40_000;
	for (let n = 0; n < episodes; n++) {
		const lengthMs = isLong ? random.between(3, 40) * MINUTE : shape.durationMs - begin;
		const startMs = isLong && n > 0 ? random.between(begin, shape.durationMs - lengthMs) : begin;
		const one = stream(seed, "plan", "episode", n);
		const at = (): number => startMs + one.float() * lengthMs;
		const isFan = shape.webhooksPerProject > 100;
		const works = isFan ? one.between(3, 8) : isLarge ? one.between(100, 400) : one.between(20, 120);
		for (let i = 0; i < works; i++) {
			const when = at();
			const deed = work(shape, one);
			add(when, deed);
			// Often in a row: the next one arrives while the first is still being started.
			if (deed.do === "publish" && !isFan && one.chance(0.3))
				add(when + one.skewed(1, 300), publish(shape, one, deed.project));
		}
		const deeds = one.between(2, isLarge ? 30 : 25);
		for (let i = 0; i < deeds; i++) {
			const when = at();
			const deed = ownersDeed(shape, one);
			add(when, deed);
			if (deed.do === "pause" && one.chance(0.8))
				add(when + one.skewed(500, 10 * MINUTE), { ...deed, do: "resume", from: one.chance(0.7) ? "backlog" : "now" });
			// Mostly while something is on its way to it.
			if ("project" in deed && !isFan && one.chance(0.7)) {
				const types = Array.from({ length: one.between(1, 8) }, () => one.pick(ALL_TYPES));
				add(when - one.skewed(1, 400), { do: "publish", project: deed.project, types, bytes: 0 });
			}
		}
		// A quiet world shows best whether anything has to wait.
		const isChurn = shape.name === "churn";
		const faults = isChurn ? random.between(6, 16) : one.chance(0.2) ? 0 : random.between(1, 12);
		for (let i = 0; i < faults; i++) add(at(), isChurn ? faultOfLeases(shape, one) : fault(shape, one));
	}
}

/** Two things at the same time, which the other steps rarely lead to. */
function addCoincidences(shape: Shape, random: Random, add: Add): void {
	// A world of a few minutes has no time to recover from the others.
	const others = shape.name === "churn" ? [] : [addLostAppends, addLockedBurst];
	for (const addOne of shape.nodes > 1 ? [...others, addLateLeases] : others)
		if (random.chance(0.4)) addOne(shape, random, add);
}

/** Owners don't wait for the next attempt, mostly of receivers that fail. */
function addRetries(shape: Shape, random: Random, add: Add): void {
	if (random.chance(0.4)) return;
	for (let i = random.between(1, 6); i > 0; i--) {
		const project = random.between(0, shape.projects - 1);
		const webhook = random.between(0, Math.min(shape.webhooksPerProject, 10) - 1);
		const at = random.between(MINUTE, shape.durationMs);
		add(at, { do: "mood", project, webhook, mood: [[1, "error"]] });
		for (let n = random.between(1, 5); n > 0; n--) add(at + random.skewed(1, 10_000), publish(shape, random, project));
		for (let n = random.between(1, 4); n > 0; n--)
			add(at + random.skewed(100, 3 * MINUTE), { do: random.pick(["retry one", "retry all"]), project, webhook });
		add(at + random.skewed(100, 5 * MINUTE), { do: "mood", project, webhook, mood: random.pick(MOODS) });
	}
}

/** Programs poll logs: some follow closely, others rarely look. */
function addReaders(shape: Shape, random: Random, add: Add): void {
	const { projects, durationMs } = shape;
	for (let n = random.between(0, 3); n > 0; n--)
		add(random.between(MINUTE, durationMs), {
			...{ do: "read", project: random.between(0, projects - 1) },
			everyMs: random.skewed(Math.max(200, Math.ceil(durationMs / 2_000)), durationMs / 10),
		});
	if (shape.nodes > 1 && random.chance(0.4)) addLostReads(shape, random, add);
}

/** A reader gets events that a failover loses; then others get their numbers. */
function addLostReads(shape: Shape, random: Random, add: Add): void {
	const project = random.between(0, shape.projects - 1);
	const at = random.between(2 * MINUTE, shape.durationMs);
	const lostMs = random.between(3_000, 10_000);
	add(at - lostMs - 5_000, { do: "read", project, everyMs: 500 });
	for (let n = random.between(1, 3); n > 0; n--)
		add(at - random.between(2_000, lostMs), publish(shape, random, project));
	add(at, { do: "failover", lostMs });
	for (let n = 0; n < 5; n++) add(at + random.skewed(100, 30_000), publish(shape, random, project));
}

/** Events are published that may or may not be stored. */
function addLostAppends(shape: Shape, random: Random, add: Add): void {
	const at = random.between(MINUTE, shape.durationMs);
	const ms = random.between(2_000, 20_000);
	const fault = random.pick(["fails before", "fails after", "fails after", "stalls"] as const);
	const probability = random.pick([0.3, 1]);
	add(at, { do: "storage", node: null, fault, ms, probability, method: "appendEvents" });
	for (let i = random.between(2, 8); i > 0; i--)
		add(at + random.float() * ms, publish(shape, random, random.between(0, shape.projects - 1)));
}

/** Another session locks a project's rows, for less than a lease's duration, while a burst of events is on its way. */
function addLockedBurst(shape: Shape, random: Random, add: Add): void {
	const at = random.between(MINUTE, shape.durationMs);
	const project = random.between(0, shape.projects - 1);
	const types = Array.from({ length: shape.webhooksPerProject > 100 ? 1 : 25 }, () => random.pick(ALL_TYPES));
	add(at, { do: "publish", project, types, bytes: 0 });
	add(at + random.between(100, 1_000), { do: "lock", project, ms: random.between(1_000, 6_000) });
}

/** One node leaves its projects to another, which learns late that it has them, and later that it has lost them. */
function addLateLeases(shape: Shape, random: Random, add: Add): void {
	const at = random.between(MINUTE, shape.durationMs);
	const node = random.between(0, shape.nodes - 1);
	const ms = random.between(shape.leaseTermMs, 2 * shape.leaseTermMs);
	const fault = { do: "storage", node, probability: 1 } as const;
	add(at, { ...fault, fault: "stalls", ms, method: "acquireLeases" });
	add(at, { ...fault, fault: "slow", ms: 2 * ms, method: "renewLeases" });
	add(at + 100, { do: "restart", node: (node + 1) % shape.nodes, ms: random.between(100, 2_000) });
	for (let i = 0; i < 20; i++)
		add(at + random.float() * 2 * ms, publish(shape, random, random.between(0, shape.projects - 1)));
}

/** All receivers fail for a while, then they are slow; new events come all the time. */
function addRecovery(shape: Shape, random: Random, add: Add): void {
	const { projects, webhooksPerProject, durationMs } = shape;
	for (let project = 0; project < projects; project++) {
		for (let webhook = 0; webhook < webhooksPerProject; webhook++) {
			add(40_000, { do: "mood", mood: [[1, "error"]], project, webhook });
			add(5 * MINUTE, { do: "mood", mood: [[1, "slow"]], project, webhook });
		}
		for (let at = MINUTE; at < 4 * MINUTE; at += 20_000)
			add(at, { do: "publish", project, types: Array.from({ length: 40 }, () => random.pick(ALL_TYPES)), bytes: 0 });
		for (let at = 5 * MINUTE; at < durationMs; at += random.between(10_000, 60_000))
			add(at, publish(shape, random, project));
	}
	// People check whether it works again.
	for (let n = 0; n < 12; n++) {
		const of = { project: random.between(0, projects - 1), webhook: random.between(0, webhooksPerProject - 1) };
		add(5 * MINUTE + random.between(0, 10 * MINUTE), { do: "test", ...of });
		// Many at once, where slots allow it.
		if (shape.name === "recovery")
			add(5 * MINUTE + random.between(0, 10 * MINUTE), { do: random.pick(["replay failed", "retry all"]), ...of });
	}
}

function work(shape: Shape, random: Random): Deed {
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

function publish({ webhooksPerProject }: Shape, random: Random, project: number): Deed {
	const count = webhooksPerProject > 100 || random.chance(0.7) ? 1 : random.skewed(2, 40);
	const types = Array.from({ length: count }, () => random.pick(ALL_TYPES));
	return { do: "publish", project, types, bytes: random.chance(0.05) ? random.skewed(1_000, 60_000) : 0 };
}

function ownersDeed(shape: Shape, random: Random): Deed {
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
function faultOfLeases(shape: Shape, random: Random): Deed {
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

function fault(shape: Shape, random: Random): Deed {
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

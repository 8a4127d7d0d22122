/**
 * From a seed to a plan. Each step can be left out without changing what the others do, which is how a failing plan is
 * shrunk.
 */
import { type Deed, HOUR, MINUTE, type Plan, type Shape, type Step } from "../plan.ts";
import { type Random, stream } from "../random.ts";
import { ALL_TYPES, fault, faultOfLeases, MOODS, ownersDeed, publish, someTypes, work } from "./deeds.ts";
import { makeShape, type Nodes, withNodes } from "./shapes.ts";

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
	else if (shape.name === "failover") addFailovers(shape, stream(seed, "plan", "failovers"), add);
	else {
		addEpisodes(shape, seed, add);
		addCoincidences(shape, stream(seed, "plan", "coincidences"), add);
	}
	addRetries(shape, stream(seed, "plan", "retries"), add);
	addReaders(shape, stream(seed, "plan", "readers"), add);
	return { seed, shape, steps: steps.sort((a, b) => a.at - b.at || a.id - b.id) };
}

type Add = (at: number, deed: Deed) => void;

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

/**
 * Each failover loses leases, events, outcomes and changes. Most projects are idle, so a node takes them only then. Some
 * nodes can't reach the database for a while, and don't notice.
 */
function addFailovers(shape: Shape, random: Random, add: Add): void {
	const { nodes, projects, webhooksPerProject, durationMs } = shape;
	for (let at = 90_000; at < durationMs; at += random.between(20_000, 100_000)) {
		const lostMs = random.skewed(300, 9_000);
		add(at, { do: "failover", lostMs });
		if (random.chance(0.3)) add(at + random.skewed(100, 10_000), { do: "failover", lostMs: random.skewed(10, 5_000) });
		const lostAt = (): number => at - random.float() * lostMs;
		const node = random.between(0, nodes - 1);
		const kind = random.float();
		if (kind < 0.4)
			add(at - random.between(0, 200), {
				...{ do: "storage", node, fault: "stalls", ms: random.between(2_000, 12_000), probability: 1, method: null },
			});
		else if (kind < 0.6) add(lostAt(), { do: "restart", node, ms: random.skewed(100, 3_000) });
		else if (kind < 0.8) add(lostAt(), { do: "freeze", node, ms: random.skewed(1_000, 15_000) });
		const active = Array.from({ length: random.between(1, 4) }, () => random.between(0, projects - 1));
		for (const project of active) {
			for (let n = random.between(1, 6); n > 0; n--) add(lostAt(), publish(shape, random, project));
			for (let n = random.between(1, 12); n > 0; n--)
				add(at + random.skewed(1, 15_000), publish(shape, random, project));
			const of = { project, webhook: random.between(0, webhooksPerProject - 1) };
			const change = random.pick(["rotate", "pause", "url", "resume"] as const);
			if (random.chance(0.6))
				add(
					random.chance(0.5) ? lostAt() : at + random.skewed(1, 8_000),
					change === "resume" ? { do: change, from: "backlog", ...of } : { do: change, ...of },
				);
			if (change === "pause") add(at + random.between(10_000, 20_000), { do: "resume", from: "backlog", ...of });
		}
		if (random.chance(0.3)) addLateRenewal(shape, random, at + random.between(12_000, 20_000), add);
	}
}

/** A node learns late that its leases were renewed, and can't renew them again. */
function addLateRenewal(shape: Shape, random: Random, at: number, add: Add): void {
	const ms = random.between(3_000, 9_000);
	const { nodes, projects } = shape;
	const node = random.between(0, nodes - 1);
	const fault = { do: "storage", node, probability: 1, method: "renewLeases" } as const;
	add(at, { ...fault, fault: "stalls", ms });
	add(at + ms, { ...fault, fault: "fails before", ms: 15_000 });
	for (let n = 0; n < 20; n++)
		add(at + random.float() * 25_000, publish(shape, random, random.between(0, projects - 1)));
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

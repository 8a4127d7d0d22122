import { expect, test } from "vitest";
import type { Happening } from "./happenings.ts";
import type { Plan } from "./plan.ts";
import { makePlan } from "./plans/make.ts";
import { STYLES } from "./plans/shapes.ts";
import { REGRESSIONS } from "./regressions/regressions.ts";
import type { Fault } from "./runner/fault.ts";
import { run, Worker } from "./runner/run.ts";
import { shrink } from "./runner/shrink.ts";
import { Trace } from "./trace.ts";
import { World } from "./world.ts";

const HOURS = 1_000;
const WORLDS = 16;
/** The first of them: the worlds from here on have every style. */
const FIRST_SEED = 293;

/** Worlds in which a promise was once broken, from before they were kept as plans. */
const SEEDS: readonly (readonly [seed: number, style: string])[] = [
	// Sent after the answer that its type was taken off.
	[1, "long"],
	[4, "long"],
	// Signed with the old secret after the rotation was answered, by a node that was stopping.
	[4, "churn"],
	// A webhook was deleted while a retry was in flight: closing it was refused for ever, and events went missing in between.
	[50, "churn"],
];

test(`every promise holds for ${HOURS} hours in hostile worlds`, { timeout: 600_000 }, async () => {
	const styles = new Set<string>();
	const { totals, failed } = await run({
		...{ hours: HOURS, worlds: WORLDS, storage: "memory", firstSeed: FIRST_SEED, workers: 2 },
		onResult: ({ style }) => styles.add(style),
	});
	expect(failed).toBeNull();
	expect(totals.hours).toBeGreaterThanOrEqual(HOURS);
	expect(styles).toEqual(new Set<string>(STYLES));
});

test.for(REGRESSIONS)("$name: fixed", async ({ plan }) => {
	const { breach } = await new World(plan, { storage: "memory" }).run();
	expect(breach).toBeNull();
});

test.for(REGRESSIONS.flatMap(({ name, plan, fault }) => (fault ? [{ name, plan, fault }] : [])))(
	"$name: caught without the fix",
	async ({ plan, fault }) => {
		using worker = new Worker();
		const { ending, error } = await worker.run({ seed: plan.seed, storage: "memory", plan }, fault);
		expect(error).toBeNull();
		expect(ending!.breach).not.toBeNull();
	},
);

test.for(SEEDS)("seed %i (%s) no longer breaks a promise", async ([seed, style]) => {
	const { breach } = await new World(makePlan(seed, style), { storage: "memory" }).run();
	expect(breach).toBeNull();
});

test.for(["shared", "shop"])("the same seed gives the same %s world, to the byte", async (style) => {
	const traceOf = async (seed: number) => {
		const lines: string[] = [];
		const trace = new Trace((line) => lines.push(line), false);
		const onHappening = (happening: Happening) => trace.tell(happening);
		const { digest } = await new World(makePlan(seed, style), {
			storage: "memory",
			digests: true,
			onHappening,
		}).run();
		return { digest, lines };
	};
	const first = await traceOf(4);
	expect(first.lines.length).toBeGreaterThan(100);
	expect(await traceOf(4)).toEqual(first);
	// A small one.
	expect((await traceOf(10)).digest).not.toBe(first.digest);
});

const FAULT: Fault = {
	name: "delay of the next attempt",
	file: "packages/server/src/engine/settle/lifecycle.ts",
	find: "const delay = delaysMs[attempt - 1];",
	replace: "const delay = delaysMs[attempt];",
	breaks: "Each retry waits as long as the next one should.",
};

test("a plan that breaks a promise is shrunk to the few steps that matter", { timeout: 600_000 }, async () => {
	using worker = new Worker();
	const judge = async (plan: Plan) => {
		const { ending, error } = await worker.run({ seed: plan.seed, storage: "memory", plan }, FAULT);
		expect(error).toBeNull();
		return ending!.breach?.promise ?? null;
	};
	let plan = makePlan(1, "shop");
	let promise = await judge(plan);
	for (let seed = 2; promise === null && seed < 100; seed++) {
		plan = makePlan(seed, "shop");
		promise = await judge(plan);
	}
	expect(promise).toBe("no attempt number is skipped or settled twice, and no series is too long");
	const small = await shrink(plan, promise!, judge, 200, () => {});
	expect(small.steps.length).toBeLessThan(plan.steps.length / 4);
	expect(await judge(small)).toBe(promise);
});

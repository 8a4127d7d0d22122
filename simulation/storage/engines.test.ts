/** Worlds on the real engines: short ones, since they take real time. */
import { PostgresServer } from "@posthorn/testkit/postgres";
import { expect, test } from "vitest";
import type { Happening } from "../happenings.ts";
import type { Deed, Plan, Step } from "../plan.ts";
import { World } from "../world.ts";
import type { StorageKind } from "./database.ts";

const SECOND = 1_000;
const TYPE = "purchase.completed";
const LAST = 60 * SECOND;

/** Two projects that are published to all the time, and what else is given. */
function planOf(nodes: number, faults: readonly (readonly [at: number, Deed])[]): Plan {
	const steps: Step[] = [];
	const add = (at: number, deed: Deed): void => void steps.push({ id: steps.length, at, ...deed });
	for (const project of [0, 1]) {
		add(1 * SECOND, { do: "project", project });
		const mood = [
			[3, "ok"],
			[1, "error"],
		] as const;
		add(2 * SECOND, { do: "webhook", project, webhook: 0, types: [TYPE], maxInFlight: 1, mood });
		for (let at = 10 * SECOND; at < LAST; at += 3 * SECOND)
			add(at + 500 * project, { do: "publish", project, types: [TYPE], bytes: 0 });
	}
	for (const [at, deed] of faults) add(at, deed);
	const shape = {
		...{ name: "short", nodes, projects: 2, webhooksPerProject: 1, durationMs: LAST },
		...{ attemptTimeoutMs: 5 * SECOND, leaseTermMs: 10 * SECOND, retentionMs: 86_400_000, basketIdleMs: 600_000 },
		retryDelaysMs: [1, 2, 4, 8, 15, 30, 60].map((s) => s * SECOND),
		...{ activeProjects: null, sendsInFlight: null, databaseLatencyMs: 3, networkLatencyMs: 10 },
	};
	return { seed: 7, shape, steps: steps.sort((a, b) => a.at - b.at || a.id - b.id) };
}

async function runWorld(storage: StorageKind, plan: Plan) {
	const happenings: Happening[] = [];
	await using server = storage === "postgres" ? await PostgresServer.start() : null;
	const world = new World(plan, {
		...{ storage, postgresUrl: server?.url, digests: true },
		onHappening: (one) => happenings.push(one),
	});
	const ending = await world.run();
	expect(ending.breach).toBeNull();
	return { ...ending, happenings };
}

const LOCK = [20 * SECOND, { do: "lock", project: 0, ms: 2 * SECOND }] as const;

test.for(["sqlite", "postgres"] as const)(
	"with one node on %s, rows that another session holds refuse calls, and the same plan gives the same world",
	async (storage) => {
		const plan = planOf(1, [LOCK]);
		const first = await runWorld(storage, plan);
		expect(first.happenings.filter(({ kind }) => kind === "fault")).toHaveLength(2);
		const refused = (one: Happening): boolean => one.kind === "unanswered" || one.kind === "logged";
		expect(first.happenings.filter(refused).length).toBeGreaterThan(0);
		expect((await runWorld(storage, plan)).digest).toBe(first.digest);
	},
);

test("a world on PostgreSQL needs a server, and starts none itself", async () => {
	await expect(new World(planOf(1, []), { storage: "postgres" }).run()).rejects.toThrow("needs the URL");
});

test("nodes on PostgreSQL continue from a state that lacks the last commits", async () => {
	const plan = planOf(2, [LOCK, [40 * SECOND, { do: "failover", lostMs: 5 * SECOND }]]);
	const { happenings } = await runWorld("postgres", plan);
	const seqs = happenings.flatMap((one) => (one.kind === "appended" ? one.events.map(({ seq }) => seq) : []));
	// Numbers were lost, and stand for other events now.
	expect(new Set(seqs).size).toBeLessThan(seqs.length / 2);
	const restored = happenings.findIndex(({ kind }) => kind === "restored");
	expect(restored).toBeGreaterThan(0);
	expect(happenings.slice(restored).some(({ kind }) => kind === "settled")).toBe(true);
});

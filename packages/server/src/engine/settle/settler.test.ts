import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { expect, test } from "vitest";
import { silentLogger } from "../../base/logger.ts";
import { type Settlement, StorageError } from "../../storage/port.ts";
import { type SettleResult, Settler } from "./settler.ts";

const isRefused = ({ projectId }: Settlement): boolean => projectId === "refused";

/** Refuses every batch with outcomes of the project `refused`. */
class Storage {
	/** What it was handed, by project. */
	readonly calls: string[] = [];
	/** How often it is lost before it takes the next batch. */
	outage = 0;
	/** How often it is lost after each refusal. */
	outageAfterRefusal = 0;
	closed = false;

	async settle(settlements: readonly Settlement[]): Promise<("settled" | "stale")[]> {
		this.calls.push(settlements.map(({ projectId }) => projectId).join(" "));
		if (this.closed) throw new StorageError("closed", "The storage is closed.");
		if (this.outage > 0) {
			this.outage -= 1;
			throw new StorageError("lost", "The connection was reset.");
		}
		if (!settlements.some(isRefused)) return settlements.map(() => "settled");
		this.outage = this.outageAfterRefusal;
		throw new Error("There is no such webhook.");
	}
}

/** Hands these projects' outcomes in as one batch. Resolves with what became of each, going through outages by the clock. */
async function settle(storage: Storage, projects: readonly string[]): Promise<Record<string, SettleResult>> {
	const clock = new VirtualClock();
	const settler = new Settler(storage, clock, silentLogger);
	const results: Record<string, SettleResult> = {};
	// What comes while the first one is committed goes together.
	for (const projectId of ["first", ...projects])
		settler.add({
			lease: { projectId, generation: 1 },
			attempt: null,
			schedule: null,
			unschedule: null,
			lane: null,
			done: (result) => {
				results[projectId] = result;
			},
		});
	let drained = false;
	const draining = settler.drain().then(() => {
		drained = true;
	});
	while (!drained) {
		await new Promise((resolve) => setImmediate(resolve));
		if (clock.nextAt !== null) clock.advanceTo(clock.nextAt);
	}
	await draining;
	delete results.first;
	expect(storage.calls.splice(0, 2)).toEqual(["first", projects.join(" ")]);
	return results;
}

test("outcomes that storage refuses hold up nobody else's", async () => {
	const storage = new Storage();
	expect(await settle(storage, ["a", "refused", "b"])).toEqual({ a: "settled", refused: "refused", b: "settled" });
	expect(storage.calls).toEqual(["a", "refused", "b"]);
});

test("storage that goes away after a refusal has refused nothing else: those outcomes wait for it", async () => {
	// They were once all thrown away, and their events sent again.
	const storage = new Storage();
	storage.outageAfterRefusal = 3;
	expect(await settle(storage, ["refused", "a", "b"])).toEqual({ refused: "refused", a: "settled", b: "settled" });
});

test("through an outage outcomes wait together", async () => {
	const storage = new Storage();
	const outcomes = settle(storage, ["a", "b"]);
	storage.outage = 4;
	expect(await outcomes).toEqual({ a: "settled", b: "settled" });
	expect(storage.calls).toEqual(["a b", "a b", "a b", "a b"]);
});

test("once storage is closed, what was not written is left to whoever takes the projects next", async () => {
	const storage = new Storage();
	const outcomes = settle(storage, ["a", "b"]);
	storage.closed = true;
	expect(await outcomes).toEqual({ a: "stale", b: "stale" });
	expect(storage.calls).toEqual([]);
});

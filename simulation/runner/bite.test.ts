import { expect, test } from "vitest";
import type { Bite } from "../bites/bite.ts";
import { BITES } from "../bites/index.ts";
import { Oracle } from "../oracle/oracle.ts";
import { bite, bittenLine } from "./bite.ts";

/** No world: what the oracle checks doesn't depend on it. */
const NOWHERE = {
	facts: {
		...{ retryDelaysMs: [], attemptTimeoutMs: 0, leaseTermMs: 0, retentionMs: 0 },
		...{ manyNodes: false, brand: "", sealKey: new Uint8Array(32) },
	},
	patience: { hearingMs: 0, requestMs: 0, requestSlots: null, turnMs: 0, connectingMs: 0 },
	now: () => 0,
	nodeNow: () => 0,
	disagreementMs: () => 0,
};

test("each deliberate fault is caught, and each promise catches one", { timeout: 600_000 }, async () => {
	const all = await bite(BITES, 2, () => {});
	expect(all.filter(({ promise }) => promise === null).map(bittenLine)).toEqual([]);
	expect(all.length).toBeGreaterThanOrEqual(25);
	expect([...new Set(all.map(({ promise }) => promise))].sort()).toEqual(new Oracle(NOWHERE).promises.sort());
});

const HARMLESS: Bite = {
	name: "harmless",
	file: "packages/server/src/engine/settle/lifecycle.ts",
	find: "const delay = delaysMs[attempt - 1];",
	replace: "const delay = delaysMs[attempt - 1]!;",
	breaks: "Nothing.",
	...{ style: "churn", firstSeed: 1, worlds: 1 },
};

test("a fault that breaks nothing, no longer applies, or can't run isn't caught", { timeout: 600_000 }, async () => {
	const broken = [
		HARMLESS,
		{ ...HARMLESS, find: "is not in there" },
		{ ...HARMLESS, replace: "throw new Error(" },
		{ ...HARMLESS, replace: "const delay = delaysMs[attempt - 1]; process.exit(3);" },
		{ ...HARMLESS, file: "simulation/main.ts", find: "const MAX_TRIES = 400;", replace: "const MAX_TRIES = 1;" },
	];
	const all = await bite(broken, 1, () => {});
	expect(all.map(({ promise }) => promise)).toEqual([null, null, null, null, null]);
	expect(all[0]!.message).toBe("no promise was broken");
	expect(all[1]!.message).toContain("does not apply any more");
	expect(all[2]!.message).toContain("the world itself threw");
	expect(all[3]!.message).toContain("the world itself threw");
	expect(all[4]!.message).toContain("worlds don't load simulation/main.ts");
});

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { SENDS } from "../base/budgets.ts";
import { divideDescriptors } from "../base/descriptors.ts";
import { examineFiles } from "./local.ts";

const ENOUGH = 18_560;

test("warns about the limit on open files once it affects receivers", () => {
	const ofReceivers = (limit: number): number => divideDescriptors(limit).sends + divideDescriptors(limit).idle;
	expect(ofReceivers(ENOUGH)).toBe(SENDS.inFlight + SENDS.idleConnections);
	expect(ofReceivers(ENOUGH - 2)).toBeLessThan(SENDS.inFlight + SENDS.idleConnections);
	for (const limit of [ENOUGH, Number.POSITIVE_INFINITY]) expect(examineFiles(limit, "linux").state).toBe("ok");
	for (const limit of [300, ENOUGH - 2]) {
		const { state, text } = examineFiles(limit, "linux");
		expect(state).toBe("warning");
		expect(text).toMatch(/requests to receivers .* ulimit -n to 18,560 or more/);
	}
	expect(examineFiles(300, "linux").text).toContain(
		"300 at most, which allows 100 requests to receivers and 113 clients",
	);
	const page = readFileSync(new URL("../../../../docs/operations/monitoring.md", import.meta.url), "utf8");
	expect(page).toContain(`A limit of ${ENOUGH.toLocaleString("en-US")} or more allows`);
});

test("a limit on open files that is too low to start is a fault", () => {
	expect(examineFiles(63, "linux")).toEqual({
		...{ state: "fault", name: "Open files", isSetting: true },
		text: "63 at most, which is too few to start: set LimitNOFILE= or ulimit -n to 18,560 or more.",
	});
	expect(examineFiles(64, "linux").state).toBe("warning");
});

test("doesn't advise raising an assumed limit", () => {
	expect(examineFiles(1_024, "darwin")).toMatchObject({
		state: "ok",
		text: expect.stringMatching(/^Assumed to be 1,024/),
	});
});

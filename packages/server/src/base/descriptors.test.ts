import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DESCRIPTORS, SENDS } from "./budgets.ts";
import { descriptorLimit, divideDescriptors } from "./descriptors.ts";

const limits = (soft: string) => `Limit                     Soft Limit           Hard Limit           Units
Max processes             63432                63432                processes
Max open files            ${soft.padEnd(20)} 1048576              files
`;

describe("the limit on open files", () => {
	test("is the soft limit", () => {
		expect(descriptorLimit(() => limits("4096"))).toBe(4_096);
		expect(descriptorLimit(() => limits("unlimited"))).toBe(Number.POSITIVE_INFINITY);
	});

	test("is assumed if it can't be read", () => {
		expect(descriptorLimit(() => "nothing of the kind")).toBe(DESCRIPTORS.assumed);
		const unreadable = () => {
			throw new Error("ENOENT");
		};
		expect(descriptorLimit(unreadable)).toBe(DESCRIPTORS.assumed);
	});

	test.runIf(process.platform === "linux")("is the one that a shell sets for the process it starts", () => {
		const file = new URL("./descriptors.ts", import.meta.url).href;
		const program = `const { descriptorLimit } = await import(${JSON.stringify(file)}); console.log(String(descriptorLimit()))`;
		const command = `ulimit -n 300 && exec "$0" --input-type=module -e "$1"`;
		const said = execFileSync("sh", ["-c", command, process.execPath, program], { encoding: "utf8" });
		expect(said.trim()).toBe("300");
	});
});

test("its shares never exceed it, and each gets some", () => {
	fc.assert(
		fc.property(fc.integer({ min: 16, max: 2_000_000 }), (limit) => {
			const { reserved, sends, idle, api } = divideDescriptors(limit);
			expect(reserved + sends + idle + api).toBeLessThanOrEqual(limit);
			for (const part of [reserved, sends, api]) expect(part).toBeGreaterThan(0);
			expect(sends).toBeLessThanOrEqual(SENDS.inFlight);
		}),
	);
});

test("a sufficient limit doesn't restrict sends", () => {
	for (const limit of [65_536, Number.POSITIVE_INFINITY]) {
		const { sends, idle, api } = divideDescriptors(limit);
		expect([sends, idle]).toEqual([SENDS.inFlight, SENDS.idleConnections]);
		expect(api).toBeGreaterThan(SENDS.inFlight);
	}
});

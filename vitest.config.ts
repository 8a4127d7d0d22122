import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		include: [
			"packages/*/{src,test}/**/*.test.ts",
			"e2e/**/*.test.ts",
			"examples/**/*.test.ts",
			"bench/**/*.test.ts",
			"simulation/**/*.test.ts",
			"mutations/**/*.test.ts",
		],
		testTimeout: 60_000,
		hookTimeout: 60_000,
		setupFiles: ["./vitest.setup.ts"],
		retry: 0,
		// The long ones wait for processes, disks and clocks most of the time.
		maxWorkers: Math.max(3, availableParallelism()),
	},
});

import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

// Tests start many processes and threads that load the same modules: each is compiled once.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "node_modules/.cache/posthorn");

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
		globalSetup: ["./vitest.global.ts"],
		setupFiles: ["./vitest.setup.ts"],
		retry: 0,
		// The long ones wait for processes, disks and clocks most of the time.
		maxWorkers: Math.max(3, availableParallelism()),
	},
});

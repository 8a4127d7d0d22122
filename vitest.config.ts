import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./scripts/longest-first.ts";

// Tests start many processes and threads that load the same modules: each is compiled once.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "node_modules/.cache/posthorn");
// PostgreSQL's driver and programs read these; a developer may have set them for other databases.
for (const name of Object.keys(process.env)) if (/^PG[A-Z]+$/.test(name)) delete process.env[name];

/** Many small files that leave nothing behind in their process: they share it, and the modules it has loaded. */
const SHARED = [
	"packages/{protocol,dashboard}/src/**/*.test.ts",
	"packages/server/src/{accounts,api,base,config,doctor,engine,net,registry,search,store}/**/*.test.ts",
	"packages/server/src/storage/{shared,verbs}/**/*.test.ts",
	"packages/server/src/storage/postgres/{connection,history,lanes,log,retention}/**/*.test.ts",
	"packages/server/src/storage/sqlite/{connection,history}/**/*.test.ts",
	// Without those that take long.
	"packages/server/src/storage/{postgres,sqlite}/!(postgres|postgres-older|sqlite|plans|faults|project-writes).test.ts",
	"packages/server/test/storage/memory/!(memory).test.ts",
	"packages/testkit/src/{fast,tls}/*.test.ts",
	"packages/webhooks/test/*.test.ts",
	"simulation/network/*.test.ts",
];

export default defineConfig({
	test: {
		// Several times what the slowest of them takes: a timeout is not an assertion.
		testTimeout: 180_000,
		hookTimeout: 180_000,
		globalSetup: ["./vitest.global.ts"],
		setupFiles: ["./vitest.setup.ts"],
		retry: 0,
		sequence: { sequencer: LongestFirst },
		// Long files mostly wait for processes, disks and clocks. More of them would slow down each other and the browser tests.
		maxWorkers: Math.max(3, availableParallelism()),
		// Collecting garbage rarely, and by one thread, takes less processor time in total.
		execArgv: ["--max-semi-space-size=32", "--no-parallel-scavenge"],
		projects: [
			{ extends: true, test: { name: "shared", include: SHARED, isolate: false } },
			{
				extends: true,
				test: {
					name: "alone",
					include: [
						"packages/*/{src,test}/**/*.test.ts",
						"e2e/**/*.test.ts",
						"examples/**/*.test.ts",
						"bench/**/*.test.ts",
						"simulation/**/*.test.ts",
						"mutations/**/*.test.ts",
						"scripts/**/*.test.ts",
					],
					exclude: ["**/node_modules/**", ...SHARED],
				},
			},
		],
	},
});

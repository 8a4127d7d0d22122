import { expect, test } from "vitest";
import { namedPaths } from "./named-paths.ts";

test("paths in code spans count, other code doesn't", () => {
	const text =
		"`engine/publish`, `main.ts` and `src/`, but not `/v1/events`, `npm start`, `wake_at` or `application/json`";
	expect(namedPaths(text)).toEqual(["engine/publish", "main.ts", "src/"].map((name) => ({ name, folder: null })));
});

test("what a tree names is in the folder that it is indented below", () => {
	const tree = `
\`\`\`
packages/
  server/src/
    main.ts     the only file that knows
    storage/    port.ts and port/ (verbs), read/write,
                shared/, suite/ (the one suite)
  cli/          the command
docs/           guides
\`\`\`
`;
	expect(namedPaths(tree).map(({ name, folder }) => folder + name)).toEqual([
		"packages/",
		"packages/server/src/",
		"packages/server/src/main.ts",
		"packages/server/src/storage/",
		"packages/server/src/storage/port.ts",
		"packages/server/src/storage/port/",
		"packages/server/src/storage/shared/",
		"packages/server/src/storage/suite/",
		"packages/cli/",
		"docs/",
	]);
});

test("other blocks name nothing", () => {
	expect(namedPaths("```sh\nnpm run x -- a/b.ts\n```\n")).toEqual([]);
});

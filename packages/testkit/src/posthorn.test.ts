import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { unusedPort } from "./ports.ts";
import { Posthorn } from "./posthorn.ts";
import { within } from "./until.ts";

/** Prints the last part of the URLs that it's asked for on standard output, as the service prints its log. */
const COMMAND = `
	import { createServer } from "node:http";
	createServer(({ url }, response) => response.end(() => console.log(url.slice(1)))).listen(process.env.POSTHORN_PORT);
	console.error("Posthorn is ready.");
`;

// Only what came on standard error was noticed, so a test waited for ever for a line of the log.
test("what a service prints later is noticed on either of its outputs", async () => {
	const folder = mkdtempSync(join(tmpdir(), "posthorn-testkit-"));
	try {
		const command = join(folder, "service.mjs");
		writeFileSync(command, COMMAND);
		const service = await Posthorn.start({ command, settings: { POSTHORN_PORT: String(await unusedPort()) } });
		try {
			const printed = service.hasPrinted(/sealed/);
			await fetch(`${service.url}/sealed`);
			await within("the line", printed);
			expect(service.output).toContain("sealed\n");
		} finally {
			await service.kill();
		}
	} finally {
		rmSync(folder, { recursive: true });
	}
});

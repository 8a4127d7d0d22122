import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { EVENT_TYPES } from "@posthorn/protocol";
import { expect, onTestFinished, test } from "vitest";

const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));

interface Run {
	readonly code: number | null;
	readonly stdout: string;
	readonly stderr: string;
}

/** Runs the demonstration as a user would; `onOutput` gets the standard output so far. */
async function demo(
	args: readonly string[],
	onOutput?: (soFar: string, kill: (signal: NodeJS.Signals) => void) => void,
): Promise<Run> {
	const child = spawn(process.execPath, [MAIN, ...args], { stdio: ["ignore", "pipe", "pipe"] });
	onTestFinished(() => void child.kill("SIGTERM"));
	let stdout = "";
	child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
		stdout += chunk;
		onOutput?.(stdout, (signal) => child.kill(signal));
	});
	const [stderr] = await Promise.all([text(child.stderr), once(child, "close")]);
	return { code: child.exitCode, stdout, stderr };
}

function summaryOf(stdout: string): Map<string, string> {
	const rows = stdout.slice(stdout.lastIndexOf("\nSummary\n")).matchAll(/^ {2}(\S.*?) {2,}(.+)$/gm);
	return new Map(Array.from(rows, ([, name, value]) => [name ?? "", value ?? ""]));
}

test("delivers everything the store publishes, retrying refused requests, and the receivers verify it", async () => {
	const { code, stdout, stderr } = await demo(["--events", "20", "--speed", "20", "--seed", "5"]);

	expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
	const summary = summaryOf(stdout);
	expect(summary.get("published")).toBe("20 events");
	const [, delivered, deliveries] = /^(\d+) of (\d+) deliveries/.exec(summary.get("delivered") ?? "") ?? [];
	// Accounting gets every event, Chat notices only some.
	expect(Number(deliveries)).toBeGreaterThan(20);
	expect(delivered).toBe(deliveries);
	expect(summary.get("verified")).toBe(`${deliveries} of ${deliveries}, by the receivers' own check`);
	expect(summary.get("retrying")).toBe("0");
	expect(summary.get("failed")).toBe("0");
	expect(summary.get("signature failures")).toBe("0");
	expect(stdout).toContain("Everything published was delivered and verified.");
	expect(stdout).not.toContain("NOT VERIFIED");
	// The dashboard's link comes right before the feed, and again before it scrolls away.
	const [head = "", ...feed] = stdout.split(/^Dashboard {2}http:\S+#[\w-]{43}$/m);
	expect(head).toContain("/replay\n");
	expect(head).not.toContain("● published");
	expect(feed.length).toBeGreaterThan(1);
	for (const part of feed) expect(part.match(/● published|attempt \d/g)?.length ?? 0).toBeLessThanOrEqual(25);
	// With this seed Chat notices refuses some requests; all other first attempts are logged as delivered.
	expect(stdout).toMatch(/↻ retrying .+ attempt 1 of 8 /);
	expect(stdout).toMatch(/✔ delivered .+ attempt [2-8] of 8 .+ verified ✓/);
});

test("the store publishes every type of event", async () => {
	const { code, stdout, stderr } = await demo(["--events", "60", "--speed", "50", "--seed", "5"]);

	expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
	expect(summaryOf(stdout).get("published")).toBe("60 events");
	const seen = new Set(Array.from(stdout.matchAll(/● published\s+#\d+\s+([a-z.]+)/g), ([, type]) => type));
	expect([...seen].sort()).toEqual(EVENT_TYPES.map(({ type }) => type).sort());
	expect(stdout).toContain("a basket is abandoned after 5 s (24 h by default)");
});

test.skipIf(process.platform === "win32")(
	"stops gracefully on SIGTERM",
	async () => {
		let asked = false;
		const { code, stdout, stderr } = await demo(["--speed", "5"], (soFar, kill) => {
			if (asked || !soFar.includes("✔ delivered")) return;
			asked = true;
			kill("SIGTERM");
		});

		expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
		expect(stdout).toContain("Stopping:");
		expect(summaryOf(stdout).get("signature failures")).toBe("0");
	},
	60_000,
);

test("reports invalid options", async () => {
	const { code, stderr } = await demo(["--events", "none"]);

	expect(code).toBe(2);
	expect(stderr).toContain('--events must be a number from 1 to 9007199254740991, not "none".');
});

test("says which port it uses if 8420 is taken", async () => {
	const taken = createServer();
	// After an error, another program has taken the port.
	await new Promise<void>((resolve) => {
		taken.once("listening", resolve).once("error", () => resolve());
		taken.listen(8420, "127.0.0.1");
	});
	onTestFinished(() => void taken.close());

	const { code, stdout, stderr } = await demo(["--events", "1", "--speed", "50", "--seed", "5"]);

	expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
	const [, port] = /^Port 8420 is in use; using (\d+) instead\.$/m.exec(stdout) ?? [];
	expect(stdout).toMatch(new RegExp(`^  API +http://127\\.0\\.0\\.1:${port}/v1$`, "m"));
});

test("shows why the service couldn't start", async () => {
	const taken = createServer();
	await once(taken.listen(0, "127.0.0.1"), "listening");
	onTestFinished(() => void taken.close());
	const address = taken.address();
	if (address === null || typeof address === "string") throw new Error("The listening port is unknown.");

	const { code, stderr } = await demo(["--port", String(address.port)]);

	expect(code).toBe(1);
	expect(stderr).toMatch(/The service ended unexpectedly\. It exited with code \d+ after printing:\n.*\S/);
});

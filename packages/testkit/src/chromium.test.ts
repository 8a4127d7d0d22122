import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findChromium } from "./chromium.ts";

// It used the file of another version, or of another user, who could replace it.
test.runIf(process.platform === "linux")("the browser from npm is this user's and this version's", async () => {
	const { TMPDIR, CHROMIUM } = process.env;
	const folder = mkdtempSync(join(tmpdir(), "posthorn-chromium-test-"));
	onTestFinished(() => {
		Object.assign(process.env, { TMPDIR, CHROMIUM });
		for (const [name, value] of Object.entries({ TMPDIR, CHROMIUM })) if (value === undefined) delete process.env[name];
		rmSync(folder, { recursive: true });
	});
	Object.assign(process.env, { TMPDIR: folder, CHROMIUM: "npm" });
	writeFileSync(join(folder, "chromium"), "#!/bin/sh\necho another one\n", { mode: 0o755 });
	mkdirSync(join(folder, "al2023"));
	const { executablePath, env } = await findChromium();
	expect(process.env.TMPDIR).toBe(folder);
	expect(execFileSync(executablePath, ["--version"], { encoding: "utf8", env })).toMatch(/Chrom/);
	// No other user may replace it.
	expect(statSync(join(executablePath, "..")).mode & 0o077).toBe(0);
	expect((await findChromium()).executablePath).toBe(executablePath);
});

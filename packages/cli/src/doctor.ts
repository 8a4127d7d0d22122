import { readConfig } from "@posthorn/server/config";
import { examine, type Finding } from "@posthorn/server/doctor";
import pc from "picocolors";
import { flagsOf } from "./flags.ts";
import { UsageError } from "./usage-error.ts";

const MARKS: Readonly<Record<Finding["state"], string>> = {
	ok: pc.green("✔"),
	warning: pc.yellow("!"),
	fault: pc.red("✘"),
};

/** `posthorn doctor`: says what the service would meet, and what to mend. Exit code 1 if it could not run. */
export async function doctor(options: Readonly<Record<string, string>>): Promise<void> {
	const result = readConfig({ env: process.env, flags: flagsOf(options) });
	if (!result.ok) throw new UsageError(result.faults);
	console.log(`${MARKS.ok} ${"Configuration".padEnd(14)} Every setting is acceptable.`);
	const findings = await examine(result.config);
	for (const { state, name, text } of findings) console.log(`${MARKS[state]} ${name.padEnd(14)} ${text}`);
	if (findings.some(({ state }) => state === "fault")) process.exitCode = 1;
}

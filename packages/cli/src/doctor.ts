import { readConfig } from "@posthorn/server/config";
import { examine, type Finding } from "@posthorn/server/doctor";
import { UsageError } from "./command-error.ts";
import { findingLine } from "./finding-line.ts";
import { flagsOf } from "./flags.ts";

const CONFIGURATION: Finding = { state: "ok", name: "Configuration", text: "Every setting is acceptable." };

/** Settings by the names of their flags, and what only this command takes. */
export interface DoctorOptions extends Readonly<Record<string, unknown>> {
	/** URLs of receivers that are to be reached. */
	readonly reach?: readonly string[];
}

/**
 * `posthorn doctor`: says what the service would meet, and what to mend. Exit code 1 if it could not run, or a receiver
 * that was named cannot be reached.
 */
export async function doctor({ reach = [], ...settings }: DoctorOptions): Promise<void> {
	const result = readConfig({ env: process.env, flags: flagsOf(settings) });
	const notUrls = reach.filter((text) => !URL.canParse(text));
	const faults = notUrls.map((text) => `--reach is "${text}"; it must be a URL, such as https://example.com/webhooks.`);
	if (!result.ok) throw new UsageError([...result.faults, ...faults]);
	if (faults.length > 0) throw new UsageError(faults);
	console.log(findingLine(CONFIGURATION));
	const findings = await examine(
		result.config,
		reach.map((text) => new URL(text)),
	);
	for (const finding of findings) console.log(findingLine(finding));
	if (findings.some(({ state }) => state === "fault")) process.exitCode = 1;
}

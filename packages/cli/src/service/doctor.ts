import { readConfig } from "@posthorn/server/config";
import { examine, type Finding } from "@posthorn/server/doctor";
import { printJson } from "../client/output.ts";
import { UsageError } from "../command-error.ts";
import { flagsOf } from "../flags.ts";
import { findingLine } from "./finding-line.ts";

const CONFIGURATION: Finding = { state: "ok", name: "Configuration", text: "All settings are valid." };

/** Settings by their flags' names, and this command's own options. */
export interface DoctorOptions extends Readonly<Record<string, unknown>> {
	/** URLs of receivers to connect to. */
	readonly reach?: readonly string[];
	readonly json?: boolean;
}

/**
 * `posthorn doctor`: checks what the service needs, and reports what to fix. Exit code 1 if the service couldn't run, or a
 * given receiver can't be reached.
 */
export async function doctor({ reach = [], json = false, ...settings }: DoctorOptions): Promise<void> {
	const result = readConfig({ env: process.env, flags: flagsOf(settings) });
	const notUrls = reach.filter((text) => !URL.canParse(text));
	const faults = notUrls.map((text) => `--reach is "${text}"; it must be a URL, such as https://example.com/webhooks.`);
	if (!result.ok) throw new UsageError([...result.faults, ...faults]);
	if (faults.length > 0) throw new UsageError(faults);
	const show = ({ state, name, text }: Finding) =>
		json ? printJson({ state, name, text }) : console.log(findingLine({ state, name, text }));
	show(CONFIGURATION);
	const findings = await examine(
		result.config,
		reach.map((text) => new URL(text)),
	);
	for (const finding of findings) show(finding);
	if (findings.some(({ state }) => state === "fault")) process.exitCode = 1;
}

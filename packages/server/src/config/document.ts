import { flagOf, type Setting, variableOf } from "./setting.ts";
import { SETTINGS } from "./settings.ts";

/** What a value may be, in the words in which a wrong one is refused. */
function valuesOf({ parse }: Setting<unknown>): string {
	const parsed = parse("\u0000");
	if (parsed.ok) throw new Error("A setting takes any text.");
	return parsed.must.replace(/ \([^)]*\)$/, "");
}

/** The page `docs/operations/configuration.md`, made from the table of settings. */
export function configurationPage(): string {
	const settings = Object.values(SETTINGS);
	const groups = [...new Set(settings.map((setting) => setting.group))].map((group) => {
		const rows = settings
			.filter((setting) => setting.group === group)
			.map((setting) => {
				const shown = setting.defaultText ?? `\`${setting.default}\``;
				const value = `\`${setting.placeholder}\`: ${valuesOf(setting)}`;
				return `| \`${variableOf(setting)}\`<br>\`${flagOf(setting)}\` | ${shown} | ${value} | ${setting.meaning} |`;
			});
		const head = "| variable, flag | default | value | meaning |\n|---|---|---|---|";
		return `## ${group}\n\n${head}\n${rows.join("\n")}\n`;
	});
	return `# Configuration

Everything can be set by environment variable or by flag of \`posthorn serve\`; the flag wins. All of it is checked at the
start, with one clear line for each fault; a \`POSTHORN_\` variable that does not exist is a fault, too.

<!-- Made by \`npm run docs\` from packages/server/src/config/settings.ts -->

${groups.join("\n")}`;
}

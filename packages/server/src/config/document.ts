import { flagOf, variableOf } from "./setting.ts";
import { SETTINGS } from "./settings.ts";

/** The page `docs/operations/configuration.md`, made from the table of settings. */
export function configurationPage(): string {
	const settings = Object.values(SETTINGS);
	const groups = [...new Set(settings.map((setting) => setting.group))].map((group) => {
		const rows = settings
			.filter((setting) => setting.group === group)
			.map((setting) => {
				const shown = setting.defaultText ?? `\`${setting.default}\``;
				return `| \`${variableOf(setting)}\`<br>\`${flagOf(setting)}\` | ${shown} | ${setting.meaning} |`;
			});
		return `## ${group}\n\n| variable, flag | default | meaning |\n|---|---|---|\n${rows.join("\n")}\n`;
	});
	return `# Configuration

Everything can be set by environment variable or by flag of \`posthorn serve\`; the flag wins. All of it is checked at the
start, with one clear line for each fault; a \`POSTHORN_\` variable that does not exist is a fault, too.

<!-- Made by \`npm run docs\` from packages/server/src/config/settings.ts -->

${groups.join("\n")}`;
}

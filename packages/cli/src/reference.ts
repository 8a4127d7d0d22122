import type { Command } from "commander";
import { CLIENT_EXAMPLES } from "./client/commands.ts";
import { EXAMPLES } from "./help.ts";
import { createProgram } from "./program.ts";

const HELP_TEXTS: Readonly<Record<string, string>> = Object.fromEntries(
	Object.entries({ ...EXAMPLES, ...CLIENT_EXAMPLES }).map(([command, text]) => [`posthorn ${command}`, text]),
);

const HEAD = `# The command line

\`posthorn\` runs the service, and talks to running ones. \`posthorn COMMAND --help\` says the same as this page, which
is generated from it. After \`npm install ./posthorn-*.tgz\` the command is \`npx posthorn\`, run in that folder. [Local
development](local-development.md) shows the commands for developers at work.

| exit code | |
|---|---|
| 0 | success |
| 1 | it failed: the service refused the call or can't be reached, a receiver didn't accept, a signature doesn't match |
| 2 | wrong usage or configuration; nothing was done |
| 130 | interrupted, such as by Ctrl-C or Ctrl-D at a question |

Results go to standard output, everything else to standard error. With \`--json\` results are JSON, one value per line.
Colors are used at a terminal, unless \`NO_COLOR\` is set. \`--env-file FILE\` reads variables for any command; those of the
environment take precedence. If the file is missing, Node itself reports it when \`npx posthorn\` starts: it prints
\`node: FILE: not found\` and exits with 9. Commands that talk to a service use \`--url\` and \`--project\`, else
\`POSTHORN_URL\`, \`POSTHORN_API_KEY\` (or \`POSTHORN_API_KEY_FILE\`, which names a file with it) and
\`POSTHORN_PROJECT\`, else what \`posthorn login\` stored.

| what a command does | the scope that its API key needs |
|---|---|
| \`trigger --publish\` | \`publish\` |
| \`listen\`, \`events\`, \`logs\`, \`verify --event\`, \`webhooks list\` and \`get\` | \`read\` |
| \`replay\`, \`trigger --webhook\`, all other \`webhooks\` commands | \`manage\` |
| \`retry\` | \`read\` and \`manage\` |

\`trigger --to\` and \`verify\` without \`--event\` need no key.

Completions, for the current shell: \`source <(posthorn complete bash)\`, \`source <(posthorn complete zsh)\`,
\`posthorn complete fish | source\`. Bash's needs the package \`bash-completion\`.
`;

/** The page docs/guides/cli.md. */
export function referencePage(): string {
	return `${HEAD}${createProgram()
		.commands.map((command) => sectionOf(command, "posthorn", 2))
		.join("")}`;
}

function sectionOf(command: Command, parent: string, level: number): string {
	const name = `${parent} ${command.name()}`;
	const title = `\n${"#".repeat(level)} ${name}\n\n${command.description()}\n`;
	if (command.commands.length > 0) {
		const subcommands = command.commands.map((one) => sectionOf(one, name, level + 1)).join("");
		return `${title}${examplesOf(name)}${subcommands}`;
	}
	const usage = command.registeredArguments.map((one) => (one.required ? ` <${one.name()}>` : ` [${one.name()}]`));
	return `${title}\n\`\`\`\n${name}${usage.join("")} [options]\n\`\`\`\n${optionsOf(command)}${examplesOf(name)}`;
}

function optionsOf(command: Command): string {
	const settings = command.options.filter(({ helpGroupHeading }) => helpGroupHeading !== undefined);
	// Settings have a page of their own, and the connection is described above.
	const own = command.options.filter((option) => !option.hidden && !settings.includes(option));
	const cell = (text: string) => text.replaceAll("|", "\\|");
	const rows = own.map(({ flags, description, defaultValue }) => {
		const standard = typeof defaultValue === "string" ? ` (by default, ${defaultValue})` : "";
		return `| \`${cell(flags)}\` | ${cell(description)}${standard} |\n`;
	});
	const table = rows.length > 0 ? `\n| option | |\n|---|---|\n${rows.join("")}` : "";
	const isServing = settings.some(({ helpGroupHeading }) => helpGroupHeading !== "Connection:");
	return isServing ? `${table}\nIts settings are [those of the service](../operations/configuration.md).\n` : table;
}

/** The prose and the examples that follow the options in a command's help. */
function examplesOf(name: string): string {
	const text = HELP_TEXTS[name];
	if (text === undefined) return "";
	const [prose = "", examples = ""] = text.split(/^Examples?:\n/m);
	// Text between examples becomes a comment.
	const code = examples
		.replaceAll(/^(?=\S)/gm, "# ")
		.replaceAll(/^ {2}/gm, "")
		.trim();
	return `${prose.trim() === "" ? "" : `\n${prose.trim()}\n`}\n\`\`\`sh\n${code}\n\`\`\`\n`;
}

import { VERSION } from "@posthorn/server/version";
import { Command } from "commander";
import { addClientCommands, many } from "./client/commands.ts";
import { addSettings, examples } from "./help.ts";
import { readEnvFile } from "./service/env-file.ts";

/** The command line: every command with its options and help. Each command imports its modules when it is run. */
export function createProgram(): Command {
	const program = new Command("posthorn")
		.description(
			"Posthorn delivers your store's events to HTTPS endpoints: signed, in order, with retries and a log of every attempt.",
		)
		.version(VERSION, "-V, --version", "print the version")
		.helpOption("-h, --help", "explain a command")
		.helpCommand("help [command]", "explain a command")
		.showSuggestionAfterError()
		.showHelpAfterError("posthorn --help lists the commands, and posthorn COMMAND --help explains one.")
		.option("--env-file <file>", "read variables from this file; those of the environment take precedence")
		.option("--json", "print results as JSON, one value per line")
		.configureHelp({ minWidthToWrap: 20, showGlobalOptions: true })
		.exitOverride()
		.hook("preAction", (_, command) => readEnvFile(command.optsWithGlobals().envFile))
		.addHelpText("after", examples("posthorn"));
	const command = (name: Parameters<typeof examples>[0], description: string) =>
		program.command(name).description(description).addHelpText("after", examples(name));

	addSettings(
		command("serve", "Run the service: HTTP API, deliveries and retries. Stops gracefully on SIGTERM and Ctrl-C."),
	).action(async (_, self: Command) => (await import("./service/serve.ts")).serve(self.optsWithGlobals()));
	command("backup", "Copy the database to FILE, complete and consistent, even while the service runs.")
		.argument("<file>")
		.option("--database-url <url>", "the database to copy (POSTHORN_DATABASE_URL)")
		.action(async (file: string, _, self: Command) =>
			(await import("./service/backup.ts")).backup(file, self.optsWithGlobals()),
		);
	command("restore", "Restore a backup. Nothing is sent until you release it.")
		.argument("[file]")
		.option("--database-url <url>", "the database to replace (POSTHORN_DATABASE_URL)")
		.option("--yes", "don't ask")
		.action(async (file: string | undefined, _, self: Command) =>
			(await import("./service/restore.ts")).restore(file, self.optsWithGlobals()),
		);
	command("quarantine", "Show whether a restored database is in quarantine, and what a release would send.")
		.option("--url <url>", "the service (POSTHORN_URL); by default, the one on this machine")
		.action(async (_, self: Command) =>
			(await import("./client/quarantine.ts")).showQuarantine(self.optsWithGlobals()),
		);
	command("release", "Release a restored database: send its pending deliveries.")
		.option("--url <url>", "the service (POSTHORN_URL); by default, the one on this machine")
		.option(
			"--skip <webhooks>",
			"leave out the pending deliveries of these webhooks (ids separated by commas, or all); can be repeated",
			many,
		)
		.option("--yes", "don't ask")
		.action(async (_, self: Command) => (await import("./client/quarantine.ts")).release(self.optsWithGlobals()));
	addSettings(
		command(
			"doctor",
			"Check what the service needs (settings, database, clock, egress), and report what to fix.",
		).option("--reach <url>", "also connect to this receiver, without sending anything; can be repeated", many),
	).action(async (_, self: Command) => (await import("./service/doctor.ts")).doctor(self.optsWithGlobals()));
	command("migrate", "Migrate a PostgreSQL schema ahead of an upgrade.")
		.option("--database-url <url>", "the database (POSTHORN_DATABASE_URL)")
		.action(async (_, self: Command) => (await import("./service/migrate.ts")).migrate(self.optsWithGlobals()));
	command("operator-key", "Replace the operator's key, and print the new one once.")
		.requiredOption("--new", "create a key")
		.option("--database-url <url>", "the service's database (POSTHORN_DATABASE_URL)")
		.option("--yes", "don't ask")
		.action(async (_, self: Command) =>
			(await import("./service/operator-key.ts")).newOperatorKey(self.optsWithGlobals()),
		);
	command("seal-key", "Replace the secrets that a lost seal key sealed, so that the service starts again.")
		.requiredOption("--lost", "give up the secrets that the current key doesn't open")
		.option("--database-url <url>", "the service's database (POSTHORN_DATABASE_URL)")
		.option("--yes", "don't ask")
		.action(async (_, self: Command) =>
			(await import("./service/seal-key.ts")).replaceLostSealKey(self.optsWithGlobals()),
		);
	command("setup-link", "Print the link that creates your account, if the service runs without a terminal.")
		.option("--database-url <url>", "the service's database (POSTHORN_DATABASE_URL)")
		.action(async (_, self: Command) =>
			(await import("./service/setup-link.ts")).printSetupLink(self.optsWithGlobals()),
		);
	command("alert", "Send a test alert to POSTHORN_ALERT_URL, to check what receives alerts.")
		.option("--new-secret", "instead print a new secret for POSTHORN_ALERT_SECRET")
		.action(async (_, self: Command) => (await import("./service/alert.ts")).alert(self.optsWithGlobals()));
	addClientCommands(program);
	return program;
}

import { fileVariableOf, flagOf, hasFlag, SETTINGS, variableOf } from "@posthorn/server/config";
import { type Command, Option } from "commander";

export const EXAMPLES = {
	posthorn: `
Examples:
  posthorn serve                     run on http://127.0.0.1:8420 with the database in ./data
  posthorn serve --help              list all settings
  posthorn backup backup.db          copy the database while the service runs
  posthorn restore backup.db         restore a copy; nothing is sent until posthorn release
  posthorn doctor                    check what the service needs, and report what to fix

For developers of receivers:
  posthorn login --url https://hooks.example.com
  posthorn listen 3000/hooks         forward events to port 3000 of this machine, signed
  posthorn trigger purchase.completed --to 3000/hooks
  posthorn verify --body body.json --timestamp 1795232856 --signature 5257a8…`,
	serve: `
Each setting can also be an environment variable, shown in parentheses; the flag takes precedence. A variable that ends
in _FILE names a file with the value.

Examples:
  posthorn serve
  posthorn serve --port 9000 --database-url sqlite:/var/lib/posthorn/posthorn.db
  POSTHORN_OPERATOR_KEY="$(openssl rand -hex 32)" posthorn serve

Then, with the operator's key:
  curl -X POST http://127.0.0.1:8420/v1/projects -H "Authorization: Bearer $KEY" \\
    -H "Content-Type: application/json" -d '{"name": "My store"}'

The API reference is at /docs while the service runs. With --json, the log is JSON even at a terminal, and so are the
addresses printed at startup, on standard error.`,
	doctor: `
It takes the settings of "posthorn serve", changes nothing, and can run alongside the service. With --reach it also
connects to a receiver as a delivery would, up to the verified TLS connection, and sends nothing. If that fails, it
shows the certificate that was rejected, or what name servers answered. Exit code 1 if the service couldn't run with
these settings, or the receiver can't be reached.

Examples:
  posthorn doctor
  posthorn doctor --database-url postgres://posthorn@db.internal/posthorn
  posthorn doctor --reach https://hooks.example.com/posthorn`,
	migrate: `
Every node does this at startup. Run it separately to migrate before the first node of a new version starts.

Example:
  posthorn migrate --database-url postgres://posthorn@db.internal/posthorn`,
	"operator-key": `
For a lost or leaked key. Only a hash of the key is stored, so the current one can't be shown. With PostgreSQL, nodes
may keep running: they use the new key within 5 seconds. With SQLite, stop the service first. If the key is set in
POSTHORN_OPERATOR_KEY, change it there instead. Sessions and projects' API keys aren't affected. Like starting the
service, the command migrates the database to this version's schema.

Examples:
  posthorn operator-key --new
  posthorn operator-key --new --yes --env-file /etc/posthorn/posthorn.env > operator-key.txt`,
	"seal-key": `
Use it only if you can't find the key: not in a backup, not in a secret store, and not on a machine where a node still
runs. To replace a key that isn't lost, list two keys instead: see docs/operations/backup.md.

Stop the service first, and copy the database: this can't be undone. With SQLite, the command creates a new key file if
there is none, so move a damaged one away. Otherwise it uses the configured key, so set a new POSTHORN_SEAL_KEY first.
Webhooks whose secrets the key can't open are paused, and their secrets are discarded. Their events are kept, and wait. If
the command is interrupted, run it again. Like starting the service, it migrates the database to this version's schema.

Then start the service. For each of these webhooks (the projects' audit logs list them, too), rotate the secret, give the
new one to the receiver, and resume the webhook.

Examples:
  posthorn seal-key --lost
  posthorn seal-key --lost --env-file /etc/posthorn/posthorn.env`,
	alert: `
It signs and sends the test alert as the service would, and says whether the receiver accepted it with a 2xx status. Run
it with the service's settings, on a machine where the service runs.

Examples:
  posthorn alert
  posthorn alert --new-secret
  posthorn alert --env-file /etc/posthorn/posthorn.env`,
	"setup-link": `
At a terminal, posthorn serve prints this link itself. Otherwise its output may be a log that others read. With SQLite,
run this command in the service's folder, as its user. With PostgreSQL it works anywhere, with the settings of a node.
Once the account exists, there is no link: sign in.

Examples:
  posthorn setup-link
  docker compose exec posthorn posthorn setup-link`,
	backup: `
The copy is a database like the original; posthorn restore puts it in place. The seal key (a file next to the database,
or POSTHORN_SEAL_KEY) isn't part of it: store a copy of that separately.

Examples:
  posthorn backup /backups/posthorn-$(date +%F).db
  posthorn backup copy.db --database-url sqlite:/var/lib/posthorn/posthorn.db`,
	restore: `
Stop the service first, and run this command as the service's user. With SQLite it checks the backup and the seal key,
and replaces the database with a copy of the backup; the previous database is kept under another name. With PostgreSQL,
restore the backup with PostgreSQL's own tools, then run this command without a file.

The database is then in quarantine. The service starts, and accepts and logs events, but sends nothing: its pending
deliveries are as old as the backup, so receivers may already have them. "posthorn quarantine" lists them, and
"posthorn release" sends them. The quarantine applies to every node, and restarts don't end it.

Examples:
  posthorn restore /backups/posthorn-2026-11-24.db
  posthorn restore /backups/posthorn-2026-11-24.db --database-url sqlite:/var/lib/posthorn/posthorn.db --yes
  posthorn restore --env-file /etc/posthorn/posthorn.env     # PostgreSQL, after pg_restore`,
	quarantine: `
It needs the operator's key: from POSTHORN_OPERATOR_KEY, POSTHORN_API_KEY, or on the service's machine the file
posthorn.operatorkey next to the database. A key from "posthorn login" is used only if its service is named with --url
or POSTHORN_URL.

Examples:
  posthorn quarantine
  posthorn quarantine --env-file /etc/posthorn/posthorn.env --json`,
	release: `
Shows what will be sent, and asks. Events are sent in order, with their original ids: receivers that skip duplicates won't
handle anything again that they got after the backup. With --skip a webhook continues with the next event: its backlog isn't
sent, and its pending retries end with the reason skipped.

Examples:
  posthorn release
  posthorn release --skip wh_…,wh_…
  posthorn release --skip all --yes`,
};

export const examples = (command: keyof typeof EXAMPLES): string => EXAMPLES[command];

/** Columns of a help text, if it isn't shown at a terminal. */
const HELP_WIDTH = 80;
const INDENT = "    ";

/** Adds a flag for every setting, grouped, with its meaning, default and variable. */
export function addSettings(command: Command): Command {
	const secrets: [names: string, text: string][] = [];
	for (const setting of Object.values(SETTINGS)) {
		const shown = setting.defaultText ?? setting.default;
		const names = [variableOf(setting), fileVariableOf(setting) ?? []].flat().join(" or ");
		const text = `${setting.meaning} Default: ${shown}. (${names})`;
		const option = new Option(`${flagOf(setting)} <${setting.placeholder}>`, text).helpGroup(`${setting.group}:`);
		// Reading the configuration refuses them, and says what to use instead.
		command.addOption(hasFlag(setting) ? option : option.hideHelp());
		if (!hasFlag(setting)) secrets.push([names, `${setting.meaning} Default: ${shown}.`]);
	}
	return command.addHelpText("after", () => {
		const width = command.configureOutput().getOutHelpWidth?.() ?? HELP_WIDTH;
		const indented = (text: string) =>
			command
				.createHelp()
				.boxWrap(text, width - INDENT.length)
				.replaceAll(/^/gm, INDENT);
		return `\nSecrets, which have no flags:\n${secrets.map(([names, text]) => `  ${names}\n${indented(text)}`).join("\n")}`;
	});
}

import { flagOf, SETTINGS, variableOf } from "@posthorn/server/config";
import { type Command, Option } from "commander";

const EXAMPLES = {
	posthorn: `
Examples:
  posthorn serve                     run on http://127.0.0.1:8420 with its database in ./data
  posthorn serve --help              everything that can be set
  posthorn backup backup.db          copy the database while the service runs
  posthorn doctor                    what the service would meet, and what to mend`,
	serve: `
Each setting can also be given as an environment variable, named behind its meaning; a flag wins over it.

Examples:
  posthorn serve
  posthorn serve --port 9000 --database-url sqlite:/var/lib/posthorn/posthorn.db
  POSTHORN_OPERATOR_KEY="$(openssl rand -hex 32)" posthorn serve

Then, with the operator's key:
  curl -X POST http://127.0.0.1:8420/v1/projects -H "Authorization: Bearer $KEY" \\
    -H "Content-Type: application/json" -d '{"name": "My store"}'

The API's reference is at /docs while the service runs.`,
	doctor: `
It takes the settings of "posthorn serve", changes nothing, and may run beside the service. With --reach it also goes the
way to a receiver as a delivery does, up to the verified TLS connection, and sends nothing. Exit code 1 if the service
could not run like this, or the receiver cannot be reached.

Examples:
  posthorn doctor
  posthorn doctor --database-url postgres://posthorn@db.internal/posthorn
  posthorn doctor --reach https://hooks.example.com/posthorn`,
	migrate: `
Every node does this when it starts; run it by itself to have it done before the first node of a new version starts.

Example:
  posthorn migrate --database-url postgres://posthorn@db.internal/posthorn`,
	backup: `
The copy is a database like the original; to restore, stop the service and put it in its place. The seal key (a file
beside the database, or POSTHORN_SEAL_KEY) is not in it: keep a copy of that, too, in another place.

Examples:
  posthorn backup /backups/posthorn-$(date +%F).db
  posthorn backup copy.db --database-url sqlite:/var/lib/posthorn/posthorn.db`,
};

export const examples = (command: keyof typeof EXAMPLES): string => EXAMPLES[command];

/** A flag for every setting, grouped, with its meaning, default and variable. */
export function addSettings(command: Command): Command {
	for (const setting of Object.values(SETTINGS)) {
		const shown = setting.defaultText ?? setting.default;
		const text = `${setting.meaning} Default: ${shown}. (${variableOf(setting)})`;
		command.addOption(new Option(`${flagOf(setting)} <${setting.placeholder}>`, text).helpGroup(`${setting.group}:`));
	}
	return command;
}

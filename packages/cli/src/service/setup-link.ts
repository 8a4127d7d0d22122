import { readFileSync } from "node:fs";
import { createSetupToken, setupLink } from "@posthorn/server/accounts";
import { localUrl } from "@posthorn/server/config";
import { note, printJson } from "../client/output.ts";
import { CommandError } from "../command-error.ts";
import { configOf } from "../flags.ts";
import { isThere } from "../is-there.ts";

export interface SetupLinkOptions {
	readonly databaseUrl?: string;
	readonly json?: boolean;
}

const PASSWORD_LOST =
	"If the account's password is lost, POST /v1/sign-in-links with the operator's key creates a link that signs in.";

/**
 * `posthorn setup-link`: prints the link that creates the operator's account. With SQLite it is the one that the running
 * service has left in a file; with PostgreSQL this command creates one.
 */
export async function printSetupLink({ databaseUrl, json }: SetupLinkOptions): Promise<void> {
	const { database, setupLinkFile, publicUrl, ...listen } = configOf({ databaseUrl });
	const isStored = database.engine === "sqlite";
	const url = isStored ? storedLink(setupLinkFile) : await newLink(database.url, publicUrl ?? localUrl(listen));
	if (json) printJson({ setup_url: url });
	else console.log(url);
	const validFrom = isStored ? " after the service's last start" : "";
	note(`It creates the operator's account, works once, and is valid for a week${validFrom}.`);
}

function storedLink(file: string | null): string {
	if (file !== null && isThere(file)) return readFileSync(file, "utf8").trim();
	throw new CommandError(
		[
			`There is no setup link in ${file}.`,
			"Either the operator's account exists, or the service hasn't started here yet, or it started at a terminal and printed the link there.",
			"Unless the account exists, start or restart the service to get a new link.",
			PASSWORD_LOST,
		],
		1,
	);
}

async function newLink(databaseUrl: string, serviceUrl: string): Promise<string> {
	const { openPostgresStorage } = await import("@posthorn/server/storage/postgres");
	const clock = { now: Date.now };
	// Nodes of an earlier version may be running.
	const storage = await openPostgresStorage({ clock, url: databaseUrl, migrates: false });
	try {
		const token = await createSetupToken(storage, clock.now());
		if (token === null) throw new CommandError(["The operator's account exists already: sign in.", PASSWORD_LOST], 1);
		return setupLink(serviceUrl, token);
	} finally {
		await storage.close();
	}
}

import { type Config, makeSealKeys, readSealKeyFile } from "@posthorn/server/config";
import { findUnopened, replaceUnopened, startsWith, type UnopenedWebhook } from "@posthorn/server/lost-seal-key";
import { openSqliteStorage } from "@posthorn/server/storage/sqlite";
import { confirm } from "../client/confirm.ts";
import { clean, note, plural, printJson, printTable } from "../client/output.ts";
import { CommandError, UsageError } from "../command-error.ts";
import { configOf } from "../flags.ts";
import { isThere } from "../is-there.ts";

export interface LostSealKeyOptions {
	readonly databaseUrl?: string;
	readonly yes?: boolean;
	readonly json?: boolean;
}

const CLOCK = { now: Date.now };
/** How many webhooks the question names. */
const NAMED = 3;
/** How many webhooks are processed between two lines about progress. */
const STEP = 500;

/**
 * `posthorn seal-key --lost`: makes a database usable whose seal key is lost. Webhooks whose secrets the current key
 * doesn't open are paused; their owners then rotate the secrets and resume them.
 */
export async function replaceLostSealKey({ databaseUrl, yes, json }: LostSealKeyOptions): Promise<void> {
	const config = configOf({ databaseUrl });
	const storage = await open(config);
	try {
		const keys = currentKeys(config);
		const unopened = await findUnopened(storage, keys);
		const { starts, webhooks } = unopened;
		if (starts && webhooks.length === 0) note("Nothing to do: the seal key opens every secret.");
		else {
			const hidden = starts ? null : hiddenKeys(config);
			if (hidden !== null && (await startsWith(storage, hidden)))
				throw new UsageError([
					`The seal key isn't lost: ${config.sealKeyFile} has it, but POSTHORN_SEAL_KEY (or _FILE) is set to another one. Remove that setting.`,
				]);
			await confirm(
				`${keys ? "Use this seal key" : "Create a seal key"}, and give up what it doesn't open? This pauses ${plural(webhooks.length, "webhook")}${namesOf(webhooks)}, and can't be undone, even if the lost key is found later.`,
				yes,
			);
			// While the question waited, a node with another key may have started.
			await expectUnused(config);
			await replaceUnopened(storage, keys ?? newKeys(config), unopened, CLOCK, (count) => {
				if (count % STEP === 0)
					note(`Replaced the secrets of ${count.toLocaleString("en-US")} of ${plural(webhooks.length, "webhook")}.`);
			});
			if (webhooks.length === 0) note("No webhook needs a new secret. Start the service.");
		}
		report(webhooks, json);
	} finally {
		await storage.close();
	}
}

/** The first of these webhooks with their projects, in parentheses; "" if there are none. */
export function namesOf(webhooks: readonly Pick<UnopenedWebhook, "description" | "url" | "projectName">[]): string {
	if (webhooks.length === 0) return "";
	const names = webhooks
		.slice(0, NAMED)
		.map(({ description, url, projectName }) => clean(`${description || url} of ${projectName}`));
	const more = webhooks.length - NAMED;
	return ` (${names.join("; ")}${more > 0 ? `; and ${more.toLocaleString("en-US")} more` : ""})`;
}

function report(replaced: readonly UnopenedWebhook[], json: boolean | undefined): void {
	if (json) {
		printJson({ paused: replaced.map(({ projectId, id, url }) => ({ project_id: projectId, id, url })) });
		return;
	}
	if (replaced.length === 0) return;
	printTable(
		["PROJECT", "WEBHOOK", "URL"],
		replaced.map(({ projectId, id, url }) => [projectId, id, url]),
	);
	note(
		"These webhooks are paused. Start the service, then for each: rotate its secret, give the new one to its receiver, and resume it.",
	);
}

/** Null if there is none yet. */
function currentKeys({ sealKeys, sealKeyFile }: Config): readonly Uint8Array[] | null {
	return sealKeys ?? (sealKeyFile === null ? null : asSetting(() => readSealKeyFile(sealKeyFile)));
}

function newKeys({ sealKeyFile, database }: Config): readonly Uint8Array[] {
	if (sealKeyFile === null || database.engine !== "sqlite")
		throw new Error("With PostgreSQL, the seal key is required.");
	const keys = asSetting(() => makeSealKeys(sealKeyFile, database.path).keys);
	note(`Created the seal key ${sealKeyFile}: store a copy separately.`);
	return keys;
}

function asSetting<T>(read: () => T): T {
	try {
		return read();
	} catch (error) {
		throw new UsageError([(error as Error).message]);
	}
}

/** The keys in the file if the settings have others, which take precedence; null if there are none. */
const hiddenKeys = ({ sealKeys, sealKeyFile }: Config): readonly Uint8Array[] | null =>
	sealKeys === null || sealKeyFile === null ? null : asSetting(() => readSealKeyFile(sealKeyFile));

/** A node that runs has the key in memory, and couldn't open what is sealed with another one. */
async function expectUnused({ database }: Config): Promise<void> {
	// A SQLite file belongs to one process.
	if (database.engine === "sqlite") return;
	const { expectNoNodes } = await import("@posthorn/server/storage/postgres");
	await expectNoNodes(database.url);
}

async function open(config: Config) {
	const { database } = config;
	if (database.engine === "postgres") {
		await expectUnused(config);
		const { openPostgresStorage } = await import("@posthorn/server/storage/postgres");
		return openPostgresStorage({ clock: CLOCK, url: database.url });
	}
	const { path } = database;
	if (!isThere(path))
		throw new UsageError([`The database ${path} doesn't exist. Put it, or a copy of it, there first.`]);
	try {
		return await openSqliteStorage({ clock: CLOCK, path });
	} catch (error) {
		if ((error as { code?: unknown }).code !== "in_use") throw error;
		throw new CommandError([(error as Error).message, "Stop the service, then run this command again."], 1);
	}
}

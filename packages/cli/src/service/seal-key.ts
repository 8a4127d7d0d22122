import {
	type Config,
	makeSealKeys,
	openSealCheck,
	SEAL_CHECK,
	Seal,
	sealCheck,
	storedSealKeys,
} from "@posthorn/server/config";
import { findUnopened, replaceUnopened, type UnopenedWebhook } from "@posthorn/server/lost-seal-key";
import { openSqliteStorage } from "@posthorn/server/storage/sqlite";
import { confirm } from "../client/confirm.ts";
import { note, plural, printJson, printTable } from "../client/output.ts";
import { CommandError, UsageError } from "../command-error.ts";
import { configOf } from "../flags.ts";
import { isThere } from "../is-there.ts";

export interface LostSealKeyOptions {
	readonly databaseUrl?: string;
	readonly yes?: boolean;
	readonly json?: boolean;
}

/**
 * `posthorn seal-key --lost`: makes a database usable whose seal key is lost. Webhooks whose secrets the current key
 * doesn't open are paused and get new secrets, to be rotated by their owners.
 */
export async function replaceLostSealKey({ databaseUrl, yes, json }: LostSealKeyOptions): Promise<void> {
	const config = configOf({ databaseUrl });
	const storage = await open(config);
	let replaced: readonly UnopenedWebhook[];
	try {
		const keys = currentKeys(config);
		const check = await storage.getSetting({ name: SEAL_CHECK });
		replaced = await findUnopened(storage, keys && new Seal(keys));
		if (keys !== null && replaced.length === 0 && check !== null && fits(new Seal(keys), check)) {
			note("Nothing to do: the seal key opens every secret.");
		} else {
			await confirm(
				`${keys ? "Use this seal key" : "Create a seal key"}, and give up what it doesn't open? ${plural(replaced.length, "webhook")} will be paused and need new secrets, even if the lost key is found later.`,
				yes,
			);
			const seal = new Seal(keys ?? newKeys(config));
			await replaceUnopened(storage, seal, replaced);
			// Last, so that a service doesn't start on a half-finished database.
			await storage.setSetting({ name: SEAL_CHECK, value: sealCheck(seal) });
		}
	} finally {
		await storage.close();
	}
	report(replaced, json);
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
	return sealKeys ?? (sealKeyFile === null ? null : asSetting(() => storedSealKeys(sealKeyFile)));
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

function fits(seal: Seal, check: string): boolean {
	try {
		openSealCheck(seal, check);
		return true;
	} catch {
		return false;
	}
}

async function open({ database }: Config) {
	const options = { clock: { now: Date.now } };
	if (database.engine === "postgres") {
		const { expectNoNodes, openPostgresStorage } = await import("@posthorn/server/storage/postgres");
		// A node that runs has the key in memory, and couldn't open what is sealed with another one.
		await expectNoNodes(database.url);
		return openPostgresStorage({ ...options, url: database.url });
	}
	const { path } = database;
	if (!isThere(path))
		throw new UsageError([`The database ${path} doesn't exist. Put it, or a copy of it, there first.`]);
	try {
		return await openSqliteStorage({ ...options, path });
	} catch (error) {
		if ((error as { code?: unknown }).code !== "in_use") throw error;
		throw new CommandError([(error as Error).message, "Stop the service, then run this command again."], 1);
	}
}

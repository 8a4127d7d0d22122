import { PROJECTS, ROOM } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";
import type { Storage, StorageError } from "../port.ts";
import { addGauges } from "../shared/gauges.ts";
import { Room } from "../shared/room.ts";
import { Channel } from "./connection/channel.ts";
import type { WorkerSetup } from "./connection/wire.ts";
import { callsOf } from "./verbs.ts";

export { backupSqlite, type RestoredFile, restoreSqlite } from "./connection/backup.ts";
export { backupError, isOverQuota } from "./connection/errors.ts";
export { targetOf } from "./connection/files.ts";
export { readSqliteSetting } from "./migrations/index.ts";

export interface SqliteOptions {
	/** The database file. It and its directory are created if they don't exist. */
	readonly path: string;
	readonly clock: Pick<Clock, "now">;
	/** By default, that of budgets.ts. */
	readonly leaseTermMs?: number;
	/**
	 * Called once when one of the database's threads ends unexpectedly, or a path no longer leads to the file that is open.
	 * From then on calls reject as `lost`, until the database is closed and opened again.
	 */
	readonly onDeath?: (error: StorageError) => void;
}

/**
 * Opens the database for this process only, and migrates it. Rejects with a StorageError: `in_use` if another process
 * uses it, `unusable` if the file is damaged, newer than this version, or not writable.
 */
export async function openSqliteStorage({
	path,
	clock,
	leaseTermMs = PROJECTS.leaseTermMs,
	onDeath,
}: SqliteOptions): Promise<Storage> {
	let dead = false;
	const died = (error: StorageError): void => {
		if (!dead) onDeath?.(error);
		dead = true;
	};
	const opened: Channel[] = [];
	const open = async (role: WorkerSetup["role"]): Promise<Channel> => {
		const channel = await Channel.open({ path, role, leaseTermMs }, died);
		opened.push(channel);
		return channel;
	};
	try {
		const writer = await open("writer");
		const reader = await open("reader");
		await open("checkpointer");
		const { pingWriter, pingReader, makeLarger, makeSmaller, readGauges, ...verbs } = callsOf({ writer, reader }, () =>
			clock.now(),
		);
		const room = new Room(async () => {
			await makeLarger(ROOM.probeBytes);
			await makeSmaller(undefined);
		});
		writer.onFailed = (error) => room.failed(error);
		return {
			...verbs,
			peers: null,
			// There is only one.
			epoch: "1.00000000",
			async ping() {
				await room.check();
				await Promise.all([pingWriter(undefined), pingReader(undefined)]);
			},
			async gauges() {
				let slice = await readGauges(0);
				let sum = slice.gauges;
				while (slice.next !== null) {
					slice = await readGauges(slice.next);
					sum = addGauges(sum, slice.gauges);
				}
				return sum;
			},
			close: () => closeAll(opened),
		};
	} catch (error) {
		await closeAll(opened);
		throw error;
	}
}

/** Closes the writer last: the last connection to close checkpoints the write-ahead log. */
async function closeAll(opened: readonly Channel[]): Promise<void> {
	for (const channel of opened.toReversed()) await channel.close();
}

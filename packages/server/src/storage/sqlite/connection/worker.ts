/**
 * A thread with one connection. The *writer* has the only connection that writes, and the lock on the database. It runs
 * all calls that are waiting in its port in one transaction and responds after the commit, so calls that arrive during
 * a commit share the next one. The *reader* responds to calls one by one, each from one state of the database, which
 * includes everything the writer has responded to.
 */
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { COMMITS } from "../../../base/budgets.ts";
import { sendWarnings } from "../../../base/logger.ts";
import { freeAllLeases } from "../leases/leases.ts";
import { migrate } from "../migrations/index.ts";
import { OPERATIONS } from "../verbs.ts";
import { Connection, commitTogether, type Outcome, openReader, openWriter } from "./connection.ts";
import { storageError, toNote } from "./errors.ts";
import { ExclusiveLock, makeFile, makeFolder, refuseOtherNames } from "./files.ts";
import { OpenFiles } from "./open-files.ts";
import { CLOSE, type FromWorker, memoryOf, type Reply, type Request, transferOf, type WorkerSetup } from "./wire.ts";

/** Maximum number of calls in one commit. */
const MAX_BATCH_CALLS = 256;

const { path, role, leaseTermMs } = workerData as WorkerSetup;
const port = parentPort!;
const send = (message: FromWorker, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);

sendWarnings((warning) => send(["warning", warning]));

interface Opened {
	readonly connection: Connection;
	/** Only the writer has these two. */
	readonly lock: ExclusiveLock | null;
	readonly files: OpenFiles | null;
}

function open(): Opened {
	if (role === "reader") return { connection: new Connection(openReader(path)), lock: null, files: null };
	makeFolder(path);
	const lock = new ExclusiveLock(path);
	try {
		makeFile(path);
		refuseOtherNames(path);
		const db = openWriter(path);
		migrate(db, path);
		const connection = new Connection(db);
		freeAllLeases(connection);
		return { connection, lock, files: new OpenFiles(db, path) };
	} catch (error) {
		lock.release();
		throw error;
	}
}

function serve({ connection, lock, files }: Opened): void {
	const endWatch = files?.watch((error) => {
		send(["lost", toNote(error)]);
		port.close();
	});
	port.on("message", (first: Request) => {
		const requests = gather(first);
		const last = requests.at(-1)!;
		const calls = endsHere(last) ? requests.slice(0, -1) : requests;
		const runs = calls.map(
			([, operation, p, now]) =>
				() =>
					OPERATIONS[operation]!.run(connection, p as never, { now, until: now + leaseTermMs }),
		);
		if (role === "writer") answer(calls, runs.length === 0 ? [] : commitTogether(connection, runs));
		else for (const [i, call] of calls.entries()) answer([call], [readOnce(connection, runs[i]!)]);
		if (endsHere(last)) {
			endWatch?.();
			const error = files?.close() ?? null;
			connection.close();
			lock?.release();
			answer([last], [error === null ? { ok: true, value: null } : { ok: false, error }]);
			port.close();
		}
	});
}

/** The calls waiting in the port, in order, up to the limits of a batch. */
function gather(first: Request): Request[] {
	const requests = [first];
	let bytes = sizeOf(first);
	let last = first;
	while (!endsHere(last) && requests.length < MAX_BATCH_CALLS && bytes < COMMITS.sqliteBytes) {
		const next = receiveMessageOnPort(port) as { message: Request } | undefined;
		if (next === undefined) break;
		last = next.message;
		requests.push(last);
		bytes += sizeOf(last);
	}
	return requests;
}

const endsHere = ([, operation]: Request): boolean => operation === CLOSE;

const sizeOf = ([, , p]: Request): number => memoryOf(p)?.length ?? 0;

/** Everything that an operation reads is from one state. */
function readOnce(connection: Connection, run: () => unknown): Outcome {
	try {
		connection.run("BEGIN");
		const value = run();
		connection.run("COMMIT");
		return { ok: true, value };
	} catch (error) {
		if (connection.db.isTransaction) connection.db.exec("ROLLBACK");
		return { ok: false, error };
	}
}

function answer(calls: readonly Request[], outcomes: readonly Outcome[]): void {
	const replies = outcomes.map((outcome, i): Reply => {
		const [id] = calls[i]!;
		if (outcome.ok) return [id, true, outcome.value];
		return [id, false, toNote(storageError(outcome.error, path))];
	});
	if (replies.length > 0) send(["replies", replies], transferOf(replies.map(([, ok, value]) => ok && value)));
}

try {
	serve(open());
	send(["opened"]);
} catch (error) {
	send(["not_opened", toNote(storageError(error, path))]);
	port.close();
}

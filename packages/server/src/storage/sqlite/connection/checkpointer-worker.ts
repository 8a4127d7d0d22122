/**
 * The checkpointer's thread: a connection that serves no calls except the one to close. A separate program, because
 * loading what the other threads serve would take longer than everything else at its start.
 */
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { sendWarnings } from "../../../base/logger.ts";
import { checkpointBeside } from "./checkpointer.ts";
import { BUSY_TIMEOUT_MS } from "./connection.ts";
import { storageError, toNote } from "./errors.ts";
import type { FromWorker, Request, WorkerSetup } from "./wire.ts";

const { path } = workerData as WorkerSetup;
const port = parentPort!;
const send = (message: FromWorker) => port.postMessage(message);
sendWarnings((warning) => send(["warning", warning]));

try {
	const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
	const end = checkpointBeside(db);
	port.once("message", ([id]: Request) => {
		end();
		db.close();
		send(["replies", [[id, true, null]]]);
		port.close();
	});
	send(["opened"]);
} catch (error) {
	send(["not_opened", toNote(storageError(error, path))]);
	port.close();
}

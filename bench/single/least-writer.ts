/** Commits events and outcomes durably: a table and an index for each. */
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";

/** Columns of new events, and project, number, status and duration of each outcome. */
export interface Batch {
	readonly projects: number[];
	readonly seqs: number[];
	readonly bodies: string[];
	readonly settled: number[];
}

const db = new DatabaseSync(workerData as string);
db.exec(`
	PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 8000;
	CREATE TABLE events (no INTEGER PRIMARY KEY, project INTEGER, seq INTEGER, body TEXT);
	CREATE UNIQUE INDEX events_by_seq ON events (project, seq);
	CREATE TABLE attempts (no INTEGER PRIMARY KEY, project INTEGER, seq INTEGER, status INTEGER, ms REAL);
	CREATE INDEX attempts_by_event ON attempts (project, seq)`);
const event = db.prepare("INSERT INTO events (project, seq, body) VALUES (?, ?, ?)");
const attempt = db.prepare("INSERT INTO attempts (project, seq, status, ms) VALUES (?, ?, ?, ?)");
const [begin, commit] = [db.prepare("BEGIN IMMEDIATE"), db.prepare("COMMIT")];

parentPort!.on("message", ({ projects, seqs, bodies, settled }: Batch) => {
	begin.run();
	for (const [n, project] of projects.entries()) event.run(project, seqs[n]!, bodies[n]!);
	for (let n = 0; n < settled.length; n += 4)
		attempt.run(settled[n]!, settled[n + 1]!, settled[n + 2]!, settled[n + 3]!);
	commit.run();
	parentPort!.postMessage(null);
});

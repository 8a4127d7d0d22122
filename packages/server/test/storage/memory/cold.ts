/**
 * The cold verbs of a database in memory run on a private SQLite database with the product's schema, opened on first
 * use, so worlds without accounts never open one. The projects that its rows refer to are copied into it.
 */
import { DatabaseSync } from "node:sqlite";
import { Connection, commitTogether } from "../../../src/storage/sqlite/connection/connection.ts";
import { migrate } from "../../../src/storage/sqlite/migrations/index.ts";
import { runVerb, type VerbContext } from "../../../src/storage/sqlite/verbs.ts";
import { type ColdStorage, VERBS } from "../../../src/storage/verbs/index.ts";
import type { Mode, Steps, Verb } from "../../../src/storage/verbs/verb.ts";
import type { MemoryNode } from "./node.ts";
import type { ProjectRow } from "./rows.ts";

/** Its content at one time; null before it was opened. */
export interface ColdCopy {
	readonly version: number;
	readonly bytes: Uint8Array | null;
}

const UNOPENED: ColdCopy = { version: 0, bytes: null };

export class ColdDatabase {
	readonly #projects: () => Iterable<ProjectRow>;
	#connection: Connection | null = null;
	/** Rises with every change. */
	#version = 0;
	#copy = UNOPENED;

	constructor(projects: () => Iterable<ProjectRow>) {
		this.#projects = projects;
	}

	run<R>(mode: Mode, steps: Steps<R>, context: VerbContext): R {
		const connection = this.#open();
		if (mode === "write" || mode === "writeInProject") this.#version += 1;
		const [outcome] = commitTogether(connection, [() => runVerb(connection, steps, context)]);
		if (!outcome!.ok) throw outcome!.error;
		return outcome!.value as R;
	}

	/** Adds a project, or changes it. */
	putProject(project: ProjectRow): void {
		if (this.#connection === null) return;
		this.#version += 1;
		put(this.#connection, project);
	}

	/** Created once per state. */
	copy(): ColdCopy {
		if (this.#copy.version !== this.#version)
			this.#copy = { version: this.#version, bytes: this.#connection!.db.serialize() };
		return this.#copy;
	}

	restore(copy: ColdCopy): void {
		if (this.#version === copy.version) return;
		this.#connection?.close();
		this.#connection = null;
		this.#version = copy.version;
		this.#copy = copy;
		if (copy.bytes === null) return;
		const db = new DatabaseSync(":memory:");
		db.deserialize(copy.bytes);
		this.#connection = new Connection(db);
	}

	/** A setting's value, without opening the database for it; null if it isn't set. */
	setting(name: string): string | null {
		return this.#connection?.row<{ value: string }>("SELECT value FROM settings WHERE name = ?", name)?.value ?? null;
	}

	#open(): Connection {
		if (this.#connection !== null) return this.#connection;
		const db = new DatabaseSync(":memory:");
		migrate(db, ":memory:");
		const connection = new Connection(db);
		for (const project of this.#projects()) put(connection, project);
		this.#connection = connection;
		return connection;
	}
}

function put(connection: Connection, { no, id, name, developer, createdAt }: ProjectRow): void {
	connection.run(PUT, no, id, name, developer ? 1 : 0, createdAt);
}

const PUT = `
	INSERT INTO projects (no, id, name, developer, created_at) VALUES (?, ?, ?, ?, ?)
	ON CONFLICT (no) DO UPDATE SET name = excluded.name, developer = excluded.developer`;

export function coldCalls(node: MemoryNode): ColdStorage {
	const { cold, tables } = node.database;
	const tellPeers = (project: number): void => node.changed(tables.projects.get(project)!.id);
	const calls = Object.entries<Verb>(VERBS).map(([name, { mode, steps }]) => [
		name,
		(p: unknown) =>
			node.run(() =>
				cold.run(mode, (steps as (p: unknown) => Steps<unknown>)(p), { now: node.clock.now(), tellPeers }),
			),
	]);
	return Object.fromEntries(calls) as ColdStorage;
}

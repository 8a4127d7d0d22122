import { BoundedMap } from "../../../base/bounded-map.ts";
import { CACHED_NAMES } from "../../../base/budgets.ts";
import type { Statements } from "./statements.ts";

/**
 * Which number stands for which name. A number is never given to another name, so what was found once stays true; only
 * numbers that were given out in a transaction that did not happen have to be forgotten.
 */
export class Names {
	readonly #sql: Statements;
	readonly #projects = new BoundedMap<string, number>(CACHED_NAMES);
	readonly #webhooks = new BoundedMap<string, { no: number; projectNo: number }>(CACHED_NAMES);
	readonly #webhookIds = new BoundedMap<number, string>(CACHED_NAMES);
	readonly #types = new BoundedMap<string, number>(CACHED_NAMES);
	readonly #typeNames = new BoundedMap<number, string>(CACHED_NAMES);

	constructor(sql: Statements) {
		this.#sql = sql;
	}

	forget(): void {
		this.#projects.clear();
		this.#webhooks.clear();
		this.#webhookIds.clear();
		this.#types.clear();
		this.#typeNames.clear();
	}

	project(id: string): number | null {
		const known = this.#projects.get(id);
		if (known !== undefined) return known;
		const row = this.#sql.get("SELECT no FROM projects WHERE id = ?").get(id);
		if (row === undefined) return null;
		return keep(this.#projects, id, Number(row.no));
	}

	/** The webhook's number if it is one of this project, deleted or not. */
	webhook(projectNo: number, id: string): number | null {
		let found = this.#webhooks.get(id);
		if (found === undefined) {
			const row = this.#sql.get("SELECT no, project_no FROM webhooks WHERE id = ?").get(id);
			if (row === undefined) return null;
			found = keep(this.#webhooks, id, { no: Number(row.no), projectNo: Number(row.project_no) });
		}
		return found.projectNo === projectNo ? found.no : null;
	}

	webhookId(no: number): string {
		const known = this.#webhookIds.get(no);
		if (known !== undefined) return known;
		const row = this.#sql.get("SELECT id FROM webhooks WHERE no = ?").get(no);
		if (row === undefined) throw new Error(`Webhook number ${no} is referred to but not there.`);
		return keep(this.#webhookIds, no, String(row.id));
	}

	/** The code of an event type, or null when no row ever had it. */
	type(name: string): number | null {
		const known = this.#types.get(name);
		if (known !== undefined) return known;
		const row = this.#sql.get("SELECT code FROM event_types WHERE name = ?").get(name);
		return row === undefined ? null : keep(this.#types, name, Number(row.code));
	}

	/** The code of an event type, given to it now if it has none. For the writer. */
	internType(name: string): number {
		const code = this.type(name);
		if (code !== null) return code;
		const made = this.#sql.get("INSERT INTO event_types (name) VALUES (?)").run(name);
		return keep(this.#types, name, Number(made.lastInsertRowid));
	}

	typeName(code: number): string {
		const known = this.#typeNames.get(code);
		if (known !== undefined) return known;
		const row = this.#sql.get("SELECT name FROM event_types WHERE code = ?").get(code);
		if (row === undefined) throw new Error(`Event type ${code} is referred to but not there.`);
		return keep(this.#typeNames, code, String(row.name));
	}

	/** The codes of all event types that any row ever had. */
	allTypes(): number[] {
		return this.#sql
			.get("SELECT code FROM event_types ORDER BY code")
			.all()
			.map((row) => Number(row.code));
	}
}

function keep<K, V>(map: Map<K, V>, key: K, value: V): V {
	map.set(key, value);
	return value;
}

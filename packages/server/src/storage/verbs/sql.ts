/**
 * Statements of cold verbs, written once for both engines.
 *
 * sql`SELECT role FROM posthorn.memberships WHERE account_id = ${accountId}`
 *
 * Values become parameters: `$1` … on PostgreSQL, `?` on SQLite, which has no schema, so `posthorn.` is dropped. The
 * text is built once per template and engine, so both engines find the statement that they have prepared.
 */

type Engine = "postgres" | "sqlite";

type Value = string | number | boolean | null | Uint8Array;

/** A row as both engines return it: integers as numbers, booleans as such, bytes as Uint8Array, JSON parsed. */
export type Row = Record<string, unknown>;

/** A constant part of statements, such as a list of columns; its text may differ by engine. */
export class Fragment {
	readonly texts: Readonly<Record<Engine, string>>;

	constructor(texts: Readonly<Record<Engine, string>>) {
		this.texts = texts;
	}
}

/** The same text on both engines. */
export const fragment = (text: string): Fragment => new Fragment({ postgres: text, sqlite: text });

/** A list as one parameter, within text that makes rows or values of it. */
export type List = readonly [before: Fragment, json: string, after: Fragment];

/** A template with its fragments: what an engine prepares. */
export class Template {
	readonly #strings: readonly string[];
	readonly #parts: readonly (Fragment | Value)[];
	readonly #texts: Partial<Record<Engine, string>> = {};

	constructor(strings: readonly string[], parts: readonly (Fragment | Value)[]) {
		this.#strings = strings;
		// Values differ between calls and aren't kept.
		this.#parts = parts.map((part) => (part instanceof Fragment ? part : null));
	}

	text(engine: Engine): string {
		this.#texts[engine] ??= this.#textFor(engine);
		return this.#texts[engine];
	}

	/** Fragments are part of the text, which is built once: the same template can't be used with others. */
	mustFit(parts: readonly (Fragment | Value)[]): void {
		for (const [i, part] of this.#parts.entries())
			if (part !== (parts[i] instanceof Fragment ? parts[i] : null))
				throw new Error(`The fragments of a statement must be constants: ${this.text("postgres")}`);
	}

	#textFor(engine: Engine): string {
		let parameters = 0;
		const parameter = () => (engine === "postgres" ? `$${++parameters}` : "?");
		const text = this.#strings.reduce((before, string, i) => {
			const part = this.#parts[i - 1]!;
			return `${before}${part === null ? parameter() : (part as Fragment).texts[engine]}${string}`;
		});
		const named = engine === "postgres" ? text : text.replaceAll("posthorn.", "");
		return named.replaceAll(/\s+/g, " ").trim();
	}
}

/** A statement with its values. `R` is the type of its rows, which isn't checked. */
export interface Query<R = Row> {
	readonly template: Template;
	readonly values: readonly Value[];
	/** Never set; only carries the type. */
	readonly row?: R;
}

/** By their strings, which are the same array each time a template is evaluated. */
const templates = new WeakMap<TemplateStringsArray, Template>();

export function sql<R = Row>(strings: TemplateStringsArray, ...given: readonly (Fragment | List | Value)[]): Query<R> {
	const parts = given.flat() as (Fragment | Value)[];
	let template = templates.get(strings);
	if (template === undefined) {
		// A list is three parts, with nothing between them.
		const between = strings.flatMap((string, i) => (Array.isArray(given[i - 1]) ? ["", "", string] : string));
		template = new Template(between, parts);
		templates.set(strings, template);
	} else template.mustFit(parts);
	return { template, values: parts.filter((part): part is Value => !(part instanceof Fragment)) };
}

/** Where the engines' SQL differs. SQLite has one writer, so it needs no locks, and it plans joins in the order given. */

/** Text that only PostgreSQL needs. */
export const only = (postgres: string): Fragment => new Fragment({ postgres, sqlite: "" });

/** At the end of a SELECT: locks its rows against changes until the transaction ends. */
export const forUpdate = only(" FOR NO KEY UPDATE");

/** At the end of a SELECT: skips rows that another transaction has locked, and locks the others. */
export const skipLocked = only(" FOR NO KEY UPDATE SKIP LOCKED");

/**
 * Rows to delete that no other transaction holds, with {@link endUnlocked} at the end of their condition:
 * `WHERE ${unlocked("links", "token_hash")} WHERE expires_at < ${at}${endUnlocked}`. `key`: the table's key on SQLite.
 */
export const unlocked = (table: string, key: string): Fragment =>
	new Fragment({
		postgres: `ctid = ANY (ARRAY(SELECT ctid FROM posthorn.${table}`,
		sqlite: `${key} IN (SELECT ${key} FROM ${table}`,
	});
export const endUnlocked = new Fragment({ postgres: " FOR UPDATE SKIP LOCKED))", sqlite: ")" });

/**
 * Joins a table by its key, row by row: `accounts a`, `a.id = m.account_id`. OFFSET 0 rules out other joins.
 *
 * @param more the end of the condition, if it differs by engine
 */
export const joinByKey = (table: string, on: string, more = fragment("")): Fragment =>
	new Fragment({
		postgres: `CROSS JOIN LATERAL (SELECT * FROM posthorn.${table} WHERE ${on}${more.texts.postgres} OFFSET 0) ${table.split(" ")[1]}`,
		sqlite: `CROSS JOIN ${table} ON ${on}${more.texts.sqlite}`,
	});

/** After a boolean column in a condition: SQLite uses its partial index only for this form. */
export const isTrue = new Fragment({ postgres: "", sqlite: " = 1" });

export const greatest = new Fragment({ postgres: "greatest", sqlite: "max" });
export const least = new Fragment({ postgres: "least", sqlite: "min" });

/**
 * `${ofProject} ${project}` limits lanes, subscriptions and retries of a webhook to its project, as PostgreSQL's indexes
 * need. On SQLite a webhook's number is enough: the condition is always true.
 */
export const ofProject = new Fragment({ postgres: "project_no =", sqlite: "0 <" });

/** The same column in a list of columns: SQLite's lanes and subscriptions don't have it. */
export const projectNo = new Fragment({ postgres: "project_no, ", sqlite: "" });

/**
 * SQLite's rows of a JSON array. `json_each` takes twice as long for objects: it writes each as text, which is parsed
 * again. A Node built on a distribution's SQLite may have one from before 3.51, which has only that.
 */
const EACH = Number(process.versions.sqlite?.split(".")[1]) >= 51 ? "jsonb_each" : "json_each";

/** One of a list of texts: `name ${among(names)}`. */
export const among = (texts: readonly string[]): List => [BEFORE_TEXTS, JSON.stringify(texts), AFTER_TEXTS];
const BEFORE_TEXTS = new Fragment({
	postgres: "= ANY (ARRAY(SELECT json_array_elements_text(",
	sqlite: `IN (SELECT value FROM ${EACH}(`,
});
const AFTER_TEXTS = new Fragment({ postgres: "::json)))", sqlite: "))" });

/**
 * Objects as rows `g`, in this order: `FROM ${given(objects)}` for `given = rowsOf("no", "currency text")`.
 *
 * @param columns names of numbers, or of others with their types on PostgreSQL
 */
export function rowsOf(...columns: readonly string[]): (objects: readonly object[]) => List {
	const typed = columns.map((column) => (column.includes(" ") ? column : `${column} bigint`));
	const names = typed.map((column) => column.slice(0, column.indexOf(" ")));
	const read = names.map((name) => `value ->> '${name}' AS ${name}`).join(", ");
	const before = new Fragment({ postgres: "json_to_recordset(", sqlite: `(SELECT ${read} FROM ${EACH}(` });
	const after = new Fragment({ postgres: `::json) AS g (${typed.join(", ")})`, sqlite: ")) AS g" });
	return (objects) => [before, JSON.stringify(objects), after];
}

/** The bytes that a text shows in hexadecimal. */
export const bytesOf = (text: string): Fragment =>
	new Fragment({ postgres: `decode(${text}, 'hex')`, sqlite: `unhex(${text})` });

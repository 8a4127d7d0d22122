import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";

const DAY_MS = 86_400_000;
/** Due baskets of a later call have other ids. */
let dueBaskets = 0;

/** Writes `count` customers, each with an order and a basket due tomorrow, to a stopped service's database. */
export async function writePast(url: string, projectId: string, count: number): Promise<void> {
	const now = Date.now();
	const numbers = { first: 0, last: count - 1 };
	await insert(url, "store_customers (project_no, key)", projectId, numbers, ({ digest }) => digest);
	const order = "store_orders (project_no, order_id, digest, at, events, amount_cents, currency, basket_id)";
	await insert(url, order, projectId, numbers, ({ digest }) =>
		["'order_' || n", digest, now, "'[]'", 1_000, "'EUR'", "'bought_' || n"].join(", "),
	);
	await insertBaskets(url, projectId, numbers, "basket_", now + DAY_MS);
	await tidy(url);
}

/** Writes `count` baskets that have been due for an hour. */
export async function writeDueBaskets(url: string, projectId: string, count: number): Promise<void> {
	const first = dueBaskets;
	dueBaskets += count;
	await insertBaskets(url, projectId, { first, last: first + count - 1 }, "due_", Date.now() - 3_600_000);
}

interface Numbers {
	readonly first: number;
	readonly last: number;
}

function insertBaskets(url: string, projectId: string, numbers: Numbers, name: string, dueAt: number): Promise<void> {
	const basket = "store_baskets (project_no, basket_id, touched_at, due_at, data)";
	const data = `'{"basket_id":"${name}' || n || '","items":[{"name":"VIP rank","quantity":1}]}'`;
	return insert(url, basket, projectId, numbers, () => `'${name}' || n, ${dueAt - DAY_MS}, ${dueAt}, ${data}`);
}

/** Where the engines' SQL differs. */
interface Dialect {
	/** 32 bytes derived from `n`. */
	readonly digest: string;
}

/** Inserts a row for each number `n`: the project's number, then `values` (SQL). */
async function insert(
	url: string,
	into: string,
	projectId: string,
	{ first, last }: Numbers,
	values: (dialect: Dialect) => string,
): Promise<void> {
	const project = `FROM numbers, (SELECT no FROM SCHEMA.projects WHERE id = '${projectId}') project`;
	if (url.startsWith("sqlite:")) {
		const numbers = `WITH RECURSIVE numbers (n) AS (SELECT ${first} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${last})`;
		const digest = "CAST(printf('%032d', n) AS BLOB)";
		const rows = `${numbers} SELECT project.no, ${values({ digest })} ${project.replace("SCHEMA", "main")}`;
		await execute(url, `INSERT INTO ${into} ${rows}`);
	} else {
		const numbers = `WITH numbers AS (SELECT generate_series(${first}::bigint, ${last}::bigint) AS n)`;
		const digest = "sha256(n::text::bytea)";
		const rows = `${numbers} SELECT project.no, ${values({ digest })} ${project.replace("SCHEMA", "posthorn")}`;
		await execute(url, `INSERT INTO posthorn.${into} ${rows}`);
	}
}

/** Does now what databases soon do on their own, so that it doesn't happen during the measurement. */
function tidy(url: string): Promise<void> {
	return execute(url, url.startsWith("sqlite:") ? "PRAGMA wal_checkpoint(TRUNCATE)" : "VACUUM (ANALYZE)");
}

async function execute(url: string, sql: string): Promise<void> {
	if (url.startsWith("sqlite:")) {
		const db = new DatabaseSync(url.slice("sqlite:".length));
		db.exec(sql);
		db.close();
		return;
	}
	const client = new Client({ connectionString: url });
	await client.connect();
	try {
		await client.query(sql);
	} finally {
		await client.end();
	}
}

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { EVENT_TYPES } from "@posthorn/protocol";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { type PastAttempt, writePast } from "../../e2e/past.ts";
import { Shop } from "../../e2e/shop.ts";
import type { Engine } from "../options.ts";
import type { Progress } from "../progress.ts";
import type { LogPages } from "../results.ts";
import { sideBySide } from "../side-by-side.ts";

const ATTEMPTS = 1_000_000;
const WEBHOOKS = 10;
/** The period covered, milliseconds: within the log's retention, and on PostgreSQL a partition for each day. */
const SPAN_MS = 20 * 86_400_000;
/** Requests for each kind of page; the median counts. */
const REQUESTS = 60;
const WARM_UP = 20;
const LIMIT = 50;
/** Most events have the same order id. Of this many, these have one of their own. */
const PER_ORDER = 100;
const ORDER_EVENTS = 6;
const COMMON_ORDER = "ord_10482";
const orderOf = (n: number): string => (n % PER_ORDER < ORDER_EVENTS ? `ord_${n - (n % PER_ORDER)}` : COMMON_ORDER);

/**
 * How much longer a filtered page takes on a log of a million attempts than an empty log, at both ends of the log: than its
 * first page without a filter, and than the same page, which may have nothing to look up.
 */
export async function measureLogPages(engines: readonly Engine[], progress: Progress): Promise<LogPages> {
	const pages: LogPages["pages"][number][] = [];
	for (const engine of engines) {
		const server = engine === "postgres" ? await PostgresServer.start() : null;
		try {
			pages.push(...(await measureEngine(engine, server, progress)));
		} finally {
			await server?.stop();
		}
	}
	return { attempts: ATTEMPTS, pages };
}

async function measureEngine(
	engine: Engine,
	server: PostgresServer | null,
	progress: Progress,
): Promise<LogPages["pages"]> {
	progress.start(`${engine}: pages of a log with a million attempts`);
	const url = await server?.createDatabase();
	await using shop = await Shop.open({
		POSTHORN_LOG_LEVEL: "error",
		POSTHORN_SEAL_KEY: randomBytes(32).toString("base64"),
		...(url !== undefined && { POSTHORN_DATABASE_URL: url }),
	});
	const full = shop.projectId;
	const empty: string = (await shop.post("/v1/projects", { name: "Empty" })).body.id;
	const since = Date.now() - SPAN_MS;
	const events = EVENT_TYPES.map(({ type }) => type);
	const webhooks = [];
	for (let i = 0; i < WEBHOOKS; i++) {
		const url = `https://example.com/${i}`;
		const { id } = await shop.webhook(url, { events });
		webhooks.push({ id, url, events, attemptsOf });
	}
	// The empty log has a webhook as well: another project's would get a response without reading the log.
	const idle = { url: "https://example.com/idle", events };
	const { id: idleId } = (await shop.post(`/v1/projects/${empty}/webhooks`, idle)).body;
	await shop.service.stop();
	// Most deliveries have one attempt, so there are slightly more attempts than deliveries.
	const count = ATTEMPTS / WEBHOOKS;
	const times = Array.from({ length: count }, (_, n) => since + Math.floor((n * SPAN_MS) / count));
	await writePast({
		path: url ?? join(shop.folder, "posthorn.db"),
		projectId: full,
		webhooks,
		times,
		orderOf,
		onProgress: (done) => progress.update(done, count),
	});
	// Does now what PostgreSQL soon does on its own.
	if (url !== undefined) await server!.execute("VACUUM (ANALYZE)", url);
	await shop.start();

	const read = async (path: string) => {
		const { status, body } = await shop.get(path);
		if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
		return body;
	};
	const oldest = `until=${new Date(since + 3_600_000).toISOString()}`;
	const cursor = (await read(`/v1/projects/${full}/attempts/summaries?${oldest}&limit=${LIMIT}`)).next_cursor;
	const event = (await read(`/v1/projects/${full}/attempts/summaries?limit=1`)).data[0].event_id;
	const [{ id }, { id: other }] = [webhooks[3]!, webhooks[5]!];
	const common = {
		none: "",
		webhook: `webhook_id=${id}`,
		type: "type=purchase.completed",
		event: `event_id=${event}`,
		time: `since=${new Date(since).toISOString()}`,
		code: "status_code=5xx",
		error: "error=timeout",
		// The newest of very many events are considered.
		"common order": `order_id=${COMMON_ORDER}`,
		"recent order": `order_id=${orderOf(count - 2 * PER_ORDER)}`,
		"old order": `order_id=${orderOf(2 * PER_ORDER)}`,
	};
	const lists = {
		"attempts/summaries": {
			...common,
			status: "status=failed",
			all: `webhook_id=${id}&type=purchase.completed&status=failed&since=${new Date(since).toISOString()}`,
		},
		deliveries: {
			...common,
			"two webhooks": `webhook_id=${id},${other}`,
			delivered: "state=delivered",
			failed: "state=failed",
			"to decide": "state=failed&unhandled=true",
			all: `webhook_id=${id},${other}&type=purchase.completed,purchase.refunded&state=failed,waiting`,
		},
	};
	const pages: LogPages["pages"][number][] = [];
	for (const [list, filters] of Object.entries(lists))
		for (const [filter, query] of Object.entries(filters))
			for (const end of ["newest", "oldest"] as const) {
				const place = end === "newest" ? "" : `&cursor=${cursor}`;
				const path = `/${list}?limit=${LIMIT}&${query}${place}`;
				const [fullMs, emptyMs, sameMs] = await sideBySide(
					{ requests: REQUESTS, warmUp: WARM_UP },
					() => read(`/v1/projects/${full}${path}`),
					() => read(`/v1/projects/${empty}/${list}?limit=${LIMIT}`),
					() => read(`/v1/projects/${empty}${path.replace(id, idleId)}`),
				);
				const times = { ms: round(fullMs), empty_ms: round(emptyMs), same_ms: round(sameMs) };
				const ratios = { ratio: round(fullMs / emptyMs), same_ratio: round(fullMs / sameMs) };
				pages.push({ engine, list, filter, end, ...times, ...ratios });
			}
	const worst = Math.max(...pages.map(({ ratio }) => ratio));
	progress.finish(`at most ${worst} times an empty log`);
	return pages;
}

/** Every hundredth delivery is retried, every thousandth dead-lettered. */
function attemptsOf(n: number): PastAttempt[] {
	const failed = { statusCode: 500, responseMs: 40 };
	if (n % 1_000 === 7) return Array.from({ length: 8 }, () => failed);
	const delivered = { statusCode: 200, responseMs: 20 + (n % 50) };
	return n % 100 === 3 ? [failed, delivered] : [delivered];
}

const round = (value: number) => Number(value.toFixed(2));

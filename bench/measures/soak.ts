import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { purchase, type Receiver, Shop } from "../../e2e/shop.ts";
import type { Engine } from "../options.ts";
import type { Progress } from "../progress.ts";
import type { Soak } from "../results.ts";

const ROUNDS = 12;
/** Projects in a round: each is used once, by everything that the service offers, and then left behind. */
const PROJECTS = 8;
/** The first rounds load and compile code, and fill caches of limited size. */
const WARM_UP = 2;
/** The last rounds' memory, as a share of that after the warm-up, may be this much. */
export const SOAK_MOST = 1.1;
const EVENTS = 200;
const STREAMS = 10;
const SETTLE_MS = 3_000;
/** The service collects all garbage when it gets this signal. It has `gc`, which it uses when it becomes idle. */
const COLLECT = "SIGUSR2";
const PRELOAD = `data:text/javascript,process.on("${COLLECT}",()=>globalThis.gc())`;

/** What stays in the service's memory after hundreds of projects were used and left, in rounds. */
export async function measureSoak(engines: readonly Engine[], progress: Progress): Promise<readonly Soak[]> {
	const soaks: Soak[] = [];
	for (const engine of engines) soaks.push(await soak(engine, progress));
	return soaks;
}

async function soak(engine: Engine, progress: Progress): Promise<Soak> {
	progress.start(`what stays in memory, ${engine}`);
	const server = engine === "postgres" ? await PostgresServer.start({ own: true }) : null;
	try {
		await using shop = await Shop.open({
			POSTHORN_LOG_LEVEL: "error",
			POSTHORN_RETRY_DELAYS: "0.2,0.2,0.2,0.2",
			...(server && {
				POSTHORN_DATABASE_URL: await server.createDatabase(),
				POSTHORN_SEAL_KEY: randomBytes(32).toString("base64"),
			}),
		});
		await shop.service.kill();
		await shop.start({ nodeOptions: ["--import", PRELOAD] });
		const [accepting, failing] = [await shop.receiver(), await shop.receiver()];
		failing.respondWith(() => ({ status: 500, body: "x".repeat(3_000) }));
		const rounds: Soak["rounds"][number][] = [];
		for (let round = 1; round <= ROUNDS; round++) {
			for (let n = 0; n < PROJECTS; n++) {
				await use(await shop.another(), accepting, failing);
				progress.update((round - 1) * PROJECTS + n + 1, ROUNDS * PROJECTS);
			}
			rounds.push({ projects: round * PROJECTS, ...(await read(shop)) });
		}
		const [first, last] = [rounds[WARM_UP - 1]!, rounds.at(-1)!];
		const ratio = Number((last.heap_mb / first.heap_mb).toFixed(3));
		progress.finish(`${last.heap_mb} MB, ${ratio} times that after ${first.projects} projects`);
		return { engine, rounds, ratio };
	} finally {
		await server?.stop();
	}
}

/** Uses a project as its owner, its publisher and its listeners do, with mistakes and calls that are given up. */
async function use(shop: Shop, accepting: Receiver, failing: Receiver): Promise<void> {
	const path = (rest: string) => shop.path(rest);
	await shop.post(path("/invitations"), { email: shop.projectId.replace("_", "@example."), role: "developer" });
	const { body: key } = await shop.post(path("/api-keys"), { name: "Shop server" });
	const good = await shop.webhook(accepting.url("/hooks"), { description: "accepts" });
	const bad = await shop.webhook(failing.url("/hooks"), { description: "fails" });
	const listening = Array.from({ length: STREAMS }, () => [
		giveUp(shop, path("/changes")),
		giveUp(shop, path("/events?wait=20&after_seq=100000")),
	]).flat();
	for (let n = 0; n < EVENTS; n += 20)
		await Promise.all(Array.from({ length: 20 }, (_, i) => shop.post(path("/events"), purchase(n + i))));
	await shop.post(path("/events"), { events: Array.from({ length: EVENTS }, (_, n) => purchase(n)) });
	await shop.post(path(`/webhooks/${good.id}/test`), { type: "purchase.completed" });
	await shop.post(path(`/webhooks/${good.id}/rotate-secret`), {});
	for (const read of ["/deliveries", "/attempts", "/webhooks/health", "/incidents", "/audit"])
		await shop.get(path(read));
	await shop.get(path("/events/search?text=buyer"));
	await giveUp(shop, path("/attempts/export.jsonl"), 5);
	await shop.call("POST", path("/events"), '{"type":');
	await shop.post("/v1/session", { email: `${shop.projectId}@example.com`, password: "not the password" });
	await shop.post(path("/replays"), { filter: { status: ["failed"] } });
	await shop.post(path(`/webhooks/${bad.id}/retry`), {});
	await Promise.all(listening);
	await shop.delete(path(`/webhooks/${bad.id}`));
	await shop.patch(path(`/webhooks/${good.id}`), { status: "paused" });
	await shop.delete(path(`/api-keys/${key.id}`));
}

/** Begins a call and leaves before it ends. */
async function giveUp(shop: Shop, path: string, afterMs = 500): Promise<void> {
	const leave = new AbortController();
	const headers = { authorization: `Bearer ${shop.operatorKey}` };
	const call = fetch(shop.service.url + path, { headers, signal: leave.signal })
		.then((response) => response.text())
		.catch(() => undefined);
	await setTimeout(afterMs);
	leave.abort();
	await call;
}

/** After a collection, once the service is idle. */
async function read({ service }: Shop): Promise<{ heap_mb: number; descriptors: number }> {
	await setTimeout(SETTLE_MS);
	service.process.kill(COLLECT);
	await setTimeout(SETTLE_MS);
	const metrics = await (await fetch(`${service.url}/metrics`)).text();
	const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(metrics)?.[1]);
	return {
		heap_mb: Number((value("nodejs_heap_size_used_bytes") / 1_048_576).toFixed(2)),
		descriptors: value("process_open_fds"),
	};
}

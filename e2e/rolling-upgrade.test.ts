/**
 * Two nodes of the previous release on one PostgreSQL are replaced by this one's, one after the other, under load. The
 * previous release comes from this repository's history; without it (a shallow clone), there is nothing to upgrade.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
	createAuthority,
	Posthorn,
	patience,
	settingsOfNodes,
	startReceiver,
	until,
	unusedPort,
	writeCaFile,
} from "@posthorn/testkit";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { expect, test } from "vitest";
import { mostOvertaken } from "./order.ts";
import { checkOutPrevious, hasHistory } from "./previous-release.ts";
import { purchase } from "./shop.ts";

const PROJECTS = 8;
const PUBLISHERS = 3;
const CUSTOMERS = 5;
/** Requests acknowledged between two steps. */
const BETWEEN = 150;
/** A publisher's pause between calls, milliseconds: otherwise most requests would be made while a node starts. */
const PACE_MS = 20;

test.skipIf(!hasHistory())(
	"nodes of the previous release are replaced one by one: nothing is lost or out of order",
	{
		timeout: 600_000,
	},
	async () => {
		const server = await PostgresServer.start({ own: true });
		const folder = mkdtempSync(join(tmpdir(), "posthorn-upgrade-"));
		const command = checkOutPrevious(folder);
		const authority = await createAuthority();
		const settings = {
			POSTHORN_DATABASE_URL: await server.createDatabase(),
			...settingsOfNodes(writeCaFile(authority, folder)),
		};
		const start = async (more: { command?: string } = {}): Promise<Posthorn> =>
			Posthorn.start({ settings: { ...settings, POSTHORN_PORT: String(await unusedPort()) }, ...more });
		const arrivals = new Map<string, string[]>();
		let requests = 0;
		const receiver = await startReceiver({
			authority,
			keep: 1,
			respond: ({ path, body }) => {
				const seen = arrivals.get(path) ?? [];
				arrivals.set(path, seen);
				seen.push((body as { id: string }).id);
				// Some are retried, by either release.
				return { status: ++requests % 20 === 0 ? 500 : 200 };
			},
		});
		const nodes: Posthorn[] = [await start({ command }), await start({ command })];
		let turn = 0;

		/** A call of one node after the other; null if it was just being replaced. */
		// biome-ignore lint/suspicious/noExplicitAny: any response of the service
		async function call(method: string, path: string, body?: object): Promise<{ status: number; body: any } | null> {
			const node = nodes[turn++ % nodes.length]!;
			const headers = { authorization: `Bearer ${settings.POSTHORN_OPERATOR_KEY}`, "content-type": "application/json" };
			const options = { method, headers, signal: AbortSignal.timeout(15_000) };
			try {
				const response = await fetch(node.url + path, body ? { ...options, body: JSON.stringify(body) } : options);
				return response.status >= 500 ? null : { status: response.status, body: await response.json() };
			} catch {
				return null;
			}
		}
		const certainly = (method: string, path: string, body?: object) =>
			until(`${method} ${path}`, () => call(method, path, body));

		try {
			const projects = await Promise.all(
				Array.from({ length: PROJECTS }, async (_, i) => {
					const { id } = (await certainly("POST", "/v1/projects", { name: `Store ${i}` })).body;
					const hook = { url: receiver.url(`/${i}`), events: ["purchase.completed", "customer.created"] };
					const webhook = await certainly("POST", `/v1/projects/${id}/webhooks`, hook);
					expect(webhook.status).toBe(201);
					return {
						id: id as string,
						path: `/${i}`,
						webhook: webhook.body.id as string,
						acknowledged: new Set<string>(),
					};
				}),
			);

			let publishing = true;
			let acknowledged = 0;
			let n = 0;
			const publisher = async (): Promise<void> => {
				while (publishing) {
					const mine = n++;
					const project = projects[mine % PROJECTS]!;
					const order = {
						...(purchase(mine) as { data: object }).data,
						customer_email: `buyer${mine % CUSTOMERS}@example.com`,
					};
					const { n: _, ...report } = order as Record<string, unknown>;
					const response =
						mine % 3 === 0
							? await certainly("POST", `/v1/projects/${project.id}/orders`, report)
							: await certainly("POST", `/v1/projects/${project.id}/events`, {
									events: [purchase(mine), purchase(1_000_000 + mine)],
								});
					expect(response.status, JSON.stringify(response.body)).toBeLessThan(300);
					for (const { id } of response.body.events) project.acknowledged.add(id);
					if (mine % 10 === 0)
						await certainly("PATCH", `/v1/projects/${project.id}/webhooks/${project.webhook}`, {
							description: `${mine}`,
						});
					acknowledged++;
					await new Promise((resolve) => setTimeout(resolve, PACE_MS));
				}
			};
			const published = Promise.all(Array.from({ length: PUBLISHERS }, publisher));
			published.catch(() => undefined);
			const more = async (): Promise<void> => {
				const goal = acknowledged + BETWEEN;
				const inTime = patience("requests to be acknowledged");
				while (acknowledged < goal) {
					inTime();
					await new Promise((resolve) => setTimeout(resolve, 10));
				}
			};

			await more();
			for (const index of [0, 1]) {
				// A new node first, as with a load balancer, so that both releases run together.
				const node = await start();
				const replaced = nodes[index]!;
				nodes[index] = node;
				await more();
				expect(await replaced.stop()).toBe(0);
				await more();
			}
			publishing = false;
			await published;

			for (const { id, path, acknowledged } of projects) {
				const log: string[] = [];
				const types: { type: string; email: string }[] = [];
				for (let after = 0; ; ) {
					const page = (await certainly("GET", `/v1/projects/${id}/events?after=${after}&limit=200`)).body;
					for (const event of page.data) {
						log.push(event.id);
						types.push({ type: event.type, email: event.data.customer_email });
					}
					if (page.data.length === 0) break;
					after += page.data.length;
				}
				expect(new Set(log).size).toBe(log.length);
				expect(log.filter((each) => acknowledged.has(each))).toHaveLength(acknowledged.size);
				await until(`all events of ${path} to arrive`, () => new Set(arrivals.get(path)).size === log.length);
				expect(mostOvertaken(arrivals.get(path)!, log)).toBe(0);
				const created = types.filter(({ type }) => type === "customer.created").map(({ email }) => email);
				expect(new Set(created).size).toBe(created.length);
			}
		} finally {
			for (const node of nodes) await node.kill();
			await receiver.close();
			await server.stop();
			rmSync(folder, { recursive: true });
		}
	},
);

/** Two nodes on one PostgreSQL. The owner of a project is stopped, as in a deployment, while a receiver hangs. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
	createAuthority,
	Posthorn,
	settingsOfNodes,
	startReceiver,
	until,
	unusedPort,
	writeCaFile,
} from "@posthorn/testkit";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { expect, test } from "vitest";
import { purchase } from "./shop.ts";

interface Row {
	readonly event_id: string;
	readonly attempt: number;
	readonly status: string;
	readonly error_code: string | null;
}

test("a node that stops hands its project over while a receiver hangs, and logs the hanging attempt once", async () => {
	await using clean = new AsyncDisposableStack();
	const server = await PostgresServer.start();
	clean.defer(() => server.stop());
	const folder = mkdtempSync(join(tmpdir(), "posthorn-handover-"));
	clean.defer(() => rmSync(folder, { recursive: true }));
	const authority = await createAuthority();
	const settings = {
		POSTHORN_DATABASE_URL: await server.createDatabase(),
		...settingsOfNodes(writeCaFile(authority, folder)),
		POSTHORN_ATTEMPT_TIMEOUT: "20",
	};
	const startNode = async (): Promise<Posthorn> => {
		const node = await Posthorn.start({ settings: { ...settings, POSTHORN_PORT: String(await unusedPort()) } });
		clean.defer(() => node.kill());
		return node;
	};

	const hanging = await startReceiver({ authority, respond: (_request, n) => (n === 1 ? "hang" : { status: 200 }) });
	clean.defer(() => hanging.close());
	/** For each event, whether the first request to the other receiver was still open when this one arrived. */
	const meanwhile: boolean[] = [];
	const sound = await startReceiver({
		authority,
		respond: () => {
			meanwhile.push(hanging.requests.length === 1 && hanging.openConnections === 1);
			return { status: 200 };
		},
	});
	clean.defer(() => sound.close());

	let node = await startNode();
	// biome-ignore lint/suspicious/noExplicitAny: tests read any response of the service
	const call = async (method: string, path: string, body?: object): Promise<any> => {
		const headers = { authorization: `Bearer ${settings.POSTHORN_OPERATOR_KEY}`, "content-type": "application/json" };
		const answer = await fetch(node.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
		expect(answer.status).toBeLessThan(300);
		return answer.json();
	};
	const { id: project } = await call("POST", "/v1/projects", { name: "A store" });
	const webhook = async (url: string): Promise<string> =>
		(await call("POST", `/v1/projects/${project}/webhooks`, { url, events: ["purchase.completed"] })).id;
	const publish = async (n: number): Promise<string> =>
		(await call("POST", `/v1/projects/${project}/events`, { events: [purchase(n)] })).events[0].id;
	/** The webhook's log, oldest first, once it has this many deliveries. */
	const settled = async (id: string, deliveries: number): Promise<Row[]> => {
		return until("deliveries to be logged", async () => {
			const rows: Row[] = (await call("GET", `/v1/projects/${project}/attempts?webhook_id=${id}&limit=200`)).data;
			return rows.filter(({ status }) => status === "delivered").length >= deliveries && rows.reverse();
		});
	};
	const hangingId = await webhook(hanging.url("/"));
	const soundId = await webhook(sound.url("/"));

	const first = await publish(1);
	await hanging.waitFor(() => hanging.requests.length === 1);
	await settled(soundId, 1);
	const former = node;
	node = await startNode();
	const stopped = former.stop("SIGTERM");
	const second = await publish(2);
	await sound.waitFor(() => sound.requests.length === 2);
	expect(meanwhile[1]).toBe(true);

	// The former node waits for the attempt, and settles it.
	expect(await stopped).toBe(0);
	const rows = await settled(hangingId, 2);
	const of = (eventId: string) =>
		rows
			.filter((row) => row.event_id === eventId)
			.map(({ attempt, status, error_code }) => [attempt, status, error_code]);
	expect(of(first)).toEqual([
		[1, "retrying", "timeout"],
		[2, "delivered", null],
	]);
	expect(of(second)).toEqual([[1, "delivered", null]]);
	const arrived = (eventId: string) => hanging.requests.filter(({ body }) => (body as { id: string }).id === eventId);
	expect(arrived(first)).toHaveLength(2);
	expect(arrived(second)).toHaveLength(1);
	expect((await settled(soundId, 2)).map((row) => [row.event_id, row.attempt])).toEqual([
		[first, 1],
		[second, 1],
	]);
	expect(sound.requests).toHaveLength(2);
});

/**
 * Four nodes on one PostgreSQL, a hundred projects, thousands of events, while nodes are killed, suspended for longer
 * than a lease lasts and continued, and PostgreSQL is restarted, at random. NODES_SEED repeats a run.
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
	unusedPort,
	writeCaFile,
} from "@posthorn/testkit";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { expect, test } from "vitest";
import { mostOvertaken } from "./order.ts";
import { seeded } from "./random.ts";
import { purchase } from "./shop.ts";

const NODES = 4;
const PROJECTS = 100;
const FAULTS = 12;
/** Every nth project's webhook has several requests in flight, and how many. */
const WIDE_EACH = 4;
const WIDTH = 4;
/** Time between two faults, milliseconds. */
const PEACE_MS = [400, 1_600] as const;
/** Longer than a lease, so that others have taken over when it continues. */
const STOPPED_MS = 11_000;
/** How long a call may take before another node is tried, milliseconds. */
const CALL_MS = 15_000;
/** The same during setup, which creates all projects concurrently. */
const SETUP_MS = 60_000;
const PUBLISHERS = 4;
/** A publisher's pause between calls, milliseconds. Calls are always in progress, but the backlog stays small. */
const PACE_MS = 50;
/** Publishing continues until this many are acknowledged, however slow the machine is. */
const EVENTS = 2_000;

interface Arrival {
	readonly eventId: string;
	readonly n: number;
}

test(`${NODES} nodes, ${PROJECTS} projects: nothing is lost and order holds while nodes and the database fail`, {
	timeout: 600_000,
}, async () => {
	const seed = Number(process.env.NODES_SEED ?? Date.now() % 1_000_000);
	console.log(`NODES_SEED=${seed}`);
	const random = seeded(seed);
	const server = await PostgresServer.start({ fsync: true, own: true });
	const folder = mkdtempSync(join(tmpdir(), "posthorn-nodes-"));
	const authority = await createAuthority();
	const settings = {
		POSTHORN_DATABASE_URL: await server.createDatabase(),
		...settingsOfNodes(writeCaFile(authority, folder)),
	};
	const ports = await Promise.all(Array.from({ length: NODES }, unusedPort));
	/** Restarts a node as a supervisor would: one that finds the database unavailable at startup says so and ends. */
	const start = async (port: number): Promise<Posthorn> => {
		const stillInTime = patience("a node to find the database");
		for (;;) {
			stillInTime();
			try {
				return await Posthorn.start({ settings: { ...settings, POSTHORN_PORT: String(port) } });
			} catch (error) {
				if (!/PostgreSQL (cannot be reached|failed temporarily)/.test(String(error))) throw error;
			}
		}
	};
	const nodes: (Posthorn | null)[] = await Promise.all(ports.map(start));
	const arrivals = new Map<string, Arrival[]>();
	const receiver = await startReceiver({
		authority,
		keep: 1,
		respond: ({ path, body }) => {
			const { id, data } = body as { id: string; data: { n: number } };
			const seen = arrivals.get(path) ?? [];
			arrivals.set(path, seen);
			seen.push({ eventId: id, n: data.n });
			return { status: 200 };
		},
	});

	/** A call of any node that responds; null if it couldn't be made or was refused because something is down. */
	async function call(
		method: string,
		path: string,
		body?: object,
		patienceMs = CALL_MS,
	): Promise<{ status: number; body: never } | null> {
		const living = nodes.filter((node) => node !== null);
		const node = living[Math.floor(random() * living.length)];
		if (!node) return null;
		const headers = { authorization: `Bearer ${settings.POSTHORN_OPERATOR_KEY}`, "content-type": "application/json" };
		try {
			const options = { method, headers, signal: AbortSignal.timeout(patienceMs) };
			const answer = await fetch(node.url + path, body ? { ...options, body: JSON.stringify(body) } : options);
			return answer.status < 500 ? { status: answer.status, body: (await answer.json()) as never } : null;
		} catch {
			return null; // killed, suspended, or not up yet: another one is tried
		}
	}

	const backAgain = async (index: number, coming: Promise<Posthorn>): Promise<void> => {
		nodes[index] = await coming;
	};

	try {
		const projects = await Promise.all(
			Array.from({ length: PROJECTS }, async (_, i) => {
				const create = (path: string, body: object) => call("POST", path, body, SETUP_MS);
				const { id } = (await create("/v1/projects", { name: `Store ${i}` }))!.body as { id: string };
				const width = i % WIDE_EACH === 0 ? WIDTH : 1;
				const hook = { url: receiver.url(`/${i}`), events: ["purchase.completed"], max_in_flight: width };
				expect((await create(`/v1/projects/${id}/webhooks`, hook))!.status).toBe(201);
				return { id, path: `/${i}`, width, acknowledged: new Set<string>() };
			}),
		);

		const acknowledged = () => projects.reduce((sum, project) => sum + project.acknowledged.size, 0);
		let publishing = true;
		let next = 0;
		const publisher = async (): Promise<void> => {
			let stillInTime = patience("events to be acknowledged");
			while (publishing || acknowledged() < EVENTS) {
				stillInTime();
				const project = projects[Math.floor(random() * PROJECTS)]!;
				const events = Array.from({ length: 1 + Math.floor(random() * 8) }, () => purchase(next++));
				const answer = await call("POST", `/v1/projects/${project.id}/events`, { events });
				if (answer === null) {
					await new Promise((resolve) => setTimeout(resolve, 20));
					continue;
				}
				expect(answer.status).toBe(202);
				for (const { id } of (answer.body as { events: { id: string }[] }).events) project.acknowledged.add(id);
				stillInTime = patience("more events to be acknowledged");
				await new Promise((resolve) => setTimeout(resolve, PACE_MS));
			}
		};
		const publishers = Array.from({ length: PUBLISHERS }, publisher);

		const told = { kill: 0, stop: 0, restart: 0 };
		const underWay: Promise<void>[] = [];
		for (let fault = 0; fault < FAULTS; fault++) {
			await new Promise((resolve) => setTimeout(resolve, PEACE_MS[0] + random() * (PEACE_MS[1] - PEACE_MS[0])));
			const kind = random();
			const index = Math.floor(random() * NODES);
			const node = nodes[index];
			if (kind < 0.15) {
				told.restart += 1;
				await server.restart();
			} else if (node && nodes.filter((one) => one !== null).length > 1) {
				nodes[index] = null;
				if (kind < 0.65) {
					told.kill += 1;
					await node.kill();
					underWay.push(backAgain(index, start(ports[index]!)));
				} else {
					told.stop += 1;
					node.process.kill("SIGSTOP");
					const slept = new Promise((resolve) => setTimeout(resolve, STOPPED_MS));
					const awake = slept.then(() => {
						node.process.kill("SIGCONT");
						return node;
					});
					underWay.push(backAgain(index, awake));
				}
			}
		}
		await Promise.all(underWay);
		publishing = false;
		await Promise.all(publishers);
		console.log(`${acknowledged()} events acknowledged; ${JSON.stringify(told)}`);

		for (const project of projects) {
			const seen = () => arrivals.get(project.path) ?? [];
			// Every stored event arrives, even if the response to its publish was lost.
			const log = await wholeLog(project.id);
			for (const id of project.acknowledged) expect(log.has(id), `${id} is stored`).toBe(true);
			await receiver.waitFor(() => new Set(seen().map(({ eventId }) => eventId)).size >= log.size);
			// First attempts are in log order. One that reached no receiver, according to the delivery log, arrives with its retry.
			const unreached = await unreachedAtFirst(project.id);
			const inOrder = (ids: Iterable<string>) => [...new Set(ids)].filter((id) => !unreached.has(id));
			const arrived = inOrder(seen().map(({ eventId }) => eventId));
			if (project.width > 1) expect(mostOvertaken(arrived, inOrder(log))).toBeLessThan(project.width);
			else expect(arrived).toEqual(inOrder(log));
		}

		/** The events whose first attempt got no response: a suspended node drops the connections that it was opening. */
		async function unreachedAtFirst(projectId: string): Promise<Set<string>> {
			const unreached = new Set<string>();
			const stillInTime = patience(`the delivery log of ${projectId} to be read`);
			for (let cursor: string | null = ""; cursor !== null; ) {
				stillInTime();
				const page = `/v1/projects/${projectId}/attempts?limit=200${cursor && `&cursor=${cursor}`}`;
				const answer = await call("GET", page);
				if (answer === null) continue;
				const { data, next_cursor } = answer.body as {
					data: { event_id: string; attempt: number; status_code: number | null }[];
					next_cursor: string | null;
				};
				for (const { event_id, attempt, status_code } of data)
					if (attempt === 1 && status_code === null) unreached.add(event_id);
				cursor = next_cursor;
			}
			return unreached;
		}

		/** The ids of the project's log, in order. */
		async function wholeLog(projectId: string): Promise<Set<string>> {
			const log = new Set<string>();
			const stillInTime = patience(`the log of ${projectId} to be read`);
			for (let after = 0; ; ) {
				stillInTime();
				const answer = await call("GET", `/v1/projects/${projectId}/events?after=${after}&limit=200`);
				if (answer === null) continue;
				const { data, last_seq } = answer.body as { data: { id: string }[]; last_seq: number };
				for (const { id } of data) log.add(id);
				if (data.length === 0) return log;
				after = last_seq;
			}
		}
	} finally {
		for (const node of nodes) node?.process.kill("SIGKILL");
		await receiver.close();
		await server.stop();
		rmSync(folder, { recursive: true });
	}
});

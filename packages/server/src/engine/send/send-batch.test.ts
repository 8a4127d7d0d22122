import { describe, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import type { Connection } from "../../net/connections.ts";
import { SendBatch } from "./http-sender.ts";
import { shipment } from "./receiver.fixture.ts";
import { Rig, text } from "./rig.fixture.ts";

const rig = new Rig();
const turnEnded = () => new Promise((resolve) => setImmediate(resolve));

describe("requests started in one turn", () => {
	/** Stands in for a connection: records what is written to it, in order. */
	const connectionOf = (log: string[], name: string): Pick<Connection, "write"> => ({
		write: (bytes) => log.push(`${name} written, ${bytes.length} bytes`),
	});
	const unexpected = (error: unknown): void => {
		throw error;
	};

	function add(batch: SendBatch, log: string[], name: string, bytes: number): void {
		const begin = (): void => {
			log.push(`${name} ready`);
			batch.write(connectionOf(log, name), Buffer.alloc(bytes));
		};
		batch.add({ projectId: "p", begin });
	}

	test("are all prepared, then all written, in the order in which they were started", async () => {
		const log: string[] = [];
		const batch = new SendBatch(systemClock, unexpected);
		for (const name of ["a", "b", "c"]) add(batch, log, name, 10);
		expect(log).toEqual([]);
		await turnEnded();
		const written = ["a", "b", "c"].map((name) => `${name} written, 10 bytes`);
		expect(log).toEqual(["a ready", "b ready", "c ready", ...written]);
	});

	test("are written before all are prepared if they are large", async () => {
		const log: string[] = [];
		const batch = new SendBatch(systemClock, unexpected);
		for (const name of ["a", "b", "c"]) add(batch, log, name, 600_000);
		await turnEnded();
		const written = (name: string) => `${name} written, 600000 bytes`;
		expect(log).toEqual(["a ready", "b ready", written("a"), written("b"), "c ready", written("c")]);
	});

	test("are sent in a later turn if they are started while others are being sent", async () => {
		const log: string[] = [];
		const batch = new SendBatch(systemClock, unexpected);
		batch.add({ projectId: "p", begin: () => add(batch, log, "late", 10) });
		await turnEnded();
		expect(log).toEqual([]);
		await turnEnded();
		expect(log).toEqual(["late ready", "late written, 10 bytes"]);
	});

	test("leave in several turns if preparing them takes long, projects in turn", async () => {
		let now = 0;
		const turns: string[][] = [];
		const begin = (projectId: string): void => {
			turns.at(-1)!.push(projectId);
			now += 1;
		};
		const clock = { elapsed: () => now, setImmediate: (run: () => void) => systemClock.setImmediate(run) };
		const batch = new SendBatch(clock, unexpected);
		const add = (projectId: string) => batch.add({ projectId, begin: () => begin(projectId) });
		for (let n = 0; n < 20; n++) add("greedy");
		add("quiet");
		for (let turn = 0; turn < 3; turn++) {
			turns.push([]);
			add("late");
			await turnEnded();
		}
		turns.push([]);
		await turnEnded();
		const times = (count: number) => Array<string>(count).fill("greedy");
		expect(turns).toEqual([
			times(8),
			["greedy", "quiet", "late", "greedy", "late", ...times(3)],
			["greedy", "late", ...times(6)],
			[],
		]);
	});

	test("are written immediately on a connection that took longer", () => {
		const log: string[] = [];
		new SendBatch(systemClock, unexpected).write(connectionOf(log, "a"), Buffer.alloc(10));
		expect(log).toEqual(["a written, 10 bytes"]);
	});

	test("are sent even if others throw, and the errors are reported", async () => {
		const log: string[] = [];
		const faults: unknown[] = [];
		const batch = new SendBatch(systemClock, (error) => faults.push(error));
		const thrower = (text: string) => () => {
			throw new Error(text);
		};
		batch.add({ projectId: "p", begin: thrower("start") });
		add(batch, log, "a", 10);
		batch.add({ projectId: "p", begin: () => batch.write({ write: thrower("write") }, Buffer.alloc(1)) });
		batch.add({ projectId: "p", begin: thrower("another start") });
		add(batch, log, "b", 10);
		await turnEnded();
		expect(log).toEqual(["a ready", "b ready", "a written, 10 bytes", "b written, 10 bytes"]);
		expect(faults).toEqual(["start", "another start", "write"].map((text) => new Error(text)));
		add(batch, log, "c", 10);
		await turnEnded();
		expect(log.slice(4)).toEqual(["c ready", "c written, 10 bytes"]);
	});

	test("arrive complete, small and large, on new and reused connections", async () => {
		const bodies = Array.from({ length: 12 }, (_, n) => `${n}:${"x".repeat((n % 4) * 150_000)}`);
		for (let round = 0; round < 2; round++) {
			const sent = bodies.map((body) => rig.sender.send(shipment(rig.receiver.url(), body)));
			expect((await Promise.all(sent)).map(text)).toEqual(bodies.map(() => "ok"));
		}
		const received = rig.receiver.requests.map(({ body }) => body.toString());
		expect(received.toSorted()).toEqual([...bodies, ...bodies].toSorted());
		// At least the last ones: on a busy machine, others may have been idle for too long.
		expect(rig.receiver.sockets.length).toBeLessThan(2 * bodies.length);
	});

	test("are not sent for a webhook paused in the same turn, nor to its previous URL", async () => {
		await rig.sender.send(shipment(rig.receiver.url()));
		const paused = shipment(rig.receiver.url("/paused"));
		const moved = shipment(rig.receiver.url("/old"));
		const outcomes = [rig.sender.send(paused), rig.sender.send(moved)];
		paused.target.active = false;
		moved.target.url = rig.receiver.url("/new");
		expect((await Promise.all(outcomes)).map(text)).toEqual(["cancelled", "ok"]);
		expect(rig.receiver.requests.map(({ head }) => head.split(" ")[1])).toEqual(["/hook", "/new"]);
	});
});

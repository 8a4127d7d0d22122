import type { Readable } from "node:stream";
import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { beforeEach, expect, test } from "vitest";
import type { Storage } from "../storage/port.ts";
import { Changes, LongPolls, RemoteChanges } from "./changes.ts";

let clock: VirtualClock;
let longPolls: LongPolls;
let changes: Changes;
let remote: RemoteChanges;
/** Hints that pages got. */
let hints: string[];
/** By project: the end of its log, its revision and its newest attempt. */
let stored: Map<string, { lastSeq: number; revision: number; newestAttempt?: string }>;
let attemptsRead: string[];
let beforeAttempts: () => Promise<void>;

beforeEach(() => {
	clock = new VirtualClock();
	longPolls = new LongPolls(clock);
	hints = [];
	changes = new (class extends Changes {
		override note(...[projectId, hint]: Parameters<Changes["note"]>): void {
			hints.push(`${projectId} ${hint}`);
		}
	})(clock);
	stored = new Map();
	attemptsRead = [];
	beforeAttempts = async () => undefined;
	const listAttempts = async ({ projectId }: { readonly projectId: string }) => {
		attemptsRead.push(projectId);
		await beforeAttempts();
		const id = stored.get(projectId)?.newestAttempt;
		return { rows: id === undefined ? [] : [{ id }] };
	};
	remote = new RemoteChanges({ storage: { listAttempts } as unknown as Storage, longPolls, changes });
});

const listen = (projectId: string) => changes.listen(projectId, `by ${projectId}`, async () => true) as Readable;

/** Reads the marks of these projects, as the poller does. @returns hints that pages got meanwhile */
async function read(...projectIds: string[]): Promise<string[]> {
	hints = [];
	const receive = remote.beforeRead(projectIds);
	await receive(new Map([...stored].filter(([projectId]) => projectIds.includes(projectId))));
	return hints;
}

test("watches projects for which a call waits or a page is open, and no others", async () => {
	const wait = longPolls.wait("a", undefined, 1_000)!;
	const page = listen("b");
	expect([...remote.projectIds]).toEqual(["a", "b"]);
	expect(["a", "b", "c"].filter((projectId) => remote.watches(projectId))).toEqual(["a", "b"]);
	wait.cancel();
	const closed = new Promise((resolve) => page.once("close", resolve));
	page.destroy();
	await closed;
	expect([...remote.projectIds]).toEqual([]);
});

test("a waiting call checks again when its project's log has grown, and only then", async () => {
	stored.set("a", { lastSeq: 1, revision: 1 }).set("b", { lastSeq: 1, revision: 1 });
	// The first read can't tell whether the log grew after the call read it.
	const first = longPolls.wait("a", undefined, 1_000)!;
	await read("a", "b");
	expect(await first.end).toBe("recheck");

	const second = longPolls.wait("a", undefined, 1_000)!;
	stored.set("a", { lastSeq: 1, revision: 2 });
	await read("a", "b");
	expect(longPolls.isWaitedFor("a")).toBe(true);
	stored.set("a", { lastSeq: 2, revision: 2 });
	await read("a", "b");
	expect(await second.end).toBe("recheck");
});

test("pages get a hint about what changed: events, webhooks or attempts", async () => {
	stored.set("a", { lastSeq: 1, revision: 1, newestAttempt: "att_1" });
	listen("a");
	expect(await read("a")).toEqual(["a webhooks", "a attempts"]);
	expect(await read("a")).toEqual([]);
	stored.set("a", { lastSeq: 2, revision: 1, newestAttempt: "att_1" });
	expect(await read("a")).toEqual(["a webhooks"]);
	stored.set("a", { lastSeq: 2, revision: 2, newestAttempt: "att_1" });
	expect(await read("a")).toEqual(["a webhooks"]);
	stored.set("a", { lastSeq: 2, revision: 2, newestAttempt: "att_2" });
	expect(await read("a")).toEqual(["a attempts"]);
});

test("attempts are read only for open pages, and not twice at the same time", async () => {
	stored.set("a", { lastSeq: 1, revision: 1 }).set("b", { lastSeq: 1, revision: 1, newestAttempt: "att_1" });
	longPolls.wait("a", undefined, 1_000);
	listen("b");
	const slow = Promise.withResolvers<void>();
	beforeAttempts = () => slow.promise;
	const reading = read("a", "b");
	await read("a", "b");
	expect(attemptsRead).toEqual(["b"]);
	slow.resolve();
	await reading;
	await read("a", "b");
	expect(attemptsRead).toEqual(["b", "b"]);
});

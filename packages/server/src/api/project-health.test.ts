import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { until } from "../../../testkit/src/until.ts";
import { TestApi } from "../../test/api/api.ts";
import { type Browser, invite, member, setUp } from "../../test/api/browser.ts";
import { LOG_READS, RESPONSES } from "../base/budgets.ts";
import { absentId } from "../base/ids.fixture.ts";
import { Seal } from "../base/seal.ts";
import { answered } from "../engine/send/receiver.fixture.ts";
import { sealSecret } from "../engine/signing-keys.ts";
import { StorageError } from "../storage/port.ts";
import { Admission } from "./http/admission.ts";

const HEALTH = "/v1/projects/health";
const NONE = { failing: 0, unstable: 0, healthy: 0, idle: 0, paused: 0 };

interface Entry {
	readonly project_id: string;
	readonly webhooks: typeof NONE;
	readonly dead_letters: number;
}

const idOf = (path: string): string => path.split("/").at(-1)!;
const query = (...projects: string[]) => `${HEALTH}?project_id=${projects.map(idOf).join()}`;
const entry = (project: string, webhooks: Partial<typeof NONE> = {}, dead = 0): Entry => ({
	project_id: idOf(project),
	webhooks: { ...NONE, ...webhooks },
	dead_letters: dead,
});

describe("of any projects", () => {
	let api: TestApi;
	let failing: string;
	let quiet: string;
	/** Without the Developer app. */
	let plain: string;
	beforeAll(async () => {
		api = await TestApi.start();
		[failing, quiet] = [await api.project(), await api.project()];
		plain = `/v1/projects/${(await api.call("POST", "/v1/projects", { body: { name: "Plain", apps: [] } })).json.id}`;
		await api.webhook(failing);
		await api.deliver(failing, 500, 500);
		const paused = await api.webhook(failing);
		await api.call("PATCH", paused, { body: { status: "paused" } });
		await api.webhook(failing, { events: ["purchase.refunded"] });
		await api.call("DELETE", await api.webhook(failing));
	});
	afterEach(() => {
		api.receiver.answer = answered(200);
	});
	afterAll(() => api.close());

	const read = async (url: string, key?: string) =>
		(await api.call("GET", url, key === undefined ? {} : { key })).json.data as unknown as Entry[];

	test("counts webhooks by their health, and dead letters, in the order of the request", async () => {
		const [one, other] = [entry(failing, { failing: 1, paused: 1, idle: 1 }, 2), entry(quiet)];
		expect(await read(query(failing, quiet))).toEqual([one, other]);
		expect(await read(query(quiet, failing, quiet))).toEqual([other, one]);
		expect(await read(`${HEALTH}?project_id=${idOf(quiet)}&project_id=${idOf(failing)}`)).toEqual([other, one]);
	});

	// The list of projects showed such a store as healthy.
	test("counts an active webhook whose secret can't be read as failing", async () => {
		const project = await api.project();
		const [projectId, webhookIds] = [idOf(project), [await api.webhook(project), await api.webhook(project)].map(idOf)];
		await api.webhook(project);
		for (const webhookId of webhookIds) {
			const sealed = sealSecret(new Seal([Buffer.alloc(32, 8)]), "whsec_unknown", webhookId);
			await api.storage.rotateSecret({ projectId, webhookId, ...sealed });
		}
		await api.call("PATCH", `${project}/webhooks/${webhookIds[0]}`, { body: { status: "paused" } });
		expect(await read(query(project))).toEqual([entry(project, { failing: 1, idle: 1, paused: 1 })]);
	});

	test("leaves out projects that don't exist or lack the Developer app", async () => {
		expect(await read(`${query(absentId(idOf(quiet)), plain, quiet)},proj_1,%20,../..`)).toEqual([entry(quiet)]);
		const removed = await api.project();
		await api.webhook(removed);
		expect(await read(query(removed))).toEqual([entry(removed, { idle: 1 })]);
		await api.call("DELETE", `${removed}/apps/developer`);
		expect(await read(query(removed))).toEqual([]);
	});

	// The list of projects showed the health of none of them.
	test("leaves out a project whose rows can't be read, unless none can", async () => {
		const damaged = await api.project();
		await api.webhook(damaged);
		const { readHealth } = api.storage;
		const spy = vi.spyOn(api.storage, "readHealth").mockImplementation((p) => {
			if (p.projectId !== idOf(damaged)) return readHealth.call(api.storage, p);
			return Promise.reject(new StorageError("unusable", "invalid page in block 7"));
		});
		try {
			const one = entry(failing, { failing: 1, paused: 1, idle: 1 }, 2);
			expect(await read(query(damaged, failing, quiet))).toEqual([one, entry(quiet)]);
			expect((await api.call("GET", query(damaged))).status).toBe(503);
		} finally {
			spy.mockRestore();
		}
	});

	test.each([
		["no project", "", "is missing"],
		[
			"21 projects",
			`?project_id=${Array.from({ length: 21 }, (_, n) => `proj_${n}`).join()}`,
			"must have at most 20 items",
		],
	])("refuses %s", async (_, search, detail) => {
		const { status, json } = await api.call("GET", HEALTH + search);
		expect([status, json.errors]).toEqual([422, [{ pointer: "?project_id", detail }]]);
	});

	test("20 projects are few enough", async () => {
		const ids = Array.from({ length: 19 }, () => absentId(quiet));
		expect(await read(query(...ids, quiet))).toEqual([entry(quiet)]);
	});

	test("isn't taken for a project named health", async () => {
		const { status, headers } = await api.call("PATCH", HEALTH, { body: { name: "x" } });
		expect([status, headers.allow]).toEqual([405, "GET, HEAD"]);
	});

	describe("by who asks", () => {
		let people: Record<"operator" | "viewer" | "stranger", Browser>;
		beforeAll(async () => {
			people = {
				operator: await setUp(api),
				viewer: await member(api, quiet, "viewer", "viewer"),
				stranger: await member(api, plain, "owner", "stranger"),
			};
		});

		test("the operator sees all projects, others those that they are members of", async () => {
			const url = query(failing, quiet, plain, absentId(quiet));
			const seenBy = async (who: Browser) => {
				const { status, json } = await who.call("GET", url);
				expect(status).toBe(200);
				return (json.data as unknown as Entry[]).map(({ project_id }) => project_id);
			};
			expect(await seenBy(people.operator)).toEqual([idOf(failing), idOf(quiet)]);
			expect(await seenBy(people.viewer)).toEqual([idOf(quiet)]);
			expect(await seenBy(people.stranger)).toEqual([]);
		});

		test("a stranger can't tell whether a project exists", async () => {
			const [one, other] = [
				await people.stranger.call("GET", query(failing)),
				await people.stranger.call("GET", query(absentId(failing))),
			];
			expect([one.status, one.text]).toEqual([200, other.text]);
		});

		test("a project's key sees its own project, and needs the scope to read", async () => {
			const keyTo = async (scope: string) => {
				const body = { name: scope, scopes: [scope] };
				return (await api.call("POST", `${quiet}/api-keys`, { body })).json.key;
			};
			expect(await read(query(failing, quiet), await keyTo("read"))).toEqual([entry(quiet)]);
			for (const scope of ["publish", "manage"]) {
				const { status, json, headers } = await api.call("GET", query(quiet), { key: await keyTo(scope) });
				expect([status, json.detail]).toEqual([403, expect.stringContaining("this requires read")]);
				expect(headers["www-authenticate"]).toContain('scope="read"');
			}
			expect((await api.call("GET", query(quiet), { key: null })).status).toBe(401);
		});
	});
});

describe("of projects with many webhooks", () => {
	let api: TestApi;
	let large: string;
	/** The projects of reads of health that have begun, in their order. */
	let reads: string[] = [];
	/** Those that wait; until it is null, each does. */
	let gates: (() => void)[] | null = null;
	const open = () => {
		for (const gate of gates ?? []) gate();
		gates = null;
	};
	let lateMs = 0;
	// Once for all tests: most of their time would be spent on creating webhooks.
	beforeAll(async () => {
		api = await TestApi.start({
			maxWebhooksPerProject: LOG_READS.webhooksPerStep + 1,
			parts: ({ storage, clock }) => ({
				clock: { ...clock, elapsed: () => clock.elapsed() + lateMs },
				storage: new Proxy(storage, {
					get(target, name) {
						const verb: unknown = Reflect.get(target, name);
						if (typeof verb !== "function") return verb;
						if (name !== "readHealth") return verb.bind(target);
						return async (p: { readonly projectId: string }) => {
							reads.push(p.projectId);
							await new Promise<void>((resolve) => (gates === null ? resolve() : gates.push(resolve)));
							return verb.call(target, p);
						};
					},
				}),
			}),
		});
		large = await api.project();
		for (let n = 0; n <= LOG_READS.webhooksPerStep; n++) await api.webhook(large);
	});
	beforeEach(() => {
		reads = [];
		gates = [];
	});
	afterEach(open);
	afterAll(() => api.close());

	test("counts all of them in steps, between which other reads have a turn", async () => {
		const other = await api.project();
		await api.webhook(other);
		// As many as one caller's that are processed at a time, and one more.
		const calls = Array.from({ length: RESPONSES.readsPerPrincipal }, () => api.call("GET", query(large)));
		await until("their first steps", () => reads.length === calls.length);
		const asked = vi.spyOn(Admission.prototype, "read");
		const waiting = api.call("GET", `${other}/webhooks/health`);
		await until("it to wait", () => asked.mock.calls.length === 1);
		asked.mockRestore();
		gates!.shift()!();
		await until("the next read", () => reads.length > calls.length);
		expect(reads.at(-1)).toBe(idOf(other));
		open();
		expect((await waiting).status).toBe(200);
		for (const { json } of await Promise.all(calls))
			expect(json.data).toEqual([entry(large, { idle: LOG_READS.webhooksPerStep + 1 })]);
	});

	// A call for twenty large projects had no end.
	test("leaves the rest to another call once it has taken too long", async () => {
		const [next, last] = [await api.project(), await api.project()];
		for (const project of [next, last]) await api.webhook(project);
		const [counted, ...others] = [
			entry(large, { idle: LOG_READS.webhooksPerStep + 1 }),
			entry(next, { idle: 1 }),
			entry(last, { idle: 1 }),
		];
		const calling = api.call("GET", query(large, next, last));
		await until("its first step", () => reads.length === 1);
		lateMs += LOG_READS.projectsHealthMs;
		open();
		// The project that it had begun is complete.
		expect((await calling).json).toEqual({ data: [counted], next_project_id: idOf(next) });
		expect((await api.call("GET", query(next, last))).json).toEqual({ data: others, next_project_id: null });
	});

	test("all keys of a project share its reads", async () => {
		const other = await api.project();
		await api.webhook(other);
		const keys = await Promise.all(Array.from({ length: RESPONSES.reads }, () => api.keyOf(large)));
		const calls = keys.map((key) => api.call("GET", query(large), { key }));
		await until("the project's reads", () => reads.length >= RESPONSES.readsPerProject);
		calls.push(api.call("GET", query(other), { key: await api.keyOf(other) }));
		await until("the other project's read", () => reads.includes(idOf(other)));
		expect(reads.filter((id) => id === idOf(large))).toHaveLength(RESPONSES.readsPerProject);
		open();
		for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
	});

	test("stops once the client has left", async () => {
		await api.app.listen({ port: 0, host: "127.0.0.1" });
		const { port } = api.app.server.address() as AddressInfo;
		const key = await api.keyOf(large);
		const accepted = once(api.app.server, "connection");
		const socket = connect(port, "127.0.0.1").on("error", () => {});
		const [served] = (await accepted) as [Socket];
		socket.write(`GET ${query(large)} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`);
		await until("its first step", () => reads.length === 1);
		const closed = once(served, "close");
		socket.destroy();
		await closed;
		open();
		// Two steps, after which the first call would have had its second.
		expect((await api.call("GET", query(large), { key })).json.data).toHaveLength(1);
		expect(reads).toHaveLength(1 + 2);
	});

	test("leaves out a project whose membership ends during the call", async () => {
		await setUp(api);
		const left = await api.project();
		const ada = await member(api, large, "viewer", "ada");
		await ada.call("POST", "/v1/invitations/accept", { body: { token: await invite(api, left, "viewer") } });
		const reading = ada.call("GET", query(large, left));
		await until("its first step", () => reads.length === 1);
		expect((await api.call("DELETE", `${left}/members/${ada.accountId}`)).status).toBe(204);
		open();
		expect((await reading).json.data).toEqual([entry(large, { idle: LOG_READS.webhooksPerStep + 1 })]);
		const removed = await ada.call("GET", query(left));
		expect(removed.json.data).toEqual([]);
	});
});

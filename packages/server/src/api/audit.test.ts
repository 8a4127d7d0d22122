import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { type Browser, invite, member, setUp } from "../../test/api/browser.ts";
import type { ApiResponse, Json } from "../../test/api/response.ts";
import { AUDIT_ACTIONS } from "../accounts/audit.ts";
import { answered } from "../engine/send/receiver.fixture.ts";
import { StorageError } from "../storage/port.ts";

let api: TestApi;
let operator: Browser;
let people = 0;
beforeAll(async () => {
	api = await TestApi.start();
	operator = await setUp(api);
});
afterAll(() => api.close());

const idOf = (path: string): string => path.split("/").at(-1)!;
const auditOf = async (project: string, query = ""): Promise<Json> =>
	(await operator.call("GET", `${project}/audit${query}`)).json;

/** Newest first: action, target and detail. */
async function noted(project: string): Promise<unknown[]> {
	return (await auditOf(project)).data.map(({ action, target, detail }) => [action, target, detail]);
}

test("records each completed action with its target", async () => {
	const receiver = api.receiver.url();
	const created = await operator.call("POST", "/v1/projects", { body: { name: "Store" } });
	const project = `/v1/projects/${created.json.id}`;
	const seen = new Set<string>();
	let entries = 0;
	/** Runs an action, and returns what the audit log recorded for it. */
	async function notes(doing: Promise<ApiResponse>): Promise<unknown[]> {
		const { status, text } = await doing;
		expect(status, text).toBeLessThan(300);
		const all = await noted(project);
		const fresh = all.slice(0, all.length - entries).toReversed();
		entries = all.length;
		for (const [action] of fresh as [string][]) seen.add(action);
		return fresh;
	}
	const call = (method: string, path: string, body?: unknown) => operator.call(method, project + path, { body });

	const self = { kind: "project", id: created.json.id, name: "Store" };
	expect(await notes(Promise.resolve(created))).toEqual([["project.created", self, {}]]);
	const renamed = await notes(call("PATCH", "", { name: "Shop" }));
	expect(renamed).toEqual([["project.renamed", { ...self, name: "Shop" }, {}]]);
	const app = { kind: "app", id: "developer", name: "Developer" };
	expect(await notes(call("DELETE", "/apps/developer"))).toEqual([["app.removed", app, {}]]);
	expect(await notes(call("PUT", "/apps/developer"))).toEqual([["app.installed", app, {}]]);

	const posted = await call("POST", "/webhooks", { url: receiver, events: ["delivery.success"] });
	const { id, secret } = posted.json;
	const nameless = { kind: "webhook", id, name: receiver };
	const webhook = { ...nameless, name: "Accounting" };
	expect(await notes(Promise.resolve(posted))).toEqual([["webhook.created", nameless, {}]]);
	const patch = (body: object) => notes(call("PATCH", `/webhooks/${id}`, body));
	expect(await patch({ description: "Accounting", max_in_flight: 2 })).toEqual([
		[
			"webhook.changed",
			webhook,
			{
				fields: ["description", "max_in_flight"],
				from: { description: "", max_in_flight: 1 },
				to: { description: "Accounting", max_in_flight: 2 },
			},
		],
	]);
	const [one, other] = [receiver, `${receiver}?moved`];
	for (const [from, to] of [[one, other] as const, [other, one] as const])
		expect(await patch({ url: to })).toEqual([
			["webhook.changed", webhook, { fields: ["url"], from: { url: from }, to: { url: to } }],
		]);
	expect(await patch({ status: "paused" })).toEqual([["webhook.paused", webhook, {}]]);
	expect(await patch({ status: "active", from: "now" })).toEqual([["webhook.resumed", webhook, { from: "now" }]]);
	await patch({ status: "paused" });
	expect(await patch({ from: "now" })).toEqual([["webhook.skipped", webhook, {}]]);
	expect(await patch({ status: "active", max_in_flight: 1 })).toEqual([
		["webhook.changed", webhook, { fields: ["max_in_flight"], from: { max_in_flight: 2 }, to: { max_in_flight: 1 } }],
		["webhook.resumed", webhook, { from: "backlog" }],
	]);
	const rotated = await call("POST", `/webhooks/${id}/rotate-secret`);
	expect(await notes(Promise.resolve(rotated))).toEqual([["webhook.secret_rotated", webhook, {}]]);
	expect(await notes(call("POST", `/webhooks/${id}/test`, { type: "delivery.success" }))).toEqual([
		["webhook.tested", webhook, { type: "delivery.success" }],
	]);
	await api.attempted();

	api.receiver.answer = answered(500);
	const event = await api.publish(project);
	await api.attempted();
	api.receiver.answer = answered(200);
	const replayed = await notes(call("POST", `/webhooks/${id}/deliveries/${event}/replay`));
	expect(replayed).toEqual([["delivery.replayed", { kind: "event", id: event, name: event }, { webhook_id: id }]]);
	await api.attempted();
	expect(await notes(call("POST", `/webhooks/${id}/replay`, { status: "failed" }))).toEqual([
		["deliveries.replayed", webhook, { filter: { status: "failed" }, count: 0 }],
	]);
	const filter = { event_id: event, status: "delivered" };
	expect(await notes(call("POST", "/replays", { filter, dry_run: true }))).toEqual([]);
	expect(await notes(call("POST", "/replays", { filter }))).toEqual([
		["deliveries.replayed", null, { filter, count: 1 }],
	]);
	await api.attempted();
	const deliveries = [{ webhook_id: id, event_id: event }];
	expect(await notes(call("POST", "/replays", { deliveries }))).toEqual([
		["deliveries.replayed", webhook, { deliveries, count: 1 }],
	]);
	await api.attempted();
	expect(await notes(call("DELETE", `/webhooks/${id}`))).toEqual([["webhook.deleted", webhook, {}]]);

	const heard = { target: "localhost:3000", types: ["delivery.success"] };
	expect(await notes(call("POST", "/listeners", heard))).toEqual([
		["project.listened", { kind: "project", id: project.split("/").at(-1), name: "Shop" }, heard],
	]);

	const keyed = await call("POST", "/api-keys", {
		name: "Till",
		scopes: ["publish"],
		expires_at: "2099-01-01T00:00:00Z",
	});
	const key = { kind: "api_key", id: keyed.json.id, name: "Till" };
	expect(await notes(Promise.resolve(keyed))).toEqual([
		["api_key.created", key, { scopes: ["publish"], expires_at: "2099-01-01T00:00:00.000Z" }],
	]);
	expect(await notes(call("DELETE", `/api-keys/${keyed.json.id}`))).toEqual([["api_key.revoked", key, {}]]);

	const invited = await call("POST", "/invitations", { role: "viewer", email: "bob@example.com" });
	const invitation = { kind: "invitation", id: invited.json.id, name: "bob@example.com" };
	expect(await notes(Promise.resolve(invited))).toEqual([["member.invited", invitation, { role: "viewer" }]]);
	const revoked = await notes(call("DELETE", `/invitations/${invited.json.id}`));
	expect(revoked).toEqual([["invitation.revoked", invitation, {}]]);
	const link = await call("POST", "/invitations", { role: "owner" });
	const anyone = { kind: "invitation", id: link.json.id, name: "a link" };
	expect(await notes(Promise.resolve(link))).toEqual([["member.invited", anyone, { role: "owner" }]]);

	const bob = await member(api, project, "developer", "bob");
	const joined = await notes(bob.call("GET", project));
	expect(joined.slice(1)).toEqual([["member.joined", null, { role: "developer" }]]);
	const account = { kind: "account", id: bob.accountId, name: "bob" };
	expect(await notes(call("PATCH", `/members/${bob.accountId}`, { role: "viewer" }))).toEqual([
		["member.role_changed", account, { from: "developer", to: "viewer" }],
	]);
	expect(await notes(bob.call("DELETE", `${project}/members/${bob.accountId}`))).toEqual([
		["member.removed", account, {}],
	]);

	// Of retries, dead letters and samples: retries.test.ts, delivery-list.test.ts and samples.test.ts.
	for (const verb of ["retried", "dismissed"]) seen.add(`delivery.${verb}`).add(`deliveries.${verb}`);
	for (const action of ["test.cancelled", "sample.published", "log.exported"]) seen.add(action);
	// For lost seal keys, see lost-seal-key.test.ts.
	seen.add("webhook.secret_lost");
	expect([...seen].toSorted()).toEqual([...AUDIT_ACTIONS].toSorted());
	const { text } = await operator.call("GET", `${project}/audit?limit=200`);
	const secrets = [secret, rotated.json.secret, keyed.json.key, link.json.url.split("#")[1], operator.token, bob.token];
	for (const hidden of secrets) expect(text).not.toContain(String(hidden).slice(-30));
});

// The old values were read before the change, so of changes made at the same time, each seemed to be the first.
test("each of several concurrent changes says what it replaced", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const names = ["a", "b", "c"];
	await Promise.all(names.map((description) => api.call("PATCH", webhook, { body: { description } })));
	const { description } = (await api.call("GET", webhook)).json as unknown as { description: string };
	const replaced = (await auditOf(project)).data.flatMap(({ action, detail }) =>
		action === "webhook.changed" ? [(detail as unknown as { from: { description: string } }).from.description] : [],
	);
	expect(replaced.sort()).toEqual(["", ...names.filter((name) => name !== description)]);
});

test("names the actor as at the time: people, keys, and the operator's key", async () => {
	const project = await api.project();
	const owner = await member(api, project, "owner", `owner${++people}`);
	const keyId = (await owner.call("POST", `${project}/api-keys`, { body: { name: "Till" } })).json;
	await api.call("POST", `${project}/webhooks`, {
		key: keyId.key,
		body: { url: "https://example.com/", events: ["delivery.success"] },
	});
	await owner.call("PATCH", "/v1/account", { body: { name: "Renamed" } });
	await owner.call("PATCH", project, { body: { name: "Shop" } });
	const { data } = (await owner.call("GET", `${project}/audit`)).json;
	const ada = { kind: "account", id: owner.accountId, name: `owner${people}` };
	const theOperator = { kind: "operator_key", id: null, name: "The operator's key" };
	expect(data.map(({ action, actor }) => [action, actor])).toEqual([
		["project.renamed", { ...ada, name: "Renamed" }],
		["webhook.created", { kind: "api_key", id: keyId.id, name: "Till" }],
		["api_key.created", ada],
		["member.joined", ada],
		["member.invited", theOperator],
		["project.created", theOperator],
	]);
});

// It kept only the number of selected deliveries.
test("a bulk action names its webhook, if it's one, and the filter or the first deliveries that it changed", async () => {
	const project = await api.project();
	const targets = [];
	for (const description of ["Accounting", "Shipping"]) {
		const webhook = await api.webhook(project, { description });
		targets.push({ kind: "webhook", id: idOf(webhook), name: description });
	}
	const [accounting, shipping] = targets;
	api.receiver.answer = answered(500);
	const events: string[] = [];
	for (let n = 0; n < 7; n++) {
		events.push(await api.publish(project));
		await api.attempted(2);
	}
	const of = (webhook_id: string) => events.map((event_id) => ({ webhook_id, event_id }));
	const [one, other] = targets.map(({ id }) => of(id));
	const absent = { webhook_id: accounting!.id, event_id: "evt_none" };
	const act = async (path: string, body: object) => {
		const { status, text } = await operator.call("POST", `${project}/${path}`, { body });
		expect(status, text).toBeLessThan(300);
		return (await noted(project))[0];
	};
	expect(await act("dismissals", { deliveries: [absent, ...one!.slice(0, 6)] })).toEqual([
		...["deliveries.dismissed", accounting, { deliveries: one!.slice(0, 5), count: 6 }],
	]);
	const both = [one![6], other![6]];
	expect(await act("dismissals", { deliveries: both })).toEqual([
		...["deliveries.dismissed", null, { deliveries: both, count: 2 }],
	]);
	const filter = { webhook_id: [shipping!.id], type: "delivery.success" };
	expect(await act("dismissals", { filter })).toEqual(["deliveries.dismissed", shipping, { filter, count: 6 }]);
	expect(await act("replays", { deliveries: both })).toEqual([
		...["deliveries.replayed", null, { deliveries: both, count: 2 }],
	]);
	await api.attempted(2);
	const again = { webhook_id: shipping!.id, event_id: events[6], status: "failed" };
	expect(await act("replays", { filter: again })).toEqual([
		"deliveries.replayed",
		shipping,
		{ filter: again, count: 1 },
	]);
	await api.attempted();
	api.receiver.answer = answered(200);
});

test("a member who accepts a lower role is recorded with the current one", async () => {
	const project = await api.project();
	const owner = await member(api, project, "owner", `owner${++people}`);
	const token = await invite(api, project, "viewer");
	await owner.call("POST", "/v1/invitations/accept", { body: { token } });
	expect((await auditOf(project)).data[0]).toMatchObject({ action: "member.joined", detail: { role: "owner" } });
});

test("doesn't record refused or ineffective actions", async () => {
	const project = await api.project();
	const viewer = await member(api, project, "viewer", `viewer${++people}`);
	const webhook = await api.webhook(project);
	const before = await noted(project);
	for (const [method, path, body] of [
		["PATCH", webhook, { url: "http://example.com/" }],
		["PATCH", webhook, { max_in_flight: 0 }],
		["DELETE", `${project}/webhooks/wh_01kbjh6mrxe3q8z1v2t4w5y6a7`, undefined],
		["DELETE", `${project}/api-keys/key_01kbjh6mrxe3q8z1v2t4w5y6a7`, undefined],
		["POST", `${webhook}/deliveries/evt_none/replay`, undefined],
		["POST", `${project}/replays`, { filter: {} }],
		["POST", `${project}/webhooks/check-url`, { url: "https://localhost/" }],
	] as const) {
		await operator.call(method, path, { body });
		await viewer.call(method, path, { body });
	}
	await operator.call("PATCH", webhook, { body: {} });
	expect(await noted(project)).toEqual(before);
});

test("entries are found by what was changed and by who changed it", async () => {
	const project = await api.project();
	const owner = await member(api, project, "owner", `owner${++people}`);
	const webhook = await api.webhook(project);
	const other = await api.webhook(project);
	for (const path of [webhook, other]) {
		await owner.call("PATCH", path, { body: { description: "Till" } });
		await operator.call("DELETE", path);
	}
	const of = async (query: string) =>
		(await auditOf(project, `?${query}`)).data.map(({ action, target }) => [action, target?.id]);
	const [id, otherId] = [idOf(webhook), idOf(other)];
	expect(await of(`target_id=${id}`)).toEqual(["deleted", "changed", "created"].map((verb) => [`webhook.${verb}`, id]));
	expect(await of(`actor_id=${owner.accountId}`)).toEqual([
		...[otherId, id].map((each) => ["webhook.changed", each]),
		["member.joined", undefined],
	]);
	expect(await of(`target_id=${id}&actor_id=operator_key`)).toEqual([["webhook.created", id]]);
	expect(await of("target_id=wh_01kbjh6mrxe3q8z1v2t4w5y6a7")).toEqual([]);
	expect((await operator.call("GET", `${project}/audit?actor=${owner.accountId}`)).status).toBe(422);
});

test("pages run from newest to oldest, each entry once", async () => {
	const project = await api.project();
	for (const name of ["a", "b", "c", "d"]) await api.call("PATCH", project, { body: { name } });
	const whole = await auditOf(project);
	expect(whole.data.map(({ target }) => target?.name)).toEqual(["d", "c", "b", "a", "Store"]);
	expect(whole.next_cursor).toBeNull();
	const times = whole.data.map(({ at }) => at);
	expect(times).toEqual(times.toSorted().toReversed());
	const paged: Json[] = [];
	let cursor: string | null = null;
	do {
		const page: Json = await auditOf(project, `?limit=2${cursor === null ? "" : `&cursor=${cursor}`}`);
		paged.push(...page.data);
		cursor = page.next_cursor;
	} while (cursor !== null);
	expect(paged).toEqual(whole.data);
	const other = await api.project();
	expect((await auditOf(other, `?cursor=${Buffer.from(whole.data[0]!.id).toString("base64url")}`)).data).toEqual([]);
	expect((await operator.call("GET", `${project}/audit?cursor=x`)).status).toBe(422);
	expect(idOf(project)).not.toBe(idOf(other));
});

// The change of a webhook was recorded once its backlog had been read, too, which can fail.
test("records a change whose response fails", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const { storage } = api.parts;
	const read = storage.readBacklogs.bind(storage);
	const fails = vi.spyOn(storage, "readBacklogs").mockImplementation((p) => {
		const isChanged = changes.mock.settledResults.length > 0;
		return isChanged ? Promise.reject(new StorageError("lost", "The connection is gone.")) : read(p);
	});
	const changes = vi.spyOn(storage, "updateWebhook");
	expect((await api.call("PATCH", webhook, { body: { status: "paused" } })).status).toBe(503);
	for (const spy of [fails, changes]) spy.mockRestore();
	expect((await api.call("GET", webhook)).json.status).toBe("paused");
	expect((await noted(project))[0]).toMatchObject(["webhook.paused", { id: idOf(webhook) }, {}]);
});

// The entry was lost: only the service's log had it.
test("an entry that storage can't take is written later, and the project's other changes wait for it", async () => {
	const [project, other] = [await api.project(), await api.project()];
	const full = new StorageError("full", "The disk is full.");
	const fails = vi.spyOn(api.parts.storage, "appendAudit").mockRejectedValue(full);
	const rename = (path: string, name: string) => api.call("PATCH", path, { body: { name } });
	expect((await rename(project, "first")).status).toBe(200);
	const refused = await rename(project, "second");
	expect([refused.status, refused.json.detail]).toEqual([503, expect.stringContaining("Nothing was stored.")]);
	expect((await api.call("GET", project)).json.name).toBe("first");
	await api.publish(project);
	fails.mockRestore();
	expect((await rename(other, "elsewhere")).status).toBe(200);
	expect((await rename(project, "third")).status).toBe(200);
	expect((await auditOf(project)).data.map(({ target }) => target?.name)).toEqual(["third", "first", "Store"]);
});

test("a failed audit write is logged, and doesn't fail the call", async () => {
	const broken = await TestApi.start({
		parts: ({ auditLog }) => ({
			auditLog: Object.assign(Object.create(auditLog) as typeof auditLog, {
				record: () => Promise.reject(new Error("full")),
			}),
		}),
	});
	const { status } = await broken.call("POST", "/v1/projects", { body: { name: "Store" } });
	expect(status).toBe(201);
	expect(broken.logs.filter((line) => line.includes("failed to write the audit log"))).toHaveLength(1);
	await broken.close();
});

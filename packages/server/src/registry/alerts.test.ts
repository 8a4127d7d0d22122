import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { VirtualClock } from "../../../testkit/src/virtual-clock.ts";
import { MemoryWorld } from "../../test/storage/memory/world.ts";
import { ALERTS } from "../base/budgets.ts";
import { type AttemptSummary, type Project, type Storage, StorageError } from "../storage/port.ts";
import type { AlertEvent } from "./alert-event.ts";
import { Alerts } from "./alerts.ts";
import { healthOf, type JudgedWebhook, NO_FIGURES } from "./health.ts";

const MINUTE_MS = 60_000;
const PROJECT: Project = { id: "proj_1", name: "Candle Shop", apps: ["developer"], createdAt: 0 };

const PAGE = readFileSync(new URL("../../../../docs/operations/alerts.md", import.meta.url), "utf8");
/** The names of all members, in order. */
const namesIn = (value: object): unknown[] =>
	Object.entries(value).map(([name, member]) =>
		typeof member === "object" && member !== null ? [name, namesIn(member)] : name,
	);

let memory: MemoryWorld;
let clock: VirtualClock;
beforeEach(async () => {
	memory = await MemoryWorld.open();
	clock = new VirtualClock(Date.UTC(2026, 10, 30, 10, 30));
});
afterEach(() => memory.world.dispose());

/** A node's alerts, and what their receiver got. It accepts them while `fault` is null. */
function node(
	state: State = { fault: null },
	storage: Pick<Storage, "getSetting" | "replaceSetting"> = memory.world.storage,
) {
	const events: AlertEvent[] = [];
	const lines: string[] = [];
	const note = (_: unknown, message: string) => void lines.push(message);
	const alerts = new Alerts({
		storage,
		receiver: {
			async send(event) {
				events.push(event);
				return (await state.faultOf?.(event)) ?? state.fault ?? null;
			},
		},
		clock: {
			now: () => clock.now(),
			elapsed: () => clock.elapsed(),
			setTimeout: (fn, ms) => clock.setTimeout(fn, ms),
			setImmediate: (fn) => void setImmediate(fn),
		},
		logger: { warn: note, error: note } as never,
		publicUrl: () => "https://hooks.example",
		isHeld: () => state.isHeld ?? false,
	});
	/** Reports on these webhooks, and returns what was sent. */
	const report = async (...webhooks: readonly JudgedWebhook[]) => {
		await alerts.report(PROJECT, webhooks);
		return events.splice(0).map(({ id, type, body }) => ({ id, type, ...JSON.parse(body.toString()) }));
	};
	const types = async (...webhooks: readonly JudgedWebhook[]) => (await report(...webhooks)).map(({ type }) => type);
	return { alerts, report, types, lines, state };
}

interface State {
	fault?: string | null;
	readonly faultOf?: (event: AlertEvent) => string | null | Promise<string | null>;
	isHeld?: boolean;
}

const attempt = (id: string, startedAt: number, about: Partial<AttemptSummary> = {}): AttemptSummary => ({
	...{ id, webhookId: "wh_1", seq: 7, eventId: "evt_7", eventType: "purchase.completed", attempt: 3, replay: 0 },
	...{ status: "retrying", statusCode: 500, errorCode: null, error: null, startedAt, responseMs: 12 },
	...{ nextRetryAt: null, url: "https://receiver.example/secret-path" },
	...about,
});

/** A webhook as a pass finds it. @param failingSince when the first of the last failed attempts started; null if none */
function webhook(
	failingSince: number | null,
	figures: Partial<JudgedWebhook["figures"]> = {},
	more: Partial<JudgedWebhook> = {},
): JudgedWebhook {
	const status = more.status ?? "active";
	const all = {
		...NO_FIGURES,
		...{
			status,
			secretState: "usable" as const,
			lastAttempt: attempt("att_2", clock.now() - 1_000, { status: "delivered", statusCode: 200 }),
		},
		...(failingSince !== null && {
			lastAttempt: attempt("att_9", clock.now() - 1_000),
			failingSince: attempt(`att_${failingSince}`, failingSince),
			failedInARow: 3,
			recent: { delivered: 0, failed: 3 },
			lastDeliveredAt: 1,
		}),
		...figures,
	};
	return {
		...{ id: "wh_1", projectId: PROJECT.id, url: "https://receiver.example/secret-path?token=1", maxInFlight: 1 },
		...{ description: "Accounting", events: [], standardWebhooks: false, hasStandardDigest: false, createdAt: 0 },
		sealedDigest: new Uint8Array(),
		...{ figures: all, health: healthOf(all, clock.now()), status },
		...more,
	};
}

test("reports once that a webhook keeps failing, and once that it is healthy again", async () => {
	const { report, types } = node();
	const since = clock.now();
	await clock.advance(ALERTS.failingMs - 1);
	expect(await types(webhook(since))).toEqual([]);
	await clock.advance(1);
	const waiting = { count: 12, tests: 0, nextAt: clock.now() + MINUTE_MS };
	const [alert, ...others] = await report(webhook(since, { waiting, deadLetters: 1 }));
	expect(others).toEqual([]);
	expect(alert).toEqual({
		id: expect.stringMatching(/^alert_[0-9a-f]{32}$/),
		type: "webhook.failing",
		created_at: "2026-11-30T10:35:00.000Z",
		project_id: "proj_1",
		data: {
			text:
				"“Accounting” (receiver.example) of Candle Shop has been failing since 2026-11-30 10:30 UTC. " +
				"The receiver returned 500. 12 deliveries are waiting to be retried. " +
				"1 delivery has failed for good. Replay or dismiss them. https://hooks.example/p/proj_1/webhooks/wh_1",
			project_name: "Candle Shop",
			webhook: {
				id: "wh_1",
				description: "Accounting",
				host: "receiver.example",
				health: "failing",
				secret_state: "usable",
			},
			failing_since: "2026-11-30T10:30:00.000Z",
			last_attempt: {
				...{ id: "att_9", event_id: "evt_7", event_type: "purchase.completed", attempt: 3 },
				...{ started_at: "2026-11-30T10:34:59.000Z", status_code: 500, error: null },
			},
			waiting: 12,
			next_attempt_at: "2026-11-30T10:36:00.000Z",
			dead_letters: 1,
			dashboard_url: "https://hooks.example/p/proj_1/webhooks/wh_1",
		},
	});
	expect(JSON.stringify(alert)).not.toMatch(/secret-path|token/);
	expect(namesIn(alert)).toEqual(namesIn(JSON.parse(/```json\n(.*?)```/s.exec(PAGE)![1]!)));
	await clock.advance(MINUTE_MS);
	expect(await types(webhook(since, { deadLetters: 1 }))).toEqual([]);
	// Unstable: it may fail again.
	expect(await types(webhook(null, { recent: { delivered: 1, failed: 3 }, deadLetters: 1 }))).toEqual([]);
	expect(await types(webhook(null, { deadLetters: 1 }))).toEqual(["webhook.recovered"]);
	expect(await types(webhook(null, { deadLetters: 1 }))).toEqual([]);
});

test("another outage is another alert, with an id of its own", async () => {
	const { report } = node();
	const ids = new Set<string>();
	for (let outage = 0; outage < 3; outage++) {
		const since = clock.now();
		await clock.advance(ALERTS.failingMs);
		for (const state of [webhook(since), webhook(null)]) for (const { id } of await report(state)) ids.add(id);
	}
	expect(ids.size).toBe(6);
});

test("a receiver that accepts a request now and then, but hardly any, keeps failing, too", async () => {
	const { report, types } = node();
	const state = () => webhook(null, { recent: { delivered: 1, failed: 39 } });
	expect(await types(state())).toEqual([]);
	await clock.advance(ALERTS.failingMs - 1);
	expect(await types(state())).toEqual([]);
	await clock.advance(1);
	const [alert] = await report(state());
	expect(alert).toMatchObject({ type: "webhook.failing", data: { failing_since: null } });
	expect(alert.data.text).toContain("of Candle Shop has been failing. 39 of the last 40 attempts failed.");
	expect(await types(state())).toEqual([]);
});

test("a failure that ends in between begins again", async () => {
	const { types } = node();
	const failing = () => webhook(null, { recent: { delivered: 1, failed: 39 } });
	expect(await types(failing())).toEqual([]);
	await clock.advance(ALERTS.failingMs / 2);
	expect(await types(webhook(null, { recent: { delivered: 20, failed: 39 } }))).toEqual([]);
	await clock.advance(ALERTS.failingMs / 2);
	expect(await types(failing())).toEqual([]);
	await clock.advance(ALERTS.failingMs);
	expect(await types(failing())).toEqual(["webhook.failing"]);
});

// An owner who dismissed each one, or a webhook that recovered, had the next one reported within a minute.
test("reports dead letters at most once an hour, even if there are none in between", async () => {
	const { report, types } = node();
	const [alert] = await report(webhook(null, { deadLetters: 1 }));
	expect(alert.data.text).toContain("of Candle Shop has dead letters: 1 delivery has failed for good.");
	await clock.advance(ALERTS.deadLettersMs - 1);
	expect(await types(webhook(null, { deadLetters: 3 }))).toEqual([]);
	await clock.advance(1);
	expect(await types(webhook(null, { deadLetters: 3 }))).toEqual(["webhook.dead_letters"]);
	await clock.advance(ALERTS.deadLettersMs);
	// Two were dismissed, then another one failed.
	expect(await types(webhook(null, { deadLetters: 1 }))).toEqual([]);
	expect(await types(webhook(null, { deadLetters: 2 }))).toEqual(["webhook.dead_letters"]);
	expect(await types(webhook(null))).toEqual([]);
	expect(await types(webhook(null, { deadLetters: 1 }))).toEqual([]);
	await clock.advance(ALERTS.deadLettersMs);
	expect(await types(webhook(null, { deadLetters: 1 }))).toEqual(["webhook.dead_letters"]);
	expect(await types(webhook(null))).toEqual([]);
	await clock.advance(ALERTS.deadLettersMs);
	// Nothing is left to remember.
	expect(await types(webhook(null))).toEqual([]);
	expect(await memory.world.storage.getSetting({ name: "alerts:proj_1" })).toBe("{}");
});

test("a clock that was ahead doesn't silence it", async () => {
	const { types } = node();
	clock.set(ALERTS.deadLettersMs * 48);
	expect(await types(webhook(null, { deadLetters: 1 }))).toEqual(["webhook.dead_letters"]);
	clock.set(-ALERTS.deadLettersMs * 48);
	expect(await types(webhook(null, { deadLetters: 2 }))).toEqual(["webhook.dead_letters"]);
});

// The failure counted from the time that the clock had shown.
test("a clock that was ahead when a failure was first seen doesn't delay its alert", async () => {
	const { types } = node();
	const failing = () => webhook(null, { recent: { delivered: 1, failed: 39 } });
	clock.set(ALERTS.failingMs * 48);
	expect(await types(failing())).toEqual([]);
	clock.set(-ALERTS.failingMs * 48);
	expect(await types(failing())).toEqual([]);
	await clock.advance(ALERTS.failingMs);
	expect(await types(failing())).toEqual(["webhook.failing"]);
});

// Its five minutes began again.
test("an alert about dead letters in between doesn't delay one about a failure", async () => {
	const { types } = node();
	const failing = (deadLetters: number) => webhook(null, { recent: { delivered: 1, failed: 39 }, deadLetters });
	expect(await types(failing(0))).toEqual([]);
	await clock.advance(ALERTS.failingMs / 2);
	expect(await types(failing(1))).toEqual(["webhook.dead_letters"]);
	await clock.advance(ALERTS.failingMs / 2);
	expect(await types(failing(1))).toEqual(["webhook.failing"]);
});

// The time was that of the test's attempt.
test("an attempt of a test isn't the next attempt of an alert", async () => {
	const waiting = { count: 1, tests: 1, nextAt: clock.now() + MINUTE_MS };
	const [{ data }] = await node().report(webhook(null, { waiting, deadLetters: 1 }));
	expect(data).toMatchObject({ waiting: 0, next_attempt_at: null });
});

// Each time, it was reported as failing again.
test("a failing webhook that is paused and resumed isn't reported again until it has recovered", async () => {
	const { types } = node();
	const since = clock.now();
	await clock.advance(ALERTS.failingMs);
	expect(await types(webhook(since))).toEqual(["webhook.failing"]);
	for (let pause = 0; pause < 3; pause++) {
		expect(await types(webhook(since, {}, { status: "paused" }))).toEqual([]);
		expect(await types(webhook(since))).toEqual([]);
	}
	expect(await types(webhook(since, {}, { status: "paused" }))).toEqual([]);
	expect(await types(webhook(null))).toEqual(["webhook.recovered"]);
	expect(await types(webhook(since))).toEqual(["webhook.failing"]);
});

// Its earlier attempts had been delivered, so no alert said that nothing is sent anymore.
test.each([
	["unreadable", "can't be read. Restore its seal key, or rotate the secret."],
	["lost", "was lost with its seal key. Rotate it."],
] as const)(
	"a webhook whose secret is %s is reported once, and once that it is healthy again",
	async (secretState, why) => {
		const { report, types } = node();
		const ids = new Set<string>();
		for (let time = 0; time < 2; time++) {
			const mute = () => webhook(null, { secretState });
			expect(await types(mute())).toEqual([]);
			await clock.advance(ALERTS.failingMs - 1);
			expect(await types(mute())).toEqual([]);
			await clock.advance(1);
			const [alert] = await report(mute());
			expect(alert).toMatchObject({
				type: "webhook.failing",
				data: {
					text: `Nothing is sent to “Accounting” (receiver.example) of Candle Shop: its signing secret ${why} https://hooks.example/p/proj_1/webhooks/wh_1`,
					webhook: { health: "failing", secret_state: secretState },
				},
			});
			ids.add(alert.id);
			expect(await types(mute())).toEqual([]);
			const [recovered] = await report(webhook(null));
			expect(recovered).toMatchObject({ type: "webhook.recovered", data: { webhook: { secret_state: "usable" } } });
			ids.add(recovered.id);
		}
		expect(ids.size).toBe(4);
	},
);

test("a webhook without a readable secret is reported once even if nothing was ever sent to it", async () => {
	const { types } = node();
	const mute = () => webhook(null, { ...NO_FIGURES, secretState: "unreadable" });
	expect(await types(mute())).toEqual([]);
	await clock.advance(ALERTS.failingMs);
	expect(await types(mute())).toEqual(["webhook.failing"]);
	expect(await types(mute())).toEqual([]);
	// Its secret was rotated, then its first delivery arrived.
	expect(await types(webhook(null, NO_FIGURES))).toEqual([]);
	expect(await types(webhook(null))).toEqual(["webhook.recovered"]);
});

test("what isn't accepted is sent again, with the same id, and not if it has ended by then", async () => {
	const { report, types, lines, state } = node({ fault: "The receiver returned 500." });
	const since = clock.now();
	await clock.advance(ALERTS.failingMs);
	const [first] = await report(webhook(since));
	await clock.advance(MINUTE_MS);
	const [second] = await report(webhook(since));
	expect(second.id).toBe(first.id);
	expect(await types(webhook(null))).toEqual([]);
	state.fault = null;
	expect(await types(webhook(since))).toEqual(["webhook.failing"]);
	expect(lines[0]).toBe("the receiver of alerts didn't accept one; it is sent again later");
	expect(lines.at(-1)).toBe("the receiver of alerts accepts them again");
});

/** Runs passes with these webhooks, all with a dead letter. Returns those of each pass's alerts; `refused` are never accepted. */
async function passes(ids: readonly string[], count: number, refused: (id: string) => boolean): Promise<string[][]> {
	const sent: string[] = [];
	const { alerts } = node({
		faultOf: ({ body }) => {
			const { project_id, data } = JSON.parse(body.toString());
			const id = `${project_id} ${data.webhook.id}`;
			sent.push(id);
			return refused(id) ? "The receiver returned 400." : null;
		},
	});
	const all: string[][] = [];
	for (let pass = 0; pass < count; pass++) {
		for (const [projectId, webhooks] of Map.groupBy(ids, (id) => id.split(" ")[0]!))
			await alerts.report(
				{ ...PROJECT, id: projectId },
				webhooks.map((id) => webhook(null, { deadLetters: 1 }, { id: id.split(" ")[1]! })),
			);
		all.push(sent.splice(0));
		await clock.advance(MINUTE_MS);
	}
	return all;
}

test("alerts that are never accepted don't keep those of other projects from being sent", async () => {
	const refused = Array.from({ length: ALERTS.refusals + 1 }, (_, i) => `proj_1 wh_${i}`);
	const others = ["proj_2 wh_1", "proj_3 wh_1"];
	const [first, second, third] = await passes([...refused, ...others], 3, (id) => refused.includes(id));
	expect(first).toEqual(refused.slice(0, ALERTS.refusals));
	expect(second).toEqual([refused.at(-1), ...others]);
	expect(third).toEqual(first);
});

test("alerts that are never accepted don't keep those of their own project from being sent", async () => {
	const ids = Array.from({ length: 3 * ALERTS.refusals }, (_, i) => `proj_1 wh_${i}`);
	const all = await passes(ids, 3, (id) => id < `proj_1 wh_${2 * ALERTS.refusals}`);
	expect(all).toEqual([
		ids.slice(0, ALERTS.refusals),
		ids.slice(ALERTS.refusals, 2 * ALERTS.refusals),
		ids.slice(2 * ALERTS.refusals),
	]);
});

test("while the receiver accepts nothing, each pass tries a few, and all have a turn", async () => {
	const ids = Array.from({ length: 2 * ALERTS.refusals + 1 }, (_, i) => `proj_${i} wh_1`);
	const [first, second, third, fourth] = await passes(ids, 4, () => true);
	expect([first, second, third].map((pass) => pass!.length)).toEqual([ALERTS.refusals, ALERTS.refusals, 1]);
	expect([...first!, ...second!, ...third!]).toEqual(ids);
	expect(fourth).toEqual(first);
});

// With hundreds of failing webhooks, a pass took hours: other alerts and the metrics waited that long.
test("a receiver that takes its time doesn't hold up a pass, and each project has its turn", async () => {
	const sent: string[] = [];
	const { alerts } = node({
		async faultOf({ body }) {
			sent.push(JSON.parse(body.toString()).project_id);
			await clock.advance(5_000);
			return null;
		},
	});
	const ids = Array.from({ length: 20 }, (_, i) => `proj_${String(i).padStart(2, "0")}`);
	const passes: number[] = [];
	for (let pass = 0; pass < 4; pass++) {
		const begun = clock.elapsed();
		// Each has another dead letter all the time, so the first ones could always send.
		for (const id of ids) await alerts.report({ ...PROJECT, id }, [webhook(null, { deadLetters: pass + 1 })]);
		passes.push(clock.elapsed() - begun);
		await clock.advance(ALERTS.deadLettersMs);
	}
	expect(Math.max(...passes)).toBe(ALERTS.sendingMs);
	expect(sent.slice(0, ids.length)).toEqual(ids);
});

// The pass ended there: others' alerts weren't sent, this one was sent in every pass, and the metrics had no counts.
test("a project whose row is locked delays no other, and its alert is sent once", async () => {
	const { storage } = memory.world;
	let locked = "alerts:proj_1";
	const { alerts, types, lines } = node(
		{ fault: null },
		{
			getSetting: (at) => storage.getSetting(at),
			async replaceSetting(change) {
				if (change.name === locked) throw new StorageError("locked", "A transaction has locked it.");
				return storage.replaceSetting(change);
			},
		},
	);
	expect(await types(webhook(null, { deadLetters: 1 }))).toEqual(["webhook.dead_letters"]);
	expect(lines).toEqual(["failed to read or store what alerts reported; others continue"]);
	await alerts.report({ ...PROJECT, id: "proj_2" }, [webhook(null, { deadLetters: 1 })]);
	expect(await storage.getSetting({ name: "alerts:proj_2" })).not.toBeNull();
	// That of the other project.
	expect(await types(webhook(null, { deadLetters: 1 }))).toHaveLength(1);
	await clock.advance(ALERTS.deadLettersMs);
	expect(await types(webhook(null, { deadLetters: 2 }))).toEqual(["webhook.dead_letters"]);
	locked = "";
	expect(await types(webhook(null, { deadLetters: 2 }))).toEqual([]);
	expect(await node().types(webhook(null, { deadLetters: 2 }))).toEqual([]);
});

test("nothing more of a project is sent once the service stops", async () => {
	const { alerts, types } = node({
		faultOf: () => {
			void alerts.stop();
			return null;
		},
	});
	const all = ["wh_1", "wh_2"].map((id) => webhook(null, { deadLetters: 1 }, { id }));
	expect(await types(...all)).toHaveLength(1);
	expect(await node().types(...all)).toHaveLength(1);
});

test("a project's alerts are limited in each pass, and none is forgotten", async () => {
	const { report } = node();
	const all = Array.from({ length: ALERTS.perProject + 3 }, (_, i) =>
		webhook(null, { deadLetters: 1 }, { id: `wh_${String(i).padStart(2, "0")}` }),
	);
	const first = await report(...all);
	const second = await report(...all);
	expect([first.length, second.length]).toEqual([ALERTS.perProject, 3]);
	expect(new Set([...first, ...second].map(({ data }) => data.webhook.id)).size).toBe(all.length);
	expect(await report(...all)).toEqual([]);
});

// If passes take over an hour, dead letters are due again by then: the first webhooks took every turn.
test("a project whose webhooks all have something new in each pass reports each in turn", async () => {
	const { report } = node();
	const ids = Array.from({ length: 2 * ALERTS.perProject + 3 }, (_, i) => `wh_${String(i).padStart(2, "0")}`);
	const passes: string[][] = [];
	for (let pass = 1; pass <= 4; pass++) {
		const alerts = await report(...ids.map((id) => webhook(null, { deadLetters: pass }, { id })));
		passes.push(alerts.map(({ data }) => data.webhook.id));
		await clock.advance(ALERTS.deadLettersMs);
	}
	const turns = [0, 1, 2].map((turn) => ids.slice(turn * ALERTS.perProject, (turn + 1) * ALERTS.perProject));
	expect(passes).toEqual([...turns, turns[0]]);
});

test("another node, or the next process, knows what was reported", async () => {
	expect(await node().types(webhook(null, { deadLetters: 1 }))).toEqual(["webhook.dead_letters"]);
	expect(await node().types(webhook(null, { deadLetters: 1 }))).toEqual([]);
});

test("nothing is sent while the database is in quarantine", async () => {
	const { types, state } = node({ fault: null, isHeld: true });
	expect(await types(webhook(null, { deadLetters: 1 }))).toEqual([]);
	state.isHeld = false;
	expect(await types(webhook(null, { deadLetters: 1 }))).toEqual(["webhook.dead_letters"]);
});

test.each(["", "null", "[1]", '{"wh_1":1}', '{"wh_1":{"failing":3,"seenAt":null,"deadLetters":1,"at":1}}', "{"])(
	"a setting that is damaged (%s) means that nothing was reported",
	async (value) => {
		await memory.world.storage.setSetting({ name: "alerts:proj_1", value });
		const { types } = node();
		expect(await types(webhook(null, { deadLetters: 1 }))).toEqual(["webhook.dead_letters"]);
		expect(await types(webhook(null, { deadLetters: 1 }))).toEqual([]);
	},
);

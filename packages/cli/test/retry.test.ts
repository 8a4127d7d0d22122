import { createAuthority, settingsOfNodes, startReceiver, writeCaFile } from "@posthorn/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Running, useStage } from "./client.fixture.ts";

const on = useStage();

/** Fails as long as `status` says so. */
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let status = 500;
beforeAll(async () => {
	const authority = await createAuthority();
	receiver = await startReceiver({ authority, respond: () => ({ status }) });
	const { POSTHORN_EGRESS_ALLOW, POSTHORN_EGRESS_CA_FILE } = settingsOfNodes(writeCaFile(authority, on.service.folder));
	await on.service.stop();
	// So long that no retry is made unless a command asks for it.
	const settings = { POSTHORN_EGRESS_ALLOW, POSTHORN_EGRESS_CA_FILE, POSTHORN_RETRY_DELAYS: "86400" };
	Object.assign(on.service.settings, settings);
	await on.service.startAgain();
});
afterAll(() => receiver.close());
beforeEach(() => {
	status = 500;
});

async function webhook(...args: string[]): Promise<string> {
	const create = ["webhooks", "create", receiver.url("/hooks"), "--events", "delivery.success", "--json", ...args];
	return JSON.parse((await on.user.run(create)).out).id;
}

const publish = (...ids: string[]) =>
	on.project.publish(ids.map((id) => ({ id, type: "delivery.success" as const, data: {} })));

/** Follows the log until the end of the block. `until` waits for this many attempts. */
function followed() {
	const tail = new Running(on.user.spawn(["logs", "tail", "--json"]));
	return {
		until: (count: number) => tail.until(`${count} attempts`, () => tail.lines.length >= count),
		numbers: () => tail.lines.map(({ event_id, attempt, status }) => `${event_id} ${attempt} ${status}`),
		[Symbol.asyncDispose]: async () => void (await tail.end("SIGINT")),
	};
}

test("an event is retried at the webhooks where it waits, or at one of them", async () => {
	const [first, second] = [await webhook(), await webhook()];
	await using log = followed();
	await publish("evt_1", "evt_2");
	await log.until(4);
	status = 200;
	const one = await on.user.run(["retry", "--event", "evt_1", "--webhook", first, "--json"]);
	expect(one).toMatchObject({ code: 0, out: '{"count":1}\n', err: "" });
	await log.until(5);
	const all = await on.user.run(["retry", "--event", "evt_2"]);
	expect(all.out).toBe("Retrying 2 deliveries now. posthorn logs tail --event evt_2 shows the attempts.\n");
	await log.until(7);
	expect(log.numbers().slice(4)).toEqual(["evt_1 2 delivered", "evt_2 2 delivered", "evt_2 2 delivered"]);
	const rest = await on.user.run(["retry", "--event", "evt_1", "--json"]);
	expect(rest.out).toBe('{"count":1}\n');
	await log.until(8);
	expect(second).not.toBe(first);
});

test("says what became of a delivery that doesn't wait, and what sends it again", async () => {
	const id = await webhook();
	await using log = followed();
	status = 200;
	await publish("evt_good");
	await log.until(1);
	const delivered = await on.user.run(["retry", "--event", "evt_good"]);
	const again = `posthorn replay --event evt_good --webhook ${id} --status delivered`;
	expect(delivered).toMatchObject({ code: 1, out: "" });
	expect(delivered.err).toBe(`evt_good was delivered to ${id}, so no retry waits. To send it again:\n  ${again}\n`);
	expect((await on.user.run([...again.split(" ").slice(1), "--yes"])).out).toContain("Sending 1 delivery again.");
	await log.until(2);

	status = 500;
	await publish("evt_bad");
	await log.until(3);
	await on.user.run(["retry", "--event", "evt_bad"]);
	await log.until(4);
	const failed = await on.user.run(["retry", "--event", "evt_bad", "--webhook", id]);
	expect(failed.err).toBe(
		`evt_bad has failed for good at ${id}, so no retry waits. To send it again:\n  posthorn replay --event evt_bad --webhook ${id}\n`,
	);
	const trigger = ["trigger", "delivery.success", "--webhook", id, "--json"];
	const { event_id } = JSON.parse((await on.user.run(trigger)).out);
	await log.until(5);
	await on.user.run(["retry", "--event", event_id]);
	await log.until(6);
	// A replay by filter leaves test events out.
	const test = await on.user.run(["retry", "--event", event_id]);
	expect(test.err).toContain(`To send a new test event:\n  posthorn trigger delivery.success --webhook ${id}\n`);

	await publish("evt_deleted");
	await log.until(7);
	await on.user.run(["webhooks", "delete", id, "--yes"]);
	await log.until(8);
	const deleted = await on.user.run(["retry", "--event", "evt_deleted"]);
	expect(deleted.err).toBe(`${id} was deleted, so evt_deleted isn't sent to it.\n`);
	// Nor can what has failed before be replayed there.
	expect((await on.user.run(["retry", "--event", "evt_bad"])).err).toBe(
		`${id} was deleted, so evt_bad isn't sent to it.\n`,
	);
	await publish("evt_nowhere");
	const nowhere = await on.user.run(["retry", "--event", "evt_nowhere"]);
	expect(nowhere).toMatchObject({
		code: 1,
		err: expect.stringContaining("has no attempt to any webhook yet. If a webhook gets its type,"),
	});
	const foreign = await on.user.run(["retry", "--event", "evt_nowhere", "--webhook", "wh_none"]);
	expect(foreign.err).toMatch(/404: There is no such webhook.*\nIt may have been deleted/);
	expect(await on.user.run(["retry", "--event", "evt_none"])).toMatchObject({
		code: 1,
		err: expect.stringContaining("404: There is no such event"),
	});
});

test("everything that waits at a webhook is retried after showing how many", async () => {
	const [id, other] = [await webhook(), await webhook()];
	await using log = followed();
	await publish("evt_1", "evt_2");
	await log.until(4);
	const asked = await on.user.run(["retry", "--webhook", id]);
	expect(asked).toMatchObject({ code: 2, out: "" });
	expect(asked.err).toContain(`Retry 2 deliveries to ${receiver.url("/hooks")} (${id}) now?`);
	expect(asked.err).toContain("There is no terminal to ask at: add --yes to confirm.");
	if (process.platform === "linux") {
		const { code, shown } = await on.user.runAtTerminal(`posthorn retry --webhook ${id}`, "(y/N)", "n\r");
		expect([code, shown]).toEqual([1, expect.stringContaining("Nothing was sent.")]);
	}
	const done = await on.user.run(["retry", "--webhook", id, "--yes"]);
	expect(done.out).toBe(`Retrying 2 deliveries now. posthorn logs tail --webhook ${id} shows the attempts.\n`);
	await log.until(6);
	expect(log.numbers().slice(4).sort()).toEqual(["evt_1 2 failed", "evt_2 2 failed"]);
	const none = await on.user.run(["retry", "--webhook", id, "--yes"]);
	expect(none).toEqual({
		code: 0,
		out: `No delivery to ${id} waits for a retry.\n`,
		err: `2 deliveries failed for good: posthorn replay --webhook ${id} sends them again.\n`,
	});
	expect((await on.user.run(["retry", "--webhook", id, "--json"])).out).toBe('{"count":0}\n');
	expect((await on.user.run(["retry", "--webhook", other, "--yes", "--json"])).out).toBe('{"count":2}\n');
});

test("retries nothing at a paused webhook, and says how to resume it", async () => {
	const [active, paused] = [await webhook(), await webhook()];
	await using log = followed();
	await publish("evt_1");
	await log.until(2);
	await on.user.run(["webhooks", "pause", paused]);
	const advice = `${paused} is paused, so nothing is sent to it. Resume it first: posthorn webhooks resume ${paused}\n`;
	const refused = { code: 1, out: "", err: advice };
	expect(await on.user.run(["retry", "--webhook", paused, "--yes"])).toEqual(refused);
	expect(await on.user.run(["retry", "--event", "evt_1", "--webhook", paused])).toEqual(refused);
	expect(await on.user.run(["retry", "--event", "evt_1"])).toMatchObject({
		code: 0,
		out: expect.stringContaining("Retrying 1 delivery now."),
		err: `! ${advice}`,
	});
	await log.until(3);
	expect(active).not.toBe(paused);
});

// It said that the event was delivered, and to replay it, which found nothing to replay.
test("a replay that waits for its first attempt counts as waiting", async () => {
	const [id, other] = [await webhook(), await webhook()];
	await using log = followed();
	status = 200;
	await publish("evt_1");
	await log.until(2);
	await on.user.run(["webhooks", "pause", id]);
	const replayed = await on.user.run(["replay", "--event", "evt_1", "--webhook", id, "--status", "delivered", "--yes"]);
	expect(replayed.out).toContain("Sending 1 delivery again.");
	expect(await on.user.run(["retry", "--event", "evt_1"])).toEqual({
		code: 1,
		out: "",
		err: `${id} is paused, so nothing is sent to it. Resume it first: posthorn webhooks resume ${id}\n`,
	});
	// Elsewhere nothing waits.
	expect((await on.user.run(["retry", "--event", "evt_1", "--webhook", other])).err).toContain("was delivered to");
});

test("a retry needs a choice, a webhook that exists, and a key that may manage", async () => {
	expect(await on.user.run(["retry", "--yes"])).toMatchObject({
		code: 2,
		err: expect.stringMatching(/^Choose what to retry: --event evt_…, or --webhook wh_…/),
	});
	const id = await webhook();
	await using log = followed();
	await publish("evt_1");
	await log.until(1);
	const { key } = (await on.service.post(`/v1/projects/${on.project.id}/api-keys`, {
		name: "Reader",
		scopes: ["read"],
	})) as { key: string };
	for (const args of [
		["--webhook", id, "--yes"],
		["--event", "evt_1"],
	])
		expect(await on.user.run(["retry", ...args], { env: { POSTHORN_API_KEY: key } })).toMatchObject({
			code: 1,
			err: expect.stringMatching(
				/403: This key has the scope read; this requires manage\..* create a key that has manage/,
			),
		});
	await on.user.run(["webhooks", "delete", id, "--yes"]);
	for (const args of [
		["retry", "--webhook", id],
		["webhooks", "pause", id],
		["webhooks", "update", id, "--events", "all"],
	])
		expect(await on.user.run(args), args.join(" ")).toMatchObject({
			code: 1,
			err: expect.stringMatching(/404: .*\nIt may have been deleted, .*: posthorn webhooks list shows/),
		});
});

describe("webhooks update", () => {
	test("changes what is given, and leaves the rest as it is", async () => {
		const id = await webhook("--description", "Accounting", "--max-in-flight", "3", "--standard-webhooks");
		const read = async () => JSON.parse((await on.user.run(["webhooks", "get", id, "--json"])).out);
		const before = await read();
		expect(before).toMatchObject({ description: "Accounting", max_in_flight: 3, standard_webhooks: true });
		const update = (...args: string[]) => on.user.run(["webhooks", "update", id, ...args]);
		const url = receiver.url("/new");
		expect(await update("--endpoint", url)).toEqual({ code: 0, out: `${id} is changed.\n`, err: "" });
		expect(await read()).toEqual({ ...before, url });
		const events = "purchase.refunded,purchase.completed";
		const { out } = await update("--events", events, "--no-standard-webhooks", "--description", "", "--json");
		expect(JSON.parse(out)).toEqual({
			...before,
			...{ url, events: ["purchase.completed", "purchase.refunded"], standard_webhooks: false, description: "" },
		});
		await update("--max-in-flight", "1", "--standard-webhooks");
		expect((await on.user.run(["webhooks", "get", id])).out).toMatch(
			/\nIn flight +one first attempt at a time, in order\nStandard Webhooks +on\n/,
		);
	});

	test.each([
		[[], /^Choose what to change: --endpoint,.*\n.*posthorn webhooks pause/],
		[["--events", ""], /^Which types\?/],
		[["--max-in-flight", "0"], /^--max-in-flight is "0"; give a whole number from 1\./],
	])("refuses %j before it calls the service", async (args, message) => {
		const env = { POSTHORN_URL: "http://127.0.0.1:1" };
		const { code, err } = await on.user.run(["webhooks", "update", "wh_1", ...args], { env });
		expect([code, err]).toEqual([2, expect.stringMatching(message)]);
	});
});

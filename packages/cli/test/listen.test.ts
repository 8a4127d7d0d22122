import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { NewEvent } from "@posthorn/client";
import { within } from "@posthorn/testkit";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { Service } from "../../client/test/service.fixture.ts";
import { ProgressFile } from "../src/client/listen/listen-position.ts";
import { LocalReceiver, openServer, Running, User } from "./client.fixture.ts";

const event = (id: string): NewEvent => ({ id, type: "delivery.success", data: { order_id: id, detail: "é\u2028" } });
const ids = (count: number, prefix = "evt") => Array.from({ length: count }, (_, i) => `${prefix}_${i}`);
/** A publisher's pause between calls, milliseconds: something is always in progress, and there is little to catch up on. */
const PACE_MS = 20;

let service: Service;
let receiver: LocalReceiver;
let user: User;
const started: Running[] = [];
let project: Awaited<ReturnType<Service["project"]>>;

beforeAll(async () => {
	service = await Service.start();
	receiver = await LocalReceiver.start();
});
afterAll(async () => {
	await receiver.close();
	await service.close();
});
beforeEach(async () => {
	const { id, key } = await service.keyOfProject();
	// A restart may take longer than the usual retries last.
	project = service.clientOf(id, key, { retry: { retries: 600, maxDelayMs: 500 } });
	user = new User({ POSTHORN_URL: service.url, POSTHORN_API_KEY: key });
	receiver.secret = (await user.run(["listen", "--print-secret"])).out.trim();
	receiver.received.length = 0;
	receiver.status = 200;
	return async () => {
		// After a failed test they would send its events to the next one's receiver.
		for (const one of started.splice(0)) await one.end("SIGKILL");
		user.close();
	};
});

/** Starts to listen, and waits until it has found where to begin. */
async function listen(...more: readonly string[]): Promise<Running> {
	const listening = new Running(user.spawn(["listen", `${receiver.port}/hooks`, "--json", ...more]));
	started.push(listening);
	await listening.until("listen to be ready", () => listening.lines.some(({ kind }) => kind === "ready"));
	return listening;
}

function atTerminal(script: string): ChildProcess {
	const shell = user.atTerminal(script);
	onTestFinished(() => void shell.kill("SIGKILL"));
	return shell;
}

const arrived = () => receiver.received.map(({ id }) => id);
const firstArrivals = () => [...new Set(arrived())];

test("forwards new events with their exact bytes, signed with this machine's secret, and shows the responses", async () => {
	await project.publish(event("evt_before"));
	const listening = await listen();
	await project.publish([event("evt_a"), { type: "purchase.refunded", data: { order_id: "7", partial: true } }]);
	await listening.until("two responses", () => listening.lines.length === 3);
	receiver.status = 500;
	await project.publish(event("evt_b"));
	await listening.until("the third response", () => listening.lines.length === 4);
	expect(await listening.end("SIGTERM")).toBe(0);

	expect(arrived()).toEqual(["evt_a", expect.stringMatching(/^evt_/), "evt_b"]);
	expect(receiver.received.every(({ verified }) => verified)).toBe(true);
	expect(receiver.received[0]!.body).toBe((await project.get("evt_a")).event.raw);
	expect(listening.lines.slice(1)).toMatchObject([
		{ kind: "responded", event_id: "evt_a", status: 200, ms: expect.any(Number) },
		{ kind: "responded", type: "purchase.refunded" },
		// A response that the receiver meant is a response: it isn't repeated.
		{ kind: "responded", event_id: "evt_b", status: 500 },
	]);
	const folder = join(user.home, ".config/posthorn");
	for (const name of ["local-secret.json", ...readdirSync(join(folder, "listen")).map((file) => `listen/${file}`)])
		expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o600);
});

test("under load, everything arrives in order and nothing is lost while the service, listen and the receiver restart", async () => {
	const all = ids(300);
	let listening = await listen();
	const publishing = (async () => {
		for (let at = 0; at < all.length; at += 5) await project.publish(all.slice(at, at + 5).map(event));
	})();
	const until = (count: number) => receiver.until(`${count} events`, () => firstArrivals().length >= count);
	await until(40);
	await service.kill();
	await service.startAgain();
	await until(80);
	await listening.end("SIGKILL");
	listening = await listen();
	await until(120);
	await receiver.close();
	await listening.until("the receiver to be missed", () =>
		listening.lines.some(({ kind }) => kind === "receiver_away"),
	);
	await receiver.open();
	await until(160);
	await service.kill();
	await receiver.close();
	await receiver.open();
	await service.startAgain();
	await until(220);
	await service.stop();
	await service.startAgain();
	await publishing;
	await until(all.length);
	expect(await listening.end("SIGINT")).toBe(0);
	expect(firstArrivals()).toEqual(all);
	expect(receiver.received.every(({ verified }) => verified)).toBe(true);
	// Only the event in flight when listen was killed may have come twice.
	expect(arrived().length).toBeLessThanOrEqual(all.length + 3);
});

test("each event arrives once and in order while the service is killed ten times under load", async () => {
	const listening = await listen();
	let published = 0;
	let isOver = false;
	const publishing = (async () => {
		while (!isOver) {
			await project.publish(ids(4, `evt_${published}`).map(event));
			published += 4;
			await new Promise((resolve) => setTimeout(resolve, PACE_MS));
		}
	})();
	for (let kill = 0; kill < 10; kill++) {
		const before = arrived().length;
		await receiver.until("more events", () => arrived().length >= before + 10);
		await service.kill();
		await service.startAgain();
	}
	isOver = true;
	await publishing;
	await receiver.until("the last event", () => arrived().length >= published);
	expect(await listening.end("SIGTERM")).toBe(0);
	const all = Array.from({ length: published }, (_, n) => `evt_${n - (n % 4)}_${n % 4}`);
	expect(arrived()).toEqual(all);
	expect(receiver.received.every(({ verified }) => verified)).toBe(true);
});

test("a 503 of the receiver is a response; while a proxy can't reach it or it is away, each new cause is shown", async () => {
	const listening = await listen();
	receiver.status = 503;
	await project.publish([event("evt_a"), event("evt_b")]);
	await listening.until("both responses", () => listening.lines.length === 3);
	expect(listening.lines.slice(1)).toMatchObject([
		{ kind: "responded", event_id: "evt_a", status: 503, body: "no\u001b[2J" },
		{ kind: "responded", event_id: "evt_b", status: 503 },
	]);
	receiver.status = 502;
	await project.publish(event("evt_c"));
	const causes = () =>
		listening.lines.filter(({ kind }) => kind === "receiver_away").map(({ reason }) => String(reason));
	await listening.until("the first cause", () => causes().length === 1);
	await receiver.close();
	await listening.until("the second cause", () => causes().length === 2);
	receiver.status = 200;
	await receiver.open();
	await listening.until("the response", () =>
		listening.lines.some(({ event_id, kind }) => event_id === "evt_c" && kind === "responded"),
	);
	expect(causes()).toEqual([expect.stringMatching(/proxy responds with 502 Bad Gateway: no/), "nothing listens there"]);
	expect(listening.lines.at(-1)).toMatchObject({ kind: "responded", event_id: "evt_c", status: 200 });
	expect(await listening.end("SIGTERM")).toBe(0);
});

// It changed the terminal for its keys, for which the system stops processes in the background.
test.runIf(process.platform === "linux")("listens in the background of a terminal, too", async () => {
	await project.publish([event("evt_a"), event("evt_b")]);
	// Closing the terminal ends it, too.
	const shell = atTerminal(
		`trap : HUP; posthorn listen ${receiver.port}/hooks --from evt_a & read -r _; kill $!; kill -CONT $!; wait $!`,
	);
	const ended = once(shell, "close");
	const said = text(shell.stdout!);
	await receiver.until("both events", () => arrived().length === 2);
	shell.stdin!.write("\n");
	expect(await within("the shell to end", ended)).toEqual([0, null]);
	expect(arrived()).toEqual(["evt_a", "evt_b"]);
	expect(await said).toContain("Stopped. Run the same command");
	expect(await said).not.toContain("Ctrl-C ends");
});

test.runIf(process.platform === "linux")("takes keys in the foreground of a terminal", async () => {
	await project.publish([event("evt_a"), event("evt_b")]);
	const shell = atTerminal(`posthorn listen ${receiver.port}/hooks --from evt_a`);
	const ended = once(shell, "close");
	const said = text(shell.stdout!);
	await receiver.until("both events", () => arrived().length === 2);
	// F3, Alt+R and F2, of which the letters at the end counted: F2 ended it.
	shell.stdin!.write("\u001bOR\u001br\u001bOQr");
	await receiver.until("the last one again", () => arrived().length === 3);
	shell.stdin!.write("q");
	expect(await within("the shell to end", ended)).toEqual([0, null]);
	expect(arrived()).toEqual(["evt_a", "evt_b", "evt_b"]);
	expect(await said).toContain("r sends the last event again, q or Ctrl-C ends.");
});

// It only took keys once the service had responded.
test.runIf(process.platform === "linux")("q ends it while the service hangs", async () => {
	const asked = Promise.withResolvers<void>();
	await using silent = await openServer(createServer(() => asked.resolve()));
	const url = `http://127.0.0.1:${silent.port}`;
	const shell = atTerminal(`posthorn listen ${receiver.port} --url ${url} --project ${project.id}`);
	const ended = once(shell, "close");
	await within("the call", asked.promise);
	shell.stdin!.write("q");
	// After half a minute, it ends with an error.
	expect(await within("the shell to end", ended)).toEqual([130, null]);
});

test("the audit log says who listened, where to, and to which types", async () => {
	const listening = await listen("--events", "purchase.refunded,purchase.completed");
	await listening.end("SIGTERM");
	const { data } = (await service.get(`/v1/projects/${project.id}/audit`)) as { data: unknown[] };
	expect(data[0]).toMatchObject({
		action: "project.listened",
		actor: { kind: "api_key" },
		target: { kind: "project", id: project.id },
		detail: { target: `localhost:${receiver.port}`, types: ["purchase.refunded", "purchase.completed"] },
	});
});

test("begins at the given position: now, at an event, or at a time", async () => {
	const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
	await project.publish([5, 3, 1].map((hours) => ({ ...event(`evt_${hours}`), created_at: hoursAgo(hours) })));
	for (const [args, expected] of [
		[
			["--from", "evt_3"],
			["evt_3", "evt_1"],
		],
		[["--since", "2h"], ["evt_1"]],
		[
			["--since", "1d"],
			["evt_5", "evt_3", "evt_1"],
		],
	] as const) {
		receiver.received.length = 0;
		const listening = await listen(...args);
		await receiver.until("the events", () => arrived().length === expected.length);
		await listening.end("SIGTERM");
		expect(arrived(), args.join(" ")).toEqual(expected);
		const [flag, value] = args;
		expect(listening.errors).toContain(`Starting with ${flag === "--since" ? "events from the last " : ""}${value}.`);
	}
	receiver.received.length = 0;
	await project.publish(event("evt_missed"));
	const listening = await listen("--from", "now", "--events", "delivery.success");
	await project.publish([{ type: "delivery.failed", data: {} }, event("evt_new")]);
	await receiver.until("the new event", () => arrived().includes("evt_new"));
	await listening.end("SIGTERM");
	expect(arrived()).toEqual(["evt_new"]);
});

test("each choice of event types has a position of its own", async () => {
	const choices = [["--events", "delivery.success"], ["--events", "delivery.failed"], []] as const;
	for (const choice of choices) await (await listen(...choice)).end("SIGTERM");
	await project.publish([{ id: "evt_failed", type: "delivery.failed", data: {} }, event("evt_success")]);
	for (const [choice, expected] of [
		[choices[0], ["evt_success"]],
		[choices[1], ["evt_failed"]],
		[choices[2], ["evt_failed", "evt_success"]],
	] as const) {
		receiver.received.length = 0;
		const listening = await listen(...choice);
		await receiver.until("the events", () => arrived().length === expected.length);
		await listening.end("SIGTERM");
		expect(arrived()).toEqual(expected);
	}
	const pathOf = (types: readonly string[]) => new ProgressFile("u", "p", new URL("http://localhost"), types).path;
	expect(pathOf(["b", "a", "b"])).toBe(pathOf(["a", "b"]));
});

test.each([
	[["listen"], /receiver/],
	[["listen", "example.com/hooks"], /not this machine.*--allow-remote/],
	[["listen", "10.0.0.1:3000"], /--allow-remote/],
	[["listen", "127.0.0.1.example.com:3000"], /--allow-remote/],
	[["listen", "ftp://localhost/"], /not an endpoint/],
	[["listen", "http://user:secret@localhost:3000"], /user name or password/],
	[["listen", "3000", "--since", "yesterday"], /--since is "yesterday"/],
	[["listen", "3000", "--since", "1h", "--from", "evt_1"], /be combined/],
	[["listen", "3000", "--from", ""], /^--from is ""; it must be "now" or the id of an event/],
	[["listen", "3000", "--events", "purchase.complete"], /Unknown event type: purchase.complete/],
])("refuses %j", async (args, message) => {
	const { code, out, err } = await user.run(args);
	expect([code, out]).toEqual([2, ""]);
	expect(err).toMatch(message);
});

test("says when the key is wrong, and when the service can't be reached", async () => {
	const wrong = await user.run(["listen", "3000", "--project", project.id], { env: { POSTHORN_API_KEY: "phk_wrong" } });
	expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining("401") });
	const none = await user.run(["listen", "3000"], { env: { POSTHORN_API_KEY: "" } });
	expect(none).toMatchObject({ code: 2, err: expect.stringContaining("posthorn login") });
});

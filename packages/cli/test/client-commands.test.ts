import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EVENT_TYPES } from "@posthorn/protocol";
import {
	createAuthority,
	issueExpired,
	settingsOfNodes,
	startRawReceiver,
	startReceiver,
	unusedPort,
	within,
	writeCaFile,
} from "@posthorn/testkit";
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { storeNew } from "../src/client/stored.ts";
import { createProgram } from "../src/program.ts";
import { COMMAND, openServer, Running, User, useStage } from "./client.fixture.ts";

const on = useStage();

test("login says that a key may not read", async () => {
	const { key: publisher } = (await on.service.post(`/v1/projects/${on.project.id}/api-keys`, {
		name: "Shop server",
		scopes: ["publish"],
	})) as { key: string };
	const login = (one: string) => on.user.run(["login"], { env: { POSTHORN_API_KEY: one } });
	expect(await login(publisher)).toMatchObject({ code: 0, err: expect.stringContaining("with the scope read") });
	expect((await login(on.key)).err).not.toContain("scope");
});

test("login stores the key for its owner only, and sends it nowhere else", async () => {
	const newcomer = new User();
	try {
		const wrong = await newcomer.run(["login", "--url", on.service.url], { env: { POSTHORN_API_KEY: "phk_wrong" } });
		expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining("401") });
		const { code, out } = await newcomer.run(["login", "--url", on.service.url], { env: { POSTHORN_API_KEY: on.key } });
		expect([code, out]).toEqual([0, expect.stringContaining("for the project Store")]);
		expect(statSync(join(newcomer.home, ".config/posthorn/login.json")).mode & 0o777).toBe(0o600);
		expect(await newcomer.run(["events", "list", "--json"])).toMatchObject({ code: 0, out: "" });
		const elsewhere = await newcomer.run(["events", "list", "--url", "http://127.0.0.1:1"]);
		expect(elsewhere).toMatchObject({ code: 2, err: expect.stringContaining("no API key for http://127.0.0.1:1") });
		await newcomer.run(["logout"]);
		expect(await newcomer.run(["events", "list"])).toMatchObject({ code: 2 });
		writeFileSync(join(newcomer.home, "p.env"), `POSTHORN_URL="${on.service.url}"\nPOSTHORN_API_KEY=${on.key}\n`);
		expect(await newcomer.run(["events", "list", "--env-file", "p.env"])).toMatchObject({ code: 0 });
		const operator = { POSTHORN_URL: on.service.url, POSTHORN_API_KEY: on.service.settings.POSTHORN_OPERATOR_KEY! };
		const ambiguous = await newcomer.run(["events", "list"], { env: operator });
		expect(ambiguous).toMatchObject({ code: 2, err: expect.stringContaining(on.project.id) });
		expect(await newcomer.run(["events", "list", "--project", on.project.id], { env: operator })).toMatchObject({
			code: 0,
		});
	} finally {
		newcomer.close();
	}
});

// It was a TypeError, such as "text.replace is not a function".
test.each([
	"{}",
	"null",
	"5",
	"[]",
	'{"url":7,"key":"phk_1","project":"proj_1"}',
	'{"url":"https://hooks.example.com","key',
])("says how to replace the stored login %s", async (stored) => {
	const newcomer = new User();
	try {
		const folder = join(newcomer.home, ".config/posthorn");
		mkdirSync(folder, { recursive: true });
		writeFileSync(join(folder, "login.json"), stored);
		const { code, err } = await newcomer.run(["events", "list"]);
		const advice = 'Run "posthorn login" to replace it, or "posthorn logout" to delete it.';
		expect([code, err]).toEqual([1, `${join(folder, "login.json")} is damaged. ${advice}\n`]);
		const env = { POSTHORN_API_KEY: on.key, POSTHORN_URL: on.service.url };
		expect(await newcomer.run(["login"], { env })).toMatchObject({ code: 0 });
		expect(await newcomer.run(["events", "list"])).toMatchObject({ code: 0 });
	} finally {
		newcomer.close();
	}
});

test("events are listed, and shown; with --json one has its exact bytes", async () => {
	await on.project.publish({ id: "evt_1", type: "purchase.refunded", data: { order_id: "1", partial: false } });
	await on.project.publish({ id: "evt_2", type: "delivery.success", data: { order_id: "\u009b2J" } });
	const list = await on.user.run(["events", "list", "--limit", "5"]);
	expect(list.out.split("\n").slice(0, 3)).toEqual([
		expect.stringMatching(/^WHEN +TYPE +ID +DATA$/),
		expect.stringMatching(/^\S.* purchase\.refunded +evt_1 +\{"order_id":"1","partial":false\}$/),
		expect.stringContaining('{"order_id":"\ufffd2J"}'),
	]);
	const { raw } = (await on.project.get("evt_2")).event;
	const line = raw.replace("\u009b", "\\u009b");
	expect((await on.user.run(["events", "list", "--type", "delivery.success", "--json"])).out).toBe(`${line}\n`);
	expect((await on.user.run(["events", "get", "evt_2", "--json"])).out).toBe(`${raw}\n`);
	expect((await on.user.run(["events", "get", "evt_2"])).out).toMatch(/Number +2 in the log/);
	expect(await on.user.run(["events", "get", "evt_3"])).toMatchObject({ code: 1, err: expect.stringContaining("404") });
});

// A publisher whose data had line breaks made other programs read events that were never published.
test("lists of events are one value a line, and JSON doesn't drive the terminal", async () => {
	const data = `{"a":\n{"id":"evt_forged","type":"purchase.completed"},\r\n"b":"\u009b2J\u202e\u061cé"}`;
	const response = await fetch(`${on.service.url}/v1/projects/${on.project.id}/events`, {
		method: "POST",
		headers: { authorization: `Bearer ${on.key}`, "content-type": "application/json" },
		body: `{"type":"delivery.success","id":"evt_lines","data":${data}}`,
	});
	expect(response.status).toBe(202);
	const { out } = await on.user.run(["events", "list", "--json"]);
	expect(out).not.toMatch(/[\u007f-\u009f\u061c\u202e]/);
	expect(out.trimEnd().split("\n")).toHaveLength(1);
	expect(JSON.parse(out)).toMatchObject({ id: "evt_lines", data: JSON.parse(data) });
	// What was sent, for a program that checks its signature.
	expect((await on.user.run(["events", "get", "evt_lines", "--json"])).out).toContain(data);
});

test("a message of whatever responds instead of the service doesn't drive the terminal", async () => {
	on.receiver.status = 500;
	const { err } = await on.user.run([
		"logs",
		"list",
		"--project",
		"proj_x",
		"--url",
		`http://127.0.0.1:${on.receiver.port}`,
	]);
	expect(err).toContain("500");
	// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
	expect(err).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
});

test("webhooks are created, shown, paused, resumed, rotated and deleted", async () => {
	// "all" was refused next to other types.
	const hook = ["webhooks", "create", "https://example.com/hooks", "--events", "all,purchase.refunded", "--json"];
	const { id, secret, events } = JSON.parse((await on.user.run(hook)).out);
	expect([secret, events]).toEqual([expect.stringMatching(/^whsec_/), EVENT_TYPES.map(({ type }) => type)]);
	expect((await on.user.run(["webhooks", "list"])).out).toMatch(
		new RegExp(`${id} +idle +0 +https://example.com/hooks +all`),
	);
	expect((await on.user.run(["webhooks", "pause", id])).out).toBe(`${id} is paused.\n`);
	expect((await on.user.run(["webhooks", "get", id])).out).toMatch(/Status +paused/);
	expect((await on.user.run(["webhooks", "resume", id, "--from", "now"])).out).toBe(`${id} is active.\n`);
	expect(await on.user.run(["webhooks", "rotate-secret", id])).toMatchObject({ code: 2 });
	expect((await on.user.run(["webhooks", "rotate-secret", id, "--yes", "--json"])).out).toMatch(/whsec_/);
	expect((await on.user.run(["webhooks", "delete", id, "--yes"])).code).toBe(0);
	expect((await on.user.run(["webhooks", "list", "--json"])).out).toBe("");
});

// Those beyond the first 200 were left out silently.
test("all webhooks of a project are listed", async () => {
	await on.service.stop();
	Object.assign(on.service.settings, { POSTHORN_MAX_WEBHOOKS: "201" });
	await on.service.startAgain();
	const ids: string[] = [];
	for (let n = 0; n < 201; n++) {
		const webhook = { url: `https://example.com/${n}`, events: ["delivery.success"] };
		ids.push(((await on.service.post(`/v1/projects/${on.project.id}/webhooks`, webhook)) as { id: string }).id);
	}
	const lines = (await on.user.run(["webhooks", "list", "--json"])).out.trimEnd().split("\n");
	const listed = lines.map((line): { id: string } => JSON.parse(line));
	expect(listed.map(({ id }) => id)).toEqual(ids);
	const table = (await on.user.run(["webhooks", "list"])).out.trimEnd().split("\n");
	expect([table.length, table.at(-1)]).toEqual([202, expect.stringContaining("https://example.com/200")]);
});

// Two webhooks with the same URL looked alike in the list and in the log.
test("descriptions and ids tell webhooks with the same URL apart", async () => {
	const create = ["webhooks", "create", "https://receiver.invalid/twins", "--events", "customer.created", "--json"];
	const idOf = async (args: readonly string[]) => JSON.parse((await on.user.run([...create, ...args])).out).id;
	const long = `${"😀".repeat(15)} doesn't fit into the table of webhooks`;
	const ids = [await idOf(["--description", "Accounting"]), await idOf(["--description", long])];
	const { out } = await on.user.run(["webhooks", "list"]);
	expect(out).toMatch(/^ID +HEALTH +WAITING +URL +DESCRIPTION +EVENTS$/m);
	expect(out).toMatch(new RegExp(`^${ids[0]} .*/twins +Accounting +customer.created$`, "m"));
	expect(out).toMatch(new RegExp(`^${ids[1]} .*/twins +${"😀".repeat(14)}… +customer.created$`, "mu"));

	const tail = new Running(on.user.spawn(["logs", "tail", "--json", "--type", "customer.created"]));
	await on.project.publish({ type: "customer.created", data: { order_id: "ord_7" } });
	await tail.until("both attempts", () => ids.every((id) => tail.lines.some(({ webhook_id }) => webhook_id === id)));
	await tail.end("SIGINT");
	const list = async (...args: string[]) =>
		(await on.user.run(["logs", "list", "--type", "customer.created", ...args])).out;
	// They had no descriptions or order ids.
	for (const [id, description] of [[ids[0], "Accounting"] as const, [ids[1], long] as const])
		expect(await list()).toContain(`  order ord_7  ${id}  ${description}  https://receiver.invalid/twins\n`);
	expect(await list("--webhook", ids[0])).toMatch(/ {2}Accounting {2}https:\/\/receiver\.invalid\/twins\n/);
	expect(await list("--webhook", ids[0])).not.toContain(ids[0]);
	if (process.platform === "linux") {
		// A narrow terminal cut the ids.
		const { shown } = await on.user.runAtTerminal("stty cols 120; posthorn logs list --type customer.created");
		for (const id of ids) expect(shown).toMatch(new RegExp(`  ${id}\\r?$`, "m"));
	}
	for (const id of ids) await on.user.run(["webhooks", "delete", id, "--yes"]);
});

test("WAITING includes retries, as in the dashboard", async () => {
	const hook = ["webhooks", "create", "https://receiver.invalid/hooks", "--events", "all", "--json"];
	const { id } = JSON.parse((await on.user.run(hook)).out);
	const tail = new Running(on.user.spawn(["logs", "tail", "--json", "--webhook", id]));
	await on.project.publish({ type: "delivery.success", data: {} });
	await tail.until("the failed attempt", () => tail.lines.some(({ status }) => status === "retrying"));
	await tail.end("SIGINT");
	expect((await on.user.run(["webhooks", "list"])).out).toMatch(new RegExp(`${id} +failing +1 `));
	expect((await on.user.run(["webhooks", "get", id])).out).toMatch(/Waiting +1 for a retry\nTo decide +nothing\n/);
});

test("logs are followed, and failed deliveries replayed after showing how many", async () => {
	const folder = on.service.folder;
	const authority = await createAuthority();
	const { POSTHORN_EGRESS_ALLOW } = settingsOfNodes(writeCaFile(authority, folder));
	await on.service.stop();
	// Nothing listens there: every attempt fails, and the first is the last.
	Object.assign(on.service.settings, { POSTHORN_EGRESS_ALLOW, POSTHORN_RETRY_DELAYS: "0.1" });
	await on.service.startAgain();
	const url = "https://127.0.0.1:1/hooks";
	const { id } = JSON.parse((await on.user.run(["webhooks", "create", url, "--events", "all", "--json"])).out);
	const tail = new Running(on.user.spawn(["logs", "tail", "--json"]));
	await on.project.publish([1, 2].map((n) => ({ id: `evt_${n}`, type: "delivery.success" as const, data: {} })));
	await tail.until("four attempts", () => tail.lines.length >= 4);
	expect(
		tail.lines
			.filter(({ status }) => status === "failed")
			.map(({ event_id }) => event_id)
			.sort(),
	).toEqual(["evt_1", "evt_2"]);
	// It only said that nothing waits.
	expect((await on.user.run(["webhooks", "get", id])).out).toMatch(
		/Waiting +nothing\nTo decide +2 failed for good: replay them, or dismiss them in the dashboard\n/,
	);
	// "No delivery matches." read as if the event didn't exist.
	const none = await on.user.run(["replay", "--webhook", id, "--type", "customer.created"]);
	expect(none).toMatchObject({ code: 0, out: expect.stringMatching(/^No failed delivery matches\. Those that wait/) });
	// Someone who had dismissed a delivery looked for it in vain.
	expect(none.out).toContain("The dashboard replays dismissed ones, one by one.");
	// It begins before the year 0, for which ISO 8601 has no plain notation.
	const dry = await on.user.run(["replay", "--webhook", id, "--since", "999999d", "--dry-run"]);
	expect(dry).toMatchObject({ code: 0, out: "2 deliveries would be sent again.\n" });
	expect(await on.user.run(["replay", "--webhook", id])).toMatchObject({
		code: 2,
		err: expect.stringMatching(/2 deliveries.*those that skip duplicates won't handle an event twice/),
	});
	expect((await on.user.run(["replay", "--webhook", id, "--yes", "--json"])).out).toBe('{"count":2,"replayed":true}\n');
	await tail.until("the replays", () => tail.lines.filter(({ replay }) => replay === 1).length >= 4);
	await on.service.kill();
	await tail.until("the service to be missed", () => tail.errors.includes("Waiting for the service"));
	// In the meantime a proxy responds. It ended the command.
	const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
	const proxy = createServer((_, response) => response.writeHead(404).end("<h1>404 Not Found</h1>", () => ask()));
	await once(proxy.listen(Number(new URL(on.service.url).port), "127.0.0.1"), "listening");
	await within("the command to ask the proxy", asked);
	const closed = once(proxy, "close");
	proxy.close();
	proxy.closeAllConnections();
	await closed;
	await on.service.startAgain();
	await on.project.publish({ id: "evt_3", type: "delivery.success", data: {} });
	await tail.until("the attempt after the restart", () => tail.lines.some(({ event_id }) => event_id === "evt_3"));
	expect(await tail.end("SIGINT")).toBe(0);
	const seen = tail.lines.map((line) => line.id);
	expect(new Set(seen).size).toBe(seen.length);

	// After a second it also printed all others of the last two minutes.
	const short = new Running(on.user.spawn(["logs", "tail", "--json", "--limit", "1"]));
	await short.until("the newest attempt", () => short.lines.length > 0);
	await on.project.publish({ id: "evt_4", type: "delivery.success", data: {} });
	await short.until("the new attempts", () => short.lines.filter(({ event_id }) => event_id === "evt_4").length === 2);
	await short.end("SIGINT");
	expect(short.lines.map(({ event_id }) => event_id)).toEqual(["evt_3", "evt_4", "evt_4"]);
	const table = await on.user.run(["logs", "list", "--event", "evt_3", "--status", "failed"]);
	expect(table.out).toMatch(
		/✘ delivery\.success +evt_3 +#2 +\d+ ms {2}connection_refused {2}https:\/\/127\.0\.0\.1:1\/hooks\n$/,
	);
	// All rows have the same columns.
	const { out: rows } = await on.user.run(["logs", "list", "--limit", "50"]);
	expect(
		new Set(
			rows
				.split("\n")
				// Not the date, after midnight.
				.filter((row) => row.includes(" ms "))
				.map((row) => row.indexOf("connection_refused")),
		).size,
	).toBe(1);

	const [retried] = tail.lines.filter(({ event_id, status }) => event_id === "evt_3" && status === "retrying");
	// It said "next attempt 1 min ago".
	expect((await on.user.run(["logs", "get", String(retried!.id)])).out).toMatch(
		/Result +↻ retried; the newest attempt is att_\w+ \(#2, failed\)\n/,
	);
	const [newest] = JSON.parse(
		`[${(await on.user.run(["logs", "list", "--event", "evt_3", "--limit", "1", "--json"])).out}]`,
	);
	const full = await on.user.run(["logs", "get", newest.id]);
	expect(full.code).toBe(0);
	for (const text of [
		/Result +✘ failed\n/,
		/Event +evt_3 +delivery\.success\n/,
		/Response +none/,
		/Error .*connection_refused\n/,
	])
		expect(full.out).toMatch(text);
	expect(full.out).toContain('Request  nothing was sent\n\n{"id":"evt_3"');
	const byEvent = await on.user.run(["logs", "get", "evt_3", "--json"]);
	expect(JSON.parse(byEvent.out)).toMatchObject({
		id: newest.id,
		request_headers: {},
		request_body: expect.any(String),
	});
	expect(byEvent.err).toContain("posthorn logs list --event evt_3");
	const ofWebhook = await on.user.run(["logs", "get", "evt_3", "--webhook", newest.webhook_id, "--json"]);
	expect(JSON.parse(ofWebhook.out).id).toBe(newest.id);
	expect((await on.user.run(["logs", "get", "evt_3", "--webhook", "wh_none"])).code).toBe(1);
	expect(await on.user.run(["logs", "get", newest.id, "--webhook", newest.webhook_id])).toMatchObject({
		code: 2,
		err: expect.stringMatching(/^--webhook needs an event/),
	});
	expect(await on.user.run(["logs", "get", "evt_none"])).toMatchObject({
		code: 1,
		err: expect.stringMatching(/no attempt/),
	});
	expect((await on.user.run(["logs", "get", "att_none"])).code).toBe(1);
});

// It waited for all tries of the call, three minutes, and ignored further signals.
test("logs tail ends at Ctrl-C while the service doesn't respond", async () => {
	const asked = Promise.withResolvers<void>();
	await using silent = await openServer(createServer(() => asked.resolve()));
	const url = `http://127.0.0.1:${silent.port}`;
	const tail = new Running(on.user.spawn(["logs", "tail", "--url", url, "--project", "proj_1"]));
	await within("the call", asked.promise);
	expect(await tail.end("SIGINT")).toBe(0);
});

test("an attempt in full shows the response's headers, and the certificate that was rejected", async () => {
	const authority = await createAuthority();
	await on.service.stop();
	const { POSTHORN_EGRESS_ALLOW, POSTHORN_EGRESS_CA_FILE } = settingsOfNodes(writeCaFile(authority, on.service.folder));
	Object.assign(on.service.settings, { POSTHORN_EGRESS_ALLOW, POSTHORN_EGRESS_CA_FILE });
	await on.service.startAgain();
	const headers = { location: "https://example.com/new", "set-cookie": "a=b", "content-length": "50" };
	const respond = () => ({ status: 302, headers, body: "moved" });
	await using receivers = new AsyncDisposableStack();
	const opened = <R extends { close(): Promise<void> }>(one: R): R => receivers.adopt(one, () => one.close());
	const moved = opened(await startReceiver({ authority, respond }));
	const expired = opened(await startRawReceiver({ authority: await issueExpired(authority), onConnection() {} }));
	const fullOf = async (url: string, id: string): Promise<string> => {
		const hook = ["webhooks", "create", url, "--events", "delivery.success", "--json"];
		const { id: webhook } = JSON.parse((await on.user.run(hook)).out);
		const tail = new Running(on.user.spawn(["logs", "tail", "--json", "--webhook", webhook]));
		await on.project.publish({ id, type: "delivery.success", data: {} });
		await tail.until("the attempt", () => tail.lines.length > 0);
		await tail.end("SIGINT");
		const { out } = await on.user.run(["logs", "get", String(tail.lines[0]!.id)]);
		await on.user.run(["webhooks", "delete", webhook, "--yes"]);
		return out;
	};
	const redirected = await fullOf(moved.url("/hooks"), "evt_moved");
	expect(redirected).toMatch(/\nResponse headers .*\n(.*\n)*location: https:\/\/example\.com\/new\n/);
	expect(redirected).not.toMatch(/cookie|Certificate/);
	// "the first 1,024 bytes", although the receiver sent five.
	const cut = "incomplete: the rest was beyond the first 1,024 bytes, or didn't arrive";
	expect(redirected).toContain(`\nResponse body  ${cut}\nmoved\n`);
	const rejected = await fullOf(expired.url("/hooks"), "evt_expired");
	expect(rejected).toMatch(
		/\nCertificate {2}rejected\nIssued to .*\nIssued by .*\nFor hosts .*localhost.*\nValid from .* UTC\nValid to .* UTC\n/,
	);
	expect(rejected).not.toContain("Response headers");
});

test("events of the log are sent again to a receiver here, whatever became of their deliveries", async () => {
	await on.shareSecret();
	await on.project.publish(
		["evt_1", "evt_2", "evt_3"].map((id) => ({ id, type: "delivery.success" as const, data: { id } })),
	);
	const here = ["--to", `${on.receiver.port}/hooks`];
	const one = await on.user.run(["replay", "--event", "evt_2", ...here, "--json"]);
	expect([one.code, JSON.parse(one.out)]).toMatchObject([0, { event_id: "evt_2", kind: "responded", status: 200 }]);
	expect(on.receiver.received).toMatchObject([
		{ id: "evt_2", verified: true, body: (await on.project.get("evt_2")).event.raw },
	]);
	const all = await on.user.run(["replay", "--since", "10m", "--type", "delivery.success", ...here]);
	expect(all.out).toMatch(/^(delivery\.success +evt_[123] {2}→ 200 {2}\d+ ms\n){3}$/);
	expect(on.receiver.received.map(({ id }) => id)).toEqual(["evt_2", "evt_1", "evt_2", "evt_3"]);
	on.receiver.status = 500;
	expect((await on.user.run(["replay", "--event", "evt_1", ...here])).code).toBe(1);
	for (const [args, message] of [
		[here, /--event evt_…, or --since/],
		[[...here, "--event", "evt_1", "--webhook", "wh_1"], /--webhook selects deliveries/],
		[[...here, "--since", "1h", "--status", "failed"], /--status selects deliveries/],
		[[...here, "--event", "evt_1", "--type", "purchase.completed"], /--type .* can't be combined with --event/],
		[["--to", "example.com", "--event", "evt_1"], /--allow-remote/],
		[["--event", "evt_1", "--allow-remote"], /--allow-remote is for --to/],
	] as const)
		expect(await on.user.run(["replay", ...args])).toMatchObject({ code: 2, err: expect.stringMatching(message) });
});

test("every command has an example, and takes --json and --env-file", () => {
	const lacking: string[] = [];
	const look = (command: Command, name: string): void => {
		if (command.commands.length > 0) for (const one of command.commands) look(one, `${name} ${one.name()}`);
		else {
			let help = "";
			command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
			if (!/\nExamples?:\n {2}\S/.test(help) || !help.includes("--json") || !help.includes("--env-file"))
				lacking.push(name);
		}
	};
	for (const command of createProgram().commands) look(command, command.name());
	expect(lacking).toEqual([]);
});

test("shells can complete commands and options", async () => {
	for (const shell of ["bash", "zsh", "fish"])
		expect((await on.user.run(["complete", shell])).out, shell).toContain("posthorn");
	expect((await on.user.run(["complete", "--", "tri"])).out).toMatch(/^trigger\t/);
	expect((await on.user.run(["complete", "--", "trigger", "--pub"])).out).toContain("--publish");
});

test.each([
	[["logs", "list", "--limit", "x"], /^--limit is "x"; give a whole number/],
	[["logs", "tail", "--limit", "0"], /^--limit is "0"; give a whole number/],
	[["events", "list", "--limit", "-1"], /^--limit is "-1"; give a whole number/],
	[["replay", "--until", "soon"], /^--until is "soon"; give a span/],
	[["replay", "--since", "1h", "--until", "1d"], /^--since 1h must be longer ago than --until 1d\./],
	[["replay", "--since", "1h", "--until", "60m"], /^--since 1h must be longer ago than --until 60m\./],
	// An empty variable of a script selected nothing, or everything.
	[["listen", "3000", "--events", ""], /^Which types\? Known types: customer\.created,/],
	[["events", "list", "--type", ","], /^Which types\? Known types: /],
	[["webhooks", "list", "--url", "http://127.0.0.1:1/#/logs"], /^The URL is .*; it must be one such as https/],
	[["webhooks", "create", "https://example.com", "--events", ""], /^Which types\? Known types: /],
	// All types were chosen, although one of these doesn't exist.
	[["webhooks", "create", "https://example.com", "--events", "all,nope"], /^Unknown event type: nope\. Known types: /],
	// Only the first one was taken.
	[["trigger", "delivery.success,delivery.failed", "--publish"], /^Choose one type: delivery\.success or delivery/],
	[["replay", "--type", "purchase.complete"], /^Unknown event type: purchase\.complete\. Known types: /],
	// The service found nothing.
	[["logs", "list", "--webhook", "evt_1"], /^--webhook is "evt_1"; give the id of the webhook, wh_…\./],
	[["replay", "--event", ""], /^--event is ""; give the id of the event, evt_…\./],
	[["trigger", "delivery.success", "--webhook", ""], /^--webhook is ""; give the id of the webhook, wh_…\./],
	[["verify", "--event", ".."], /^--event is "\.\."; give the id of the event, evt_…\./],
	[["login", "--project", ""], /^--project is ""; give the id of the project, proj_…\./],
	[["webhooks", "list", "--project", ".."], /^--project is "\.\."; give the id of the project, proj_…\./],
	[["webhooks", "list", "--url", ""], /^The URL is ""; it must be one such as https/],
	// They called other paths of the API, and ended with "Cannot read properties of undefined".
	[["webhooks", "get", "health"], /^The id is "health"; give the id of the webhook, wh_…\./],
	[["webhooks", "update", "", "--events", "all"], /^The id is ""; give the id of the webhook/],
	[["webhooks", "resume", "evt_1"], /^The id is "evt_1"; give the id of the webhook/],
	[["webhooks", "rotate-secret", "..", "--yes"], /^The id is "\.\."; give the id of the webhook/],
	[["webhooks", "delete", "..", "--yes"], /^The id is "\.\."; give the id of the webhook/],
	[["events", "get", ".."], /^The id is "\.\."; give the id of the event, evt_…\./],
	[["logs", "get", "summaries"], /^The id is "summaries"; give the id of the attempt, att_…, or of the event, evt_…\./],
])("refuses %j before it calls the service", async (args, message) => {
	const { code, err } = await on.user.run(args, { env: { POSTHORN_URL: "http://127.0.0.1:1" } });
	expect([code, err]).toEqual([2, expect.stringMatching(message)]);
});

test("the key may come from a file", async () => {
	const user = new User({ POSTHORN_URL: on.service.url });
	try {
		const [file, empty] = [join(user.home, "key"), join(user.home, "empty")];
		writeFileSync(file, `${on.key}\n`);
		writeFileSync(empty, "\n");
		const list = (env: Record<string, string>) => user.run(["events", "list"], { env });
		expect(await list({ POSTHORN_API_KEY_FILE: file })).toMatchObject({ code: 0 });
		for (const [env, err] of [
			[{ POSTHORN_API_KEY_FILE: file, POSTHORN_API_KEY: on.key }, "are both set"],
			[{ POSTHORN_API_KEY_FILE: join(user.home, "none") }, "must be a file that can be read (ENOENT)"],
			[{ POSTHORN_API_KEY_FILE: user.home }, "must be a file that can be read (EISDIR)"],
			[{ POSTHORN_API_KEY_FILE: empty }, "is empty"],
		] as const)
			expect(await list(env)).toMatchObject({ code: 2, err: expect.stringContaining(err) });
		expect(await user.run(["login"], { env: { POSTHORN_API_KEY_FILE: file } })).toMatchObject({ code: 0 });
	} finally {
		user.close();
	}
});

test("says that a key was copied wrongly, without a call", async () => {
	for (const args of [["events", "list", "--project", on.project.id], ["events", "list"], ["login"]])
		expect(await on.user.run(args, { env: { POSTHORN_API_KEY: "phk_…" } }), args.join(" ")).toMatchObject({
			code: 2,
			err: expect.stringMatching(/^The API key has characters that keys don't have: copy all of it/),
		});
	// So it said after Enter at the question for the key.
	expect(await on.user.run(["login"], { env: { POSTHORN_API_KEY: " " } })).toMatchObject({
		code: 2,
		err: expect.stringMatching(/^The API key is empty/),
	});
});

test("says in plain words why a call failed, and when there is nothing to show", async () => {
	const away = await on.user.run(["webhooks", "pause", "wh_1", "--project", on.project.id], {
		env: { POSTHORN_URL: `http://127.0.0.1:${await unusedPort()}` },
	});
	expect(away).toMatchObject({
		code: 1,
		err: expect.stringMatching(/^[^!].+: the service can't be reached \(.+\)\.\nIs the service/),
	});
	// Calls that can be repeated safely are retried for seconds.
	const retried = await on.user.run(["webhooks", "list", "--project", on.project.id], {
		env: { POSTHORN_URL: `http://127.0.0.1:${await unusedPort()}` },
	});
	expect(retried).toMatchObject({
		code: 1,
		err: expect.stringMatching(
			/^! (GET \S+: the service can't be reached \(.+\)\.) Trying again\.\n\1\nIs the service/,
		),
	});
	// It called the service first, so a service that was down hid the mistake.
	const span = await on.user.run(["events", "list", "--since", "2x", "--project", on.project.id], {
		env: { POSTHORN_URL: `http://127.0.0.1:${await unusedPort()}` },
	});
	expect(span).toMatchObject({ code: 2, err: expect.stringMatching(/^--since is "2x"; give a span/) });
	const invalid = await on.user.run(["webhooks", "create", "http://example.com/", "--events", "all"]);
	expect(invalid).toMatchObject({ code: 1, err: expect.stringMatching(/422: [^"]+\.\n {2}\/url The URL must/) });
	for (const misspelled of [
		["webhooks", "create", "https://example.com/hooks", "--events", "purchase.complete"],
		["events", "list", "--type", "purchase.complete"],
		["logs", "list", "--type", "purchase.complete"],
	])
		expect(await on.user.run(misspelled)).toMatchObject({
			...{ code: 2, out: "" },
			err: expect.stringMatching(/Unknown event type: purchase\.complete\. Known types: .*purchase\.completed/),
		});
	expect(await on.user.run(["logs", "list"])).toMatchObject({ code: 0, out: "", err: "No attempts found.\n" });
	expect(await on.user.run(["logs", "list", "--json"])).toMatchObject({ code: 0, out: "", err: "" });
	// While attempts failed and waited for a retry, the list was just empty.
	const failed = await on.user.run(["logs", "list", "--status", "failed"]);
	expect(failed).toMatchObject({ code: 0, err: expect.stringContaining("retried have the status retrying") });
});

// Where standard output was a terminal, a file with the messages had its colors. So had everything on machines that set
// CI, and with FORCE_COLOR=0.
test("only a terminal gets colors, unless the environment says otherwise", async () => {
	const colored = "\u001b[2mNo attempts found.\u001b[22m\n";
	for (const [env, err] of [
		[{}, "No attempts found.\n"],
		[{ CI: "true" }, "No attempts found.\n"],
		[{ FORCE_COLOR: "0" }, "No attempts found.\n"],
		[{ FORCE_COLOR: "false" }, "No attempts found.\n"],
		[{ FORCE_COLOR: "1" }, colored],
		[{ FORCE_COLOR: "1", NO_COLOR: "1" }, "No attempts found.\n"],
	] as const)
		expect((await on.user.run(["logs", "list"], { env })).err.replace(/^\(node.*\n.*\n/, "")).toBe(err);
	if (process.platform !== "linux") return;
	const { shown } = await on.user.runAtTerminal("posthorn logs list");
	expect(shown).toContain(colored.trimEnd());
	await on.user.runAtTerminal("posthorn logs list 2> messages.txt");
	expect(readFileSync(join(on.user.home, "messages.txt"), "utf8")).toBe("No attempts found.\n");
});

// Node warned of a "top-level await" in the command's own file.
test.runIf(process.platform === "linux")("Ctrl-D at a question ends the command like Ctrl-C", async () => {
	for (const key of ["\u0003", "\u0004"]) {
		const { code, shown } = await on.user.runAtTerminal("posthorn webhooks delete wh_1", "(y/N)", key);
		expect(code).toBe(130);
		expect(shown).not.toContain("Warning");
	}
});

// It waited for an answer to a question that only the file showed.
test.runIf(process.platform === "linux")("asks nothing if its messages go to a file", async () => {
	writeFileSync(join(on.user.home, "body.json"), "{}");
	for (const [command, said] of [
		["POSTHORN_API_KEY= posthorn login", "There is no terminal to ask at. Set POSTHORN_API_KEY."],
		["posthorn webhooks delete wh_1", "There is no terminal to ask at: add --yes to confirm."],
		["posthorn verify --body body.json --timestamp 1 --signature 00", "The signing secret is missing: set"],
	]) {
		expect(await on.user.runAtTerminal(`${command} 2> messages.txt`)).toEqual({ code: 2, shown: "" });
		expect(readFileSync(join(on.user.home, "messages.txt"), "utf8")).toContain(said);
	}
});

// Node takes the option for its own, unless "--" comes before the script, as in the archive's launcher.
test("says which file of --env-file doesn't exist", () => {
	const args = ["--", COMMAND, "events", "list", "--env-file", "no.env"];
	const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
	expect([status, stderr]).toEqual([2, "--env-file no.env can't be read: there is no such file.\n"]);
	const serve = spawnSync(process.execPath, ["--", COMMAND, "serve", "--env-file", "no.env"], { encoding: "utf8" });
	expect([serve.status, serve.stderr]).toEqual([status, stderr]);
});

// It was ignored, so the service started with the default.
test("refuses a file of --env-file with a line that isn't a variable, without showing it", () => {
	const folder = mkdtempSync(join(tmpdir(), "posthorn-env-"));
	writeFileSync(join(folder, "p.env"), "POSTHORN_HOST=::1\nPOSTHORN_OPERATOR_KEY: secret\n");
	const args = ["--", COMMAND, "doctor", "--env-file", "p.env"];
	const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
	rmSync(folder, { recursive: true });
	expect([status, stderr]).toEqual([2, "--env-file p.env: line 2 is not a variable: write it as NAME=VALUE.\n"]);
});

// The mark became part of the first variable's name, and UTF-16 had no variables: both were ignored.
test("reads a file of --env-file that begins with a byte order mark, and refuses UTF-16", async () => {
	const newcomer = new User();
	try {
		const text = `\ufeffPOSTHORN_URL=${on.service.url}\nPOSTHORN_API_KEY=${on.key}\n`;
		writeFileSync(join(newcomer.home, "utf8.env"), text);
		expect(await newcomer.run(["events", "list", "--env-file", "utf8.env"])).toMatchObject({ code: 0 });
		writeFileSync(join(newcomer.home, "utf16.env"), text, "utf16le");
		expect(await newcomer.run(["events", "list", "--env-file", "utf16.env"])).toMatchObject({
			code: 2,
			err: "--env-file utf16.env isn't UTF-8, but perhaps UTF-16: save it as UTF-8.\n",
		});
	} finally {
		newcomer.close();
	}
});

// With an option before the command, it ran without the flags that keep its memory small.
test.skipIf(process.execve === undefined)("the service runs with its own flags, wherever the options are", () => {
	const report = 'if (process.execArgv.includes("--expose-gc")) { console.log("tuned"); process.exit(0); }';
	const node = ["--import", `data:text/javascript,${encodeURIComponent(report)}`, "--", COMMAND];
	const run = (...args: string[]) => {
		const { status, stdout } = spawnSync(process.execPath, [...node, ...args], { encoding: "utf8" });
		return [status, stdout];
	};
	for (const options of [[], ["--json"], ["--env-file", "no.env"], ["--json", "--env-file=no.env"]]) {
		expect(run(...options, "serve", "--port", "none"), options.join(" ")).toEqual([0, "tuned\n"]);
		expect(run("serve", ...options, "--port", "none"), options.join(" ")).toEqual([0, "tuned\n"]);
	}
	expect(run("--env-file", "serve", "events", "list")[0]).toBe(2);
});

test("an empty variable counts as one that isn't set", async () => {
	expect(await on.user.run(["events", "list"], { env: { POSTHORN_PROJECT: "" } })).toMatchObject({ code: 0 });
	const env = { POSTHORN_PROJECT: "", POSTHORN_URL: "" };
	expect(await on.user.run(["login", "--url", on.service.url], { env })).toMatchObject({ code: 0 });
	expect(await on.user.run(["login"], { env })).toMatchObject({ code: 2, err: expect.stringMatching(/Set --url or/) });
});

test("login sees every project of the operator's key", async () => {
	const ids: string[] = [];
	for (let n = 0; n <= 200; n++) {
		ids.push(((await on.service.post("/v1/projects", { name: `Store ${n}` })) as { id: string }).id);
	}
	for (const project of [on.project.id, ids[0]!, ids[200]!]) {
		const env = { POSTHORN_API_KEY: on.service.settings.POSTHORN_OPERATOR_KEY! };
		expect(await on.user.run(["login", "--project", project], { env })).toMatchObject({ code: 0 });
	}
});

// A script that started a receiver and "posthorn listen" could give them different secrets at first.
test("the secret of this machine is created once", () => {
	const path = join(on.user.home, "new", "secret.json");
	for (const secret of ["first", "second"]) storeNew(path, { secret });
	expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ secret: "first" });
	expect(statSync(path).mode & 0o777).toBe(0o600);
	expect(readdirSync(join(on.user.home, "new"))).toEqual(["secret.json"]);
});

describe.runIf(process.platform === "linux")("a home that can't be written", () => {
	// Node's recursive mkdir never returned there.
	test("is named if a command has to write to it", async () => {
		expect(await on.user.run(["listen", "--print-secret"], { env: { HOME: "/proc" } })).toMatchObject({
			code: 1,
			err: expect.stringContaining(
				"/proc/.config/posthorn, which can't be written (ENOENT). Set HOME to another folder.",
			),
		});
	});

	// Every command failed.
	test("isn't needed if the environment has the key", async () => {
		const env = { HOME: "/dev/null", POSTHORN_URL: on.service.url, POSTHORN_API_KEY: on.key };
		expect(await on.user.run(["events", "list", "--json"], { env })).toMatchObject({ code: 0, err: "" });
	});
});

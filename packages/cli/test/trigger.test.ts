import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EVENT_TYPES } from "@posthorn/protocol";
import { expect, test } from "vitest";
import { parseTarget } from "../src/client/listen/target.ts";
import { firstDifference } from "../src/client/verify.ts";
import { useStage } from "./client.fixture.ts";

const on = useStage();

const to = (more: readonly string[]) => ["trigger", ...more, "--to", `${on.receiver.port}/hooks`];
const offline = { env: { POSTHORN_URL: "", POSTHORN_API_KEY: "" } };

test("trigger signs a sample on this machine, without a service or a key, and publishes nothing", async () => {
	await on.shareSecret();
	for (const { type, sample } of EVENT_TYPES.slice(0, 2)) {
		const { code, out, err } = await on.user.run(to([type]), offline);
		expect([code, err]).toEqual([0, ""]);
		expect(out).toMatch(/^[\w.]+ evt_\w{26} → 200 {2}\d+ ms\nok\n$/);
		const { body, verified } = on.receiver.received.at(-1)!;
		expect(verified).toBe(true);
		expect(JSON.parse(body)).toMatchObject({ type, data: sample });
	}
	expect(await on.project.end()).toMatchObject({ after: 0 });
});

test("trigger changes the sample, sends data of one's own, and any bytes", async () => {
	const warnings: string[] = [];
	const bodies = async (...args: string[]) => {
		const { err } = await on.user.run(to(["purchase.completed", ...args]), offline);
		warnings.push(err);
		return on.receiver.received.at(-1)!;
	};
	const set = await bodies("--set", "order_id=7", "--set", "items.0.name=7 days", "--set", "extra.deep=true");
	expect(warnings).toEqual([
		expect.stringMatching(
			/^! The data doesn't fit the schema of purchase\.completed\. A receiver may reject it\.\n {2}\/data\/order_id must be a string\n$/,
		),
	]);
	expect(JSON.parse(set.body).data).toMatchObject({
		order_id: 7,
		items: [{ name: "7 days" }, {}],
		extra: { deep: true },
	});
	writeFileSync(join(on.user.home, "data.json"), '{"a": 1}');
	expect(JSON.parse((await bodies("--data", "@data.json", "--set", "__proto__=2", "--id", "evt_x")).body)).toEqual({
		...JSON.parse(set.body),
		id: "evt_x",
		created_at: expect.any(String),
		data: JSON.parse('{"a": 1, "__proto__": 2}'),
	});
	writeFileSync(join(on.user.home, "raw"), "not { JSON\n");
	expect((await bodies("--raw", "raw")).body).toBe("not { JSON\n");
	expect(warnings[1]).toContain("/data/currency is missing");
	expect(warnings[2]).toBe("");
});

// 12345678901234567890 silently became 12345678901234567000.
test("numbers stay as they are written", async () => {
	const data = '{"order_id":"9","n":12345678901234567890,"price":1.0}';
	const args = ["--data", data, "--set", "m=90071992547409931", "--set", "list=[1.50]"];
	const written = '{"order_id":"9","n":12345678901234567890,"price":1.0,"m":90071992547409931,"list":[1.50]}';
	await on.user.run(to(["delivery.success", ...args]), offline);
	expect(on.receiver.received.at(-1)!.body).toContain(`"data":${written}}`);
	const published = await on.user.run(["trigger", "delivery.success", ...args, "--publish", "--yes", "--id", "evt_n"]);
	expect(published.code).toBe(0);
	expect((await on.project.get("evt_n")).event.raw).toContain(`"data":${written}}`);
	const shown = await on.user.run(["events", "get", "evt_n"]);
	expect(shown.out).toMatch(/"n": 12345678901234567890,\n +"price": 1\.0,/);
	expect((await on.user.run(["events", "list"])).out).toContain('"n":12345678901234567890,"price":1.0');
	for (const [set, message] of [
		["n.a=1", /^--set n\.a: n is not an object or list/],
		["list.0.a=1", /^--set list\.0\.a: 0 is not an object or list/],
	] as const)
		expect(await on.user.run(to(["delivery.success", ...args, "--set", set]), offline)).toMatchObject({
			code: 2,
			err: expect.stringMatching(message),
		});
	const number = await on.user.run(to(["delivery.success", "--data", "12345678901234567890"]), offline);
	expect(number).toMatchObject({ code: 2, err: "--data must be a JSON object.\n" });
});

// Letters in Latin-1 were replaced by U+FFFD and published. A byte order mark "is not JSON".
test("data from a file is UTF-8, with or without a byte order mark", async () => {
	const file = join(on.user.home, "data.json");
	const text = '{"order_id": "K\u00e4se"}';
	writeFileSync(file, text, "latin1");
	const args = to(["delivery.success", "--data", "@data.json"]);
	expect(await on.user.run(args, offline)).toMatchObject({
		...{ code: 2, out: "" },
		err: "--data is not UTF-8: save the file as UTF-8.\n",
	});
	writeFileSync(file, `\ufeff${text}`);
	expect(await on.user.run(args, offline)).toMatchObject({ code: 0 });
	expect(JSON.parse(on.receiver.received.at(-1)!.body).data).toEqual({ order_id: "K\u00e4se" });
});

// It was read twice, and the second time there was nothing left.
test("trigger takes its data from standard input", async () => {
	const input = '{"order_id": "9"}';
	const { code } = await on.user.run(to(["purchase.completed", "--data", "@-"]), { ...offline, input });
	expect([code, JSON.parse(on.receiver.received.at(-1)!.body).data]).toEqual([0, { order_id: "9" }]);
});

test("trigger ends with 1 unless the receiver accepts, and shows its response without control characters", async () => {
	on.receiver.status = 401;
	const refused = await on.user.run(to(["customer.created"]), offline);
	expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("--print-secret") });
	expect(refused.out).toContain("no\ufffd[2J");
	const nobody = await on.user.run(["trigger", "customer.created", "--to", "127.0.0.1:1", "--json"], offline);
	expect([nobody.code, JSON.parse(nobody.out)]).toMatchObject([1, { kind: "away", target: "http://127.0.0.1:1/" }]);
});

test("trigger publishes only with --publish, which needs a confirmation", async () => {
	const unconfirmed = await on.user.run(["trigger", "purchase.completed", "--publish"]);
	expect(unconfirmed).toMatchObject({ code: 2, err: expect.stringContaining("--yes") });
	expect(await on.project.end()).toMatchObject({ after: 0 });
	const args = ["trigger", "purchase.completed", "--publish", "--yes", "--json", "--set", "amount_cents=5"];
	const { code, out } = await on.user.run(args);
	expect([code, JSON.parse(out)]).toMatchObject([0, { seq: 1, type: "purchase.completed", project_id: on.project.id }]);
	const invalid = await on.user.run([
		"trigger",
		"purchase.completed",
		"--publish",
		"--yes",
		"--set",
		"amount_cents=-5",
	]);
	expect(invalid).toMatchObject({ code: 1, err: expect.stringContaining("/data/amount_cents must be") });
	// A script's empty variable published an event with a new id at each run.
	const nameless = await on.user.run(["trigger", "delivery.success", "--publish", "--yes", "--id", ""]);
	expect(nameless).toMatchObject({ code: 1, err: expect.stringContaining("/id must be evt_") });
});

test.each([
	[["trigger"], /Which type\? customer.created/],
	[["trigger", "purchase.complete", "--to", "3000"], /Unknown event type: purchase.complete/],
	[["trigger", "purchase.completed"], /Choose where/],
	[["trigger", "purchase.completed", "--to", "3000", "--publish"], /Choose where/],
	[["trigger", "purchase.completed", "--to", "example.com"], /--allow-remote/],
	[["trigger", "purchase.completed", "--to", "3000", "--set", "order_id"], /FIELD=VALUE/],
	[["trigger", "purchase.completed", "--to", "3000", "--data", "[]"], /JSON object/],
	[["trigger", "purchase.completed", "--webhook", "wh_1", "--set", "a=1"], /--set can't be used/],
	// The service used its own.
	[["trigger", "purchase.completed", "--webhook", "wh_1", "--brand", "Acme"], /--brand can't be used/],
	[["trigger", "purchase.completed", "--publish", "--brand", "Acme"], /--brand can't be used/],
	// It was ignored: both send wherever the webhooks are.
	[["trigger", "purchase.completed", "--publish", "--allow-remote"], /^--allow-remote can't be used here/m],
	[["trigger", "purchase.completed", "--webhook", "wh_1", "--allow-remote"], /^--allow-remote can't be used here/m],
	// The file was sent unchanged.
	[
		["trigger", "purchase.completed", "--to", "3000", "--raw", "none", "--set", "a=1", "--data", "{}"],
		/^--set, --data can't be used here: --raw sends the bytes of a file\.$/m,
	],
	// The sample was sent unchanged, or with a list of millions.
	[["trigger", "purchase.completed", "--to", "3000", "--set", "items.name=VIP"], /is not an index of a list with \d/],
	[
		["trigger", "purchase.completed", "--to", "3000", "--set", "items.99999999.name=VIP"],
		/is not an index of a list with \d/,
	],
	[["trigger", "purchase.completed", "--to", "3000", "--set", "items.-1=1"], /is not an index of a list with \d/],
	[["trigger", "purchase.completed", "--to", "3000", "--set", "items.length=0"], /is not an index of a list with \d/],
	// They failed as if the receiver were away.
	[
		["trigger", "purchase.completed", "--to", "3000", "--brand", "My shop"],
		/^--brand is "My shop"; it must be the word/,
	],
	[["trigger", "purchase.completed", "--to", "3000", "--id", "evt ä"], /^--id is "evt ä", which no header can carry/],
	// It said that the request may not come from Posthorn, and that the header was sent more than once.
	[["verify", "-H", "webhook-signature: v1,AAAA"], /^This is the signature of Standard Webhooks/],
	[["verify", "--timestamp", "1700000000", "--signature", "v1,AAAA"], /^This is the signature of Standard Webhooks/],
	[["verify", "--brand", ""], /^--brand is ""; it must be the word/],
])("refuses %j", async (args, message) => {
	const { code, err } = await on.user.run(args, offline);
	expect(code).toBe(2);
	expect(err).toMatch(message);
});

// Events were signed with it, and only the receiver noticed.
test.each([
	["trigger", "purchase.completed", "--to", "3000"],
	["replay", "--event", "evt_1", "--to", "3000"],
	["verify", "--timestamp", "1700000000", "--signature", "00"],
])("%s refuses a secret that isn't filled in", async (...args) => {
	for (const secret of ["undefined", "whsec_", "$WEBHOOK_SECRET"]) {
		const { code, err } = await on.user.run(args, { env: { WEBHOOK_SECRET: secret } });
		expect([code, err]).toEqual([2, expect.stringMatching(/^WEBHOOK_SECRET has a placeholder or nothing instead of/)]);
	}
});

// It ended with 1, as if the signature were wrong.
test("verify refuses a file without a secret", async () => {
	const file = join(on.user.home, "secret.txt");
	writeFileSync(file, "\n");
	const args = ["verify", "--timestamp", "1700000000", "--signature", "00", "--secret-file", file];
	const { code, err } = await on.user.run(args, offline);
	expect([code, err]).toEqual([2, expect.stringMatching(/^--secret-file has a placeholder or nothing instead of/)]);
});

test("verify finds what is wrong with a signature, and with the bytes", async () => {
	await on.user.run(to(["purchase.completed", "--id", "evt_v"]), offline);
	const { id } = await on.project.publish({ id: "evt_sent", type: "delivery.success", data: { order_id: "ä" } });
	const { event } = await on.project.get(id);
	const secret = "whsec_test";
	const { createHmac } = await import("node:crypto");
	const signature = createHmac("sha256", secret).update(`1700000000.${event.raw}`).digest("hex");
	const verify = (input: string, ...more: string[]) =>
		on.user.run(["verify", "--timestamp", "1700000000", "--signature", signature, ...more], {
			env: { WEBHOOK_SECRET: secret },
			input,
		});
	const right = await verify(event.raw, "--event", id);
	expect(right).toMatchObject({ code: 0, err: expect.stringContaining("300 s") });
	expect(right.out).toContain("The signature is valid");
	expect(right.out).toContain(`exactly the ${Buffer.byteLength(event.raw)} bytes`);
	const pretty = await verify(JSON.stringify(JSON.parse(event.raw), null, 2), "--event", id);
	expect([pretty.code, pretty.out]).toEqual([1, expect.stringContaining("first at byte 2:")]);
	expect(pretty.out).toContain("body_reserialized");
	expect(pretty.out).toMatch(/ sent +\{"id":.*… /);
	expect(pretty.out).toMatch(/ given +\{␊ {2}"id":.*… /);
	expect((await verify(`\ufeff${event.raw}`, "--event", id)).out).toMatch(/ given +<byte order mark>\{"id"/);
	const json = JSON.parse((await verify(`${event.raw}\n`, "--event", id, "--json")).out);
	expect(json).toMatchObject({ valid: false, code: "body_reserialized", same_bytes: false });
	expect(json.first_difference).toMatchObject({ byte: Buffer.byteLength(event.raw) });
	const micros = await verify(event.raw, "--timestamp", "1700000000000000");
	expect(micros).toMatchObject({ code: 1, out: expect.stringContaining("not a Unix time in whole seconds"), err: "" });
	// It said "signed in 20766281 d", and that the secret or the body is wrong.
	const ms = await verify(event.raw, "--timestamp", "1700000000000");
	expect(ms).toMatchObject({
		code: 1,
		out: expect.stringContaining("looks like milliseconds, but has to be in"),
		err: "",
	});
	const missing = await on.user.run(["verify", "--timestamp", "1700000000", "--signature", signature], { input: "{}" });
	expect(missing).toMatchObject({ code: 2, err: expect.stringContaining("WEBHOOK_SECRET") });
	// Headers copied from a log or from curl were refused, in words about the request's own.
	const copied = ["X-Service-Timestamp: 1700000000", `< x-service-signature: ${signature}`] as const;
	for (const flags of [
		["--timestamp", "--signature"],
		["-H", "-H"],
	])
		expect(await verify(event.raw, flags[0]!, copied[0], flags[1]!, copied[1]), flags[0]).toMatchObject({ code: 0 });
	const header = await on.user.run(
		["verify", "-H", "X-Service-Timestamp: 1700000000", "-H", `x-service-signature: ${signature}`],
		{ env: { WEBHOOK_SECRET: `${secret} ` }, input: event.raw },
	);
	expect(header).toMatchObject({ code: 1, out: expect.stringContaining("secret_whitespace") });
});

// The question was written to the file, and the terminal stayed empty.
test.runIf(process.platform === "linux")("verify asks at the terminal if its result goes to a file", async () => {
	writeFileSync(join(on.user.home, "body.json"), "{}");
	const verify = "posthorn verify --body body.json --timestamp 1700000000 --signature 00 --json > result.json";
	await on.user.runAtTerminal(verify, "signing secret", "whsec_test\r");
	expect(JSON.parse(readFileSync(join(on.user.home, "result.json"), "utf8"))).toMatchObject({ valid: false });
});

// It said "EAGAIN: resource temporarily unavailable".
test.runIf(process.platform === "linux")("a body isn't read from a terminal", async () => {
	expect(await on.user.runAtTerminal("posthorn verify --timestamp 1700000000 --signature 00")).toEqual({
		code: 2,
		shown: "--body: standard input is the terminal. Name a file, or pipe the bytes in.\r\n",
	});
});

test("verify says what the caller left out, and doesn't blame the sender", async () => {
	const env = { WEBHOOK_SECRET: "whsec_test" };
	writeFileSync(join(on.user.home, "body.json"), "{}");
	const verify = (...more: string[]) => on.user.run(["verify", "--body", "body.json", ...more], { env });
	for (const [args, missing] of [
		[[], "--timestamp and --signature are missing"],
		[["--signature", "00"], "--timestamp is missing"],
		[["--timestamp", "1700000000"], "--signature is missing"],
		[["--timestamp", "", "--signature", "00"], "--timestamp is missing"],
		[["--timestamp", "", "-H", "X-Service-Signature: 00"], "--timestamp is missing"],
		[["--event", "evt_1", "--timestamp", "1700000000"], "--signature is missing"],
	] as const) {
		const { code, out, err } = await verify(...args);
		expect([code, out, err], args.join(" ")).toEqual([2, "", expect.stringContaining(missing)]);
		expect(err).toContain("--event evt_");
	}
	// What `-H` lacks was missing in the request.
	expect(await verify("-H", "X-Service-Signature: 00")).toMatchObject({
		code: 1,
		out: expect.stringContaining("X-Service-Timestamp is missing"),
	});
	// An empty one was signed in 1970, it said.
	expect(await verify("-H", "X-Service-Timestamp:", "-H", "X-Service-Signature: 00")).toMatchObject({
		code: 1,
		err: "",
	});
	// It called the headers missing, and named no option.
	expect(await verify("-H", "X-Acme-Timestamp: 1700000000", "-H", "X-Acme-Signature: 00")).toMatchObject({
		code: 2,
		err: expect.stringContaining("add --brand acme"),
	});
	// Another service's headers don't make a brand.
	expect(await verify("-H", "X-Hub-Signature: 00")).toMatchObject({ code: 1, err: "" });
	const given = ["--timestamp", "1700000000", "--signature", "00"];
	for (const [flag, path] of [
		["--body", "away.json"],
		["--secret-file", "away.txt"],
	] as const) {
		const { code, err } = await verify(...given, flag, path);
		expect([code, err]).toEqual([2, expect.stringContaining(`${flag}: there is no such file: ${path}`)]);
		expect(err).not.toContain("ENOENT");
	}
});

test("the first difference is that of bytes", () => {
	const bytes = (text: string) => Buffer.from(text);
	expect(firstDifference(bytes("aä"), bytes("aä"))).toBeNull();
	expect(firstDifference(bytes("aä"), bytes("aö"))).toMatchObject({ byte: 2 });
	expect(firstDifference(bytes("a"), bytes("a\n"))).toMatchObject({ byte: 1, sent_length: 1, given_length: 2 });
});

test("targets are endpoints of this machine", () => {
	const hrefs = ["3000", ":3000/a", "3000/hooks?x=1", "localhost:80/a", "https://[::1]:3/a", "http://127.9.9.9"];
	expect(hrefs.map((text) => parseTarget(text).href)).toEqual([
		"http://localhost:3000/",
		"http://localhost:3000/a",
		"http://localhost:3000/hooks?x=1",
		"http://localhost/a",
		"https://[::1]:3/a",
		"http://127.9.9.9/",
	]);
	expect(parseTarget("example.com/a", true).href).toBe("http://example.com/a");
	// Other spellings of addresses are what they mean.
	expect(parseTarget("http://0x7f000001:3000/").hostname).toBe("127.0.0.1");
	expect(() => parseTarget("http://localhost.example.com")).toThrow(/--allow-remote/);
});

test("the list of event types ends no description with a full stop", async () => {
	const { out } = await on.user.run(["trigger", "--list"], offline);
	const lines = out.trimEnd().split("\n");
	expect(lines).toHaveLength(EVENT_TYPES.length + 1);
	expect(lines.filter((line) => line.endsWith("."))).toEqual([]);
});

// It printed them as an array, unlike the other lists.
test("the list of event types as JSON has one type per line", async () => {
	const { out } = await on.user.run(["trigger", "--list", "--json"], offline);
	const types = out
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line).type);
	expect(types).toEqual(EVENT_TYPES.map(({ type }) => type));
});

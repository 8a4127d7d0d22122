import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestApi } from "../../test/api/api.ts";

let api: TestApi;
beforeAll(async () => {
	api = await TestApi.start();
});
afterAll(() => api.close());

interface Sent {
	readonly path: string;
	readonly webhook: string;
	readonly secret: string;
	readonly timestamp: string;
	readonly eventId: string;
	readonly body: Buffer;
}

async function sent(settings: object = {}): Promise<Sent> {
	const project = await api.project();
	const body = { url: api.receiver.url(), events: ["delivery.success"], ...settings };
	const { json } = await api.call("POST", `${project}/webhooks`, { body });
	const webhook = `${project}/webhooks/${json.id}`;
	await api.call("POST", `${project}/events`, {
		body: { type: "delivery.success", data: { order_id: "ord_ä", n: 1 } },
	});
	await api.attempted();
	const [attempt] = (await api.call("GET", `${project}/attempts`)).json.data;
	const request = api.receiver.requests.at(-1)!;
	return {
		...{ path: `${project}/attempts/${attempt!.id}/signature-check`, webhook, secret: String(json.secret) },
		...{ timestamp: String(attempt!.request_headers["X-Service-Timestamp"]), body: Buffer.from(request.body) },
		eventId: String(attempt!.event_id),
	};
}

const hmac = (secret: string, text: string | Buffer) => createHmac("sha256", secret).update(text).digest("hex");
const signed = (secret: string, timestamp: string, body: Buffer) =>
	hmac(secret, Buffer.concat([Buffer.from(`${timestamp}.`), body]));

async function codes(path: string, body: object): Promise<string[]> {
	const { status, json, text } = await api.call("POST", path, { body });
	expect(status, text).toBe(200);
	return (json as unknown as { findings: { part: string; state: string; code: string }[] }).findings.map(
		({ code, state }) => `${state} ${code}`,
	);
}

// The pattern for base64 overflowed the stack, so a body of a few MiB got a 500.
test("it takes bodies as large as events may be", async () => {
	const large = await TestApi.start({ maxEventBytes: 4_194_304 });
	const project = await large.project();
	await large.webhook(project);
	await large.publish(project, { text: "x".repeat(4_000_000) });
	await large.attempted();
	const [attempt] = (await large.call("GET", `${project}/attempts/summaries`)).json.data;
	const path = `${project}/attempts/${attempt!.id}/signature-check`;
	const body = large.receiver.requests.at(-1)!.body.toString("base64");
	expect((await large.call("POST", path, { body: { body } })).text).toContain('"body_same"');
	expect((await large.call("POST", path, { body: { body: `${body}*` } })).status).toBe(422);
	await large.close();
});

test("a body must be base64 with its padding", async () => {
	const { path } = await sent();
	const errors = [{ pointer: "/body", detail: "must be base64 with its padding" }];
	for (const body of ["", "eHh4", "eHg=", "eA=="])
		expect((await api.call("POST", path, { body: { body } })).status, body).toBe(200);
	for (const body of ["e", "eH", "eHg", "e===", "=", "==", "====", "eHg=eHg=", "eHh-", "eHh4\n", "eHh4="])
		expect(await api.call("POST", path, { body: { body } }), body).toMatchObject({ status: 422, json: { errors } });
});

// It only said that the signature is in base64.
test("it says how to get the signature of Standard Webhooks", async () => {
	const { path, secret, timestamp, eventId, body } = await sent();
	const details = async (seen: object) =>
		((await api.call("POST", path, { body: seen })).json as unknown as { findings: { detail: string }[] }).findings
			.map(({ detail }) => detail)
			.join(" ");
	const key = Buffer.from(secret.replace("whsec_", ""), "base64");
	const standard = createHmac("sha256", key).update(`${eventId}.${timestamp}.`).update(body).digest("base64");
	expect(await details({ signature: `v1,${standard}` })).toContain("turn on Standard Webhooks headers");
	const own = Buffer.from(signed(secret, timestamp, body), "hex").toString("base64");
	expect(await details({ signature: own })).not.toContain("Standard Webhooks");
});

test("it tells which of secret, body, timestamp and clock is wrong", async () => {
	const { path, secret, timestamp, body } = await sent();
	const right = signed(secret, timestamp, body);
	const base64 = (bytes: Buffer) => bytes.toString("base64");
	expect(await codes(path, { signature: right, body: base64(body), timestamp, clock: Number(timestamp) })).toEqual([
		...["right body_same", "right timestamp_same", "right clock_right", "right signature_right", "right secret_right"],
	]);
	expect(await codes(path, { signature: right.toUpperCase() })).toContain("wrong signature_form");
	// It once also said that the signature is right.
	expect(await codes(path, { signature: `sha256=${Buffer.from(right, "hex").toString("base64")}` })).toEqual([
		...["wrong signature_form", "right secret_right"],
	]);
	expect(await codes(path, { signature: "nonsense" })).toEqual(["wrong signature_malformed"]);

	const pretty = Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 2));
	expect(await codes(path, { signature: signed(secret, timestamp, pretty), body: base64(pretty) })).toEqual([
		...["wrong body_reserialized", "right secret_right"],
	]);
	// Without the body, common changes are found from only the signature.
	const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body]);
	expect(await codes(path, { signature: signed(secret, timestamp, marked) })).toEqual([
		...["right secret_right", "wrong body_byte_order_mark"],
	]);
	expect(await codes(path, { signature: hmac(secret, body) })).toEqual([
		"right secret_right",
		"wrong timestamp_missing",
	]);
	// It once found no mistake, so that with the body it said that the secret is wrong.
	const undotted = hmac(secret, Buffer.concat([Buffer.from(timestamp), body]));
	expect(await codes(path, { signature: undotted, body: base64(body), timestamp })).toEqual([
		...["right body_same", "right timestamp_same", "right secret_right", "wrong signature_text"],
	]);
	const ms = `${timestamp}000`;
	expect(await codes(path, { signature: signed(secret, ms, body) })).toEqual([
		...["right secret_right", "wrong timestamp_milliseconds"],
	]);
	// With the right signature, a body that was only copied from somewhere isn't what is wrong.
	expect(await codes(path, { signature: right, body: base64(pretty) })).toEqual([
		...["unknown body_not_signed", "right signature_right", "right secret_right"],
	]);
	expect(await codes(path, { clock: Number(timestamp) - 301 })).toEqual(["wrong clock_behind"]);
	expect(await codes(path, { clock: Number(timestamp) + 301 })).toEqual(["wrong clock_ahead"]);
	// It only said that it must be at most 999999999999.
	expect((await api.call("POST", path, { body: { clock: Number(ms) } })).json.errors).toEqual([
		{ pointer: "/clock", detail: "must be in seconds, not in milliseconds" },
	]);
	const inMs = await api.call("POST", path, { body: { timestamp: String(Number(ms) + 5_000) } });
	expect(inMs.json).toMatchObject({
		findings: [{ code: "timestamp_other", detail: expect.stringContaining("looks like milliseconds") }],
	});

	const other = signed("whsec_other", timestamp, body);
	expect(await codes(path, { signature: other })).toEqual(["unknown signature_other"]);
	expect(await codes(path, { signature: other, body: base64(body), timestamp })).toEqual([
		...["right body_same", "right timestamp_same", "wrong secret_wrong"],
	]);
	expect(await codes(path, { signature: other, body: base64(pretty) })).toEqual([
		...["wrong body_reserialized", "unknown signature_other"],
	]);
});

// It compared each with the other signature, and said that the secret is wrong.
test("it knows the signature of Standard Webhooks, too", async () => {
	const { path, webhook, secret, timestamp, eventId, body } = await sent({ standard_webhooks: true });
	const key = Buffer.from(secret.slice("whsec_".length), "base64");
	const standard = (key: Buffer | string, head: string, text: Buffer) =>
		`v1,${createHmac("sha256", key)
			.update(Buffer.concat([Buffer.from(head), text]))
			.digest("base64")}`;
	const head = `${eventId}.${timestamp}.`;
	const right = standard(key, head, body);
	const seen = { body: body.toString("base64"), timestamp };
	expect(await codes(path, { signature: right, ...seen })).toEqual([
		...["right body_same", "right timestamp_same", "right signature_right", "right secret_right"],
	]);
	expect(await codes(path, { signature: right.slice("v1,".length) })).toEqual([
		...["right signature_right", "right secret_right"],
	]);
	for (const short of ["", `${timestamp}.`, `${eventId}.`, `${eventId}${timestamp}`, `${eventId}.${timestamp}`])
		expect(await codes(path, { signature: standard(key, short, body) }), short).toEqual([
			...["right secret_right", "wrong signature_text"],
		]);
	expect(await codes(path, { signature: standard(secret, head, body), ...seen })).toEqual([
		...["right body_same", "right timestamp_same", "wrong secret_not_decoded"],
	]);
	expect(await codes(path, { signature: standard("other", head, body), ...seen })).toEqual([
		...["right body_same", "right timestamp_same", "wrong secret_wrong"],
	]);
	expect(await codes(path, { signature: standard(key, head, Buffer.from(` ${body}`)) })).toEqual([
		...["unknown signature_other"],
	]);
	expect(await codes(path, { signature: standard(key, `${eventId}.${timestamp}000.`, body) })).toEqual([
		...["right secret_right", "wrong timestamp_milliseconds"],
	]);
	// The other one of the same request.
	const own = signed(secret, timestamp, body);
	expect(await codes(path, { signature: own })).toEqual(["right signature_right", "right secret_right"]);
	expect(await codes(path, { signature: Buffer.from(own, "hex").toString("base64") })).toEqual([
		...["wrong signature_form", "right secret_right"],
	]);
	expect(
		await codes(path, { signature: createHmac("sha256", key).update(`${timestamp}.`).update(body).digest("hex") }),
	).toEqual(["wrong secret_decoded"]);

	await api.call("PATCH", webhook, { body: { standard_webhooks: false } });
	expect(await codes(path, { signature: right })).toEqual(["unknown standard_off", "right signature_right"]);
	await api.call("PATCH", webhook, { body: { standard_webhooks: true } });
	await api.call("POST", `${webhook}/rotate-secret`);
	expect(await codes(path, { signature: right })).toEqual(["wrong secret_rotated", "right signature_right"]);
});

// With a body, it said that the secret is wrong; without padding, that the signature is right.
test("it knows a signature in the other one's notation", async () => {
	const { path, secret, timestamp, eventId, body } = await sent({ standard_webhooks: true });
	const key = Buffer.from(secret.slice("whsec_".length), "base64");
	const of = (key: Buffer | string, head: string) => createHmac("sha256", key).update(head).update(body);
	const seen = { body: body.toString("base64"), timestamp };
	const same = ["right body_same", "right timestamp_same"];
	const head = `${eventId}.${timestamp}.`;
	const wrongForm = [...same, "wrong signature_form", "right secret_right"];
	expect(await codes(path, { signature: of(key, head).digest("hex"), ...seen })).toEqual(wrongForm);
	expect(await codes(path, { signature: of(key, head).digest("base64url"), ...seen })).toEqual(wrongForm);
	expect(await codes(path, { signature: of(key, `${eventId}.`).digest("hex"), ...seen })).toEqual([
		...[...wrongForm, "wrong signature_text"],
	]);
	expect(await codes(path, { signature: of(secret, head).digest("hex"), ...seen })).toEqual([
		...[...same, "wrong signature_form", "wrong secret_not_decoded"],
	]);
	expect(await codes(path, { signature: of(secret, "").digest("base64"), ...seen })).toEqual([
		...[...wrongForm, "wrong timestamp_missing"],
	]);
	expect(await codes(path, { signature: of("other", head).digest("hex"), ...seen })).toEqual([
		...[...same, "wrong secret_wrong"],
	]);
});

// Each of these was taken for no signature at all.
test("it recognizes a signature that was pasted with what is around it", async () => {
	const { path, secret, timestamp, eventId, body } = await sent({ standard_webhooks: true });
	const right = signed(secret, timestamp, body);
	for (const pasted of [
		...[`X-Service-Signature: ${right}`, `x-service-signature:${right}`, `HTTP_X_SERVICE_SIGNATURE=${right}`],
		...[`"X-Service-Signature": "${right}",`, `'x-service-signature' => '${right}',`, `signature = ${right};`],
		...[`"${right}"`, `'${right}'`, ` ${right}\n`],
	])
		expect(await codes(path, { signature: pasted }), pasted).toEqual(["right signature_right", "right secret_right"]);
	const key = Buffer.from(secret.slice("whsec_".length), "base64");
	const standard = createHmac("sha256", key).update(`${eventId}.${timestamp}.`).update(body).digest("base64");
	for (const pasted of [`webhook-signature: v1,${standard}`, `"v1,${standard}"`, `v1,${standard}`, standard])
		expect(await codes(path, { signature: pasted }), pasted).toEqual(["right signature_right", "right secret_right"]);
	// Receivers that compute one of these compare more or other text than the header has.
	const bytes = right.toUpperCase().match(/../g)!;
	for (const computed of [
		...[`t=${timestamp},v1=${right}`, `v1=${right}`, `sha256=${right}`, `SHA256:${right}`, `hmac-sha256=${right}`],
		...[right.toUpperCase(), bytes.join("-"), bytes.join(":"), bytes.join(" ")],
	])
		expect(await codes(path, { signature: computed }), computed).toEqual([
			...["wrong signature_form", "right secret_right"],
		]);
});

test("after a rotation, earlier requests can't match, and after a deletion nothing can be checked", async () => {
	const { path, webhook, secret, timestamp, body } = await sent();
	const { json } = await api.call("POST", `${webhook}/rotate-secret`);
	expect(await codes(path, { signature: signed(String(json.secret), timestamp, body) })).toEqual([
		...["wrong secret_rotated", "unknown signature_other"],
	]);
	expect(await codes(path, { signature: signed(secret, timestamp, body) })).toEqual([
		...["wrong secret_rotated", "right signature_right"],
	]);
	await api.call("DELETE", webhook);
	expect(await codes(path, { signature: signed("whsec_x", timestamp, body) })).toEqual([
		...["unknown webhook_deleted", "unknown signature_other"],
	]);
});

test("it returns no secret and no signature for any input", async () => {
	const { path, secret, timestamp, body } = await sent();
	for (const given of [Buffer.from("pay 1000"), body, Buffer.alloc(0)]) {
		const { text } = await api.call("POST", path, {
			body: { signature: "0".repeat(64), body: given.toString("base64"), timestamp: "1" },
		});
		expect(text).not.toContain(secret);
		expect(text).not.toMatch(/[0-9a-f]{64}/);
		expect(text).not.toContain(signed(secret, timestamp, given));
	}
	for (const body of [{}, { body: "abc" }, { body: "ä" }, { secret }, { clock: -1 }])
		expect((await api.call("POST", path, { body })).status).toBe(422);
});

// It refused them as too long or as no signature.
test("it takes headers as they are pasted from a log or a terminal", async () => {
	const { path, secret, timestamp, body } = await sent();
	const signature = signed(secret, timestamp, body);
	const lines = [`X-Service-Timestamp: ${timestamp}`, `X-Service-Signature: ${signature}`, "X-Service-Event: a.b"];
	for (const pasted of [
		`< x-service-signature: ${signature}`,
		`"x-service-signature": "${signature}",`,
		lines.join("\r\n"),
		lines.join(""),
	])
		expect(await codes(path, { signature: pasted }), pasted).toEqual(["right signature_right", "right secret_right"]);
	for (const pasted of [
		lines[0]!,
		`t=${timestamp}`,
		`> x-service-timestamp: ${timestamp}`,
		`"X-Service-Timestamp": "${timestamp}",`,
	])
		expect(await codes(path, { timestamp: pasted }), pasted).toEqual(["right timestamp_same"]);
	expect(await codes(path, { timestamp: lines.join("\n") })).toEqual(["right timestamp_same"]);
	expect(await codes(path, { timestamp: lines.join("") })).toEqual(["right timestamp_same"]);
	expect(await codes(path, { timestamp: `${timestamp} ` })).toEqual(["wrong timestamp_whitespace"]);
});

// It said the same of each, so nobody saw that it was in the wrong field.
test("it says what a malformed signature is instead", async () => {
	const { path, secret, timestamp, body } = await sent();
	const sha = (name: string) => createHmac(name, secret).update(body).digest("hex");
	for (const [signature, said] of [
		[secret, "This is a signing secret"],
		[timestamp, "This is a timestamp"],
		[sha("sha1"), "the length of SHA-1"],
		[`sha512=${sha("sha512")}`, "the length of SHA-512"],
	] as const)
		expect((await api.call("POST", path, { body: { signature } })).text, signature).toContain(said);
});

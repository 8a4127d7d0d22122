import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { SIGNATURE_VECTORS } from "@posthorn/protocol";
import fc from "fast-check";
import { describe, expect, expectTypeOf, it } from "vitest";
import {
	type Body,
	type EventOf,
	type UnknownEvent,
	type VerifyOptions,
	verify,
	WebhookError,
	type WebhookEvent,
} from "../src/index.ts";
import { sampleEvent, signBody, signEvent } from "../src/testing.ts";

const SECRET = SIGNATURE_VECTORS[0]!.secret;
const OLD_SECRET = SIGNATURE_VECTORS[1]!.secret;
const NOW_S = 1_795_232_856;
const AT: VerifyOptions = { now: NOW_S * 1_000 };
const EVENT =
	'{"id":"evt_1","type":"purchase.completed","created_at":"2026-11-21T03:47:36.123Z","project_id":"proj_1",';
const purchase = (data: string) => `${EVENT}"data":${data}}`;

/** Signs with Node's own HMAC, so that the library doesn't judge itself. */
function signed(body: string | Uint8Array, secret = SECRET, timestamp = String(NOW_S)): Record<string, string> {
	const signature = createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex");
	return { "X-Service-Timestamp": timestamp, "X-Service-Signature": signature };
}

/** The error of a request that is refused; fails if it is accepted. */
async function refusal(
	body: unknown,
	headers: Parameters<typeof verify>[1],
	secret: string | readonly string[] = SECRET,
	options = AT,
): Promise<WebhookError> {
	const error: unknown = await verify(body as Body, headers, secret, options).catch((caught: unknown) => caught);
	expect(error).toBeInstanceOf(WebhookError);
	return error as WebhookError;
}

describe("signature vectors", () => {
	const bodies: readonly (readonly [string, Uint8Array])[] = [
		["an empty body", new Uint8Array()],
		["emoji", Buffer.from(purchase('{"name":"Zoë 🎺"}'))],
		["a byte order mark", Buffer.from(`\ufeff${purchase("{}")}`)],
		["invalid UTF-8", Buffer.concat([Buffer.from(EVENT), Buffer.from([0xff, 0xc3, 0x28])])],
		["256 KiB", Buffer.from(purchase(`{"filler":"${"é".repeat(131_072)}"}`))],
	];

	/** A body without an event fails only after its signature was verified. */
	const isGenuine = async (body: Uint8Array, headers: Record<string, string>, secret: string | string[], now = AT) =>
		verify(body, headers, secret, now).then(
			() => true,
			({ code }: WebhookError) => code === "body_not_json" || code === "body_not_an_event",
		);

	it.each(bodies)("%s: accepted with its own signature, refused with any other", async (_name, body) => {
		const headers = signed(body);
		expect(await isGenuine(body, headers, SECRET)).toBe(true);
		expect(await isGenuine(Buffer.concat([body, Buffer.from("x")]), headers, SECRET)).toBe(false);
		expect(await isGenuine(body, signed(body, OLD_SECRET), SECRET)).toBe(false);
	});

	it.each(bodies)("%s: a secret that is being rotated", async (_name, body) => {
		for (const secret of [SECRET, OLD_SECRET]) {
			expect(await isGenuine(body, signed(body, secret), [SECRET, OLD_SECRET])).toBe(true);
		}
		expect(await isGenuine(body, signed(body, `${SECRET}x`), [SECRET, OLD_SECRET])).toBe(false);
	});

	it.each(SIGNATURE_VECTORS)("$name", async ({ secret, timestamp, body, signature }) => {
		const headers = { "X-Service-Timestamp": timestamp, "X-Service-Signature": signature };
		const at = { now: Number(timestamp) * 1_000 };
		expect(await isGenuine(Buffer.from(body), headers, secret, at)).toBe(true);
		expect(await isGenuine(Buffer.from(`${body} `), headers, secret, at)).toBe(false);
		expect((await signBody(body, secret, at))["X-Service-Signature"]).toBe(signature);
	});

	it("accepts exactly the body that was signed, as bytes, buffer or text", async () => {
		await fc.assert(
			fc.asyncProperty(fc.json(), fc.nat({ max: 10_000 }), async (data, at) => {
				const body = Buffer.from(purchase(`{"x":${data}}`));
				const headers = signed(body);
				const { raw } = await verify(body, headers, SECRET, AT);
				expect(raw).toBe(body.toString());
				await verify(body.toString(), headers, SECRET, AT);
				await verify(new Uint8Array(body).buffer, headers, SECRET, AT);
				const altered = Uint8Array.from(body);
				altered[at % altered.length]! ^= 1;
				expect((await refusal(altered, headers)).status).toBe(401);
			}),
			{ numRuns: 50 },
		);
	});
});

describe("verify", () => {
	it.each([undefined, null, "X-Service-Signature: 1", 7, ["X-Service-Signature", "1"]])(
		"says what to pass instead of %j as headers",
		async (headers) => {
			const error = await refusal(purchase("{}"), headers as never);
			expect([error.code, error.status]).toEqual(["headers_not_passed", 400]);
			expect(error.message).toContain("Pass the request's, as its second argument");
		},
	);

	it("returns the event with its raw text, which copies and logs leave out", async () => {
		const body = purchase('{"order_id":"ord_1","amount_cents":12345678901234567890}');
		const event = await verify(body, signed(body), SECRET, AT);
		expect(event).toMatchObject({ id: "evt_1", type: "purchase.completed", project_id: "proj_1" });
		expect(event.raw).toBe(body);
		expect(Object.keys({ ...event })).toEqual(["id", "type", "created_at", "project_id", "data"]);
		expect(JSON.stringify(event)).not.toContain('"raw"');
	});

	it("returns events of unknown types", async () => {
		const { headers, body } = await signEvent({ type: "loyalty.earned", data: { points: 5 } }, SECRET);
		expect(await verify(body, headers, SECRET)).toMatchObject({ type: "loyalty.earned", data: { points: 5 } });
	});

	it("narrows data by type, and keeps a member for unknown types", () => {
		const read = (event: WebhookEvent) => {
			switch (event.type) {
				case "purchase.completed":
					expectTypeOf(event).toEqualTypeOf<EventOf<"purchase.completed">>();
					expectTypeOf(event.data.amount_cents).toEqualTypeOf<number>();
					return event.data.currency;
				case "purchase.refunded":
					return event.data.partial;
				case "customer.created":
				case "delivery.success":
				case "delivery.failed":
				case "basket.abandoned":
				case "subscription.created":
				case "subscription.canceled":
				case "chargeback.created":
					return event.data;
				default:
					expectTypeOf(event).toEqualTypeOf<UnknownEvent>();
					expectTypeOf(event.data).toEqualTypeOf<Record<string, unknown>>();
					return event.type.toUpperCase();
			}
		};
		expect(read({ type: "purchase.refunded", data: { order_id: "1", partial: true } } as WebhookEvent)).toBe(true);
	});

	it("reads the headers of Fetch, of Node and of objects with names in any case", async () => {
		const body = purchase("{}");
		const headers = signed(body);
		const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
		const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]));
		// In a Map, it found only names in lower case.
		const mixed = new Map(Object.entries(headers));
		for (const one of [headers, lower, lists, new Headers(headers), new Map(Object.entries(lower)), mixed]) {
			expect((await verify(body, one, SECRET, AT)).id).toBe("evt_1");
		}
	});

	it("signs at the time of a number or of a clock, as it checks", async () => {
		for (const now of [NOW_S * 1_000, () => NOW_S * 1_000]) {
			const { headers, body } = await signEvent({ type: "customer.created", data: {} }, SECRET, { now });
			expect(headers["X-Service-Timestamp"]).toBe(String(NOW_S));
			expect(JSON.parse(body).created_at).toBe(new Date(NOW_S * 1_000).toISOString());
			expect(await signBody(body, SECRET, { now })).toMatchObject({ "X-Service-Timestamp": String(NOW_S) });
			await verify(body, headers, SECRET, { now });
		}
	});

	it("takes a timestamp that is a number, as programs in JavaScript may pass it", async () => {
		const body = purchase("{}");
		const headers = { ...signed(body), "X-Service-Timestamp": NOW_S as never };
		expect((await verify(body, headers, SECRET, AT)).id).toBe("evt_1");
	});

	it("takes the brand that the operator chose", async () => {
		const { headers, body } = await signEvent({ type: "customer.created", data: {} }, SECRET, { brand: "Acme" });
		expect((await verify(body, headers, SECRET, { brand: "Acme" })).type).toBe("customer.created");
		const { code, message } = await refusal(body, headers, SECRET, {});
		expect(code).toBe("timestamp_missing");
		expect(message).toContain("X-Service-Timestamp");
	});

	it.each([
		[-300, undefined],
		[300, undefined],
		[301, "timestamp_too_old"],
		[-301, "timestamp_too_new"],
	])("a request that is %i s old: %s", async (age, code) => {
		const body = purchase("{}");
		const headers = signed(body, SECRET, String(NOW_S - age));
		// Part of a second never counts against a request.
		const now = () => NOW_S * 1_000 + 999;
		const result = await verify(body, headers, SECRET, { now }).catch((error: WebhookError) => error);
		expect(result instanceof WebhookError ? result.code : undefined).toBe(code);
	});

	// It asked whether the clock is slow, by 1.8 million million seconds.
	it("a timestamp in milliseconds is called that", async () => {
		const body = purchase("{}");
		const headers = signed(body, SECRET, `${NOW_S}000`);
		await expect(verify(body, headers, SECRET, { now: NOW_S * 1_000 })).rejects.toMatchObject({
			code: "timestamp_too_new",
			message: expect.stringContaining(`X-Service-Timestamp is ${NOW_S}000, which looks like milliseconds`),
		});
	});

	it("takes another tolerance", async () => {
		const body = purchase("{}");
		const headers = signed(body, SECRET, String(NOW_S - 10));
		expect((await refusal(body, headers, SECRET, { ...AT, tolerance: 9 })).message).toContain(
			"10 s old; 9 s are allowed",
		);
		expect((await verify(body, headers, SECRET, { ...AT, tolerance: 10 })).id).toBe("evt_1");
	});

	it("refuses every request while the clock isn't a number", async () => {
		const body = purchase("{}");
		expect((await refusal(body, signed(body), SECRET, { now: Number.NaN })).status).toBe(400);
	});

	it.each<[string, string | undefined | string[], WebhookError["code"]]>([
		["X-Service-Timestamp", undefined, "timestamp_missing"],
		["X-Service-Timestamp", "", "timestamp_missing"],
		["X-Service-Timestamp", [String(NOW_S), String(NOW_S)], "timestamp_repeated"],
		["X-Service-Timestamp", `${NOW_S}, ${NOW_S}`, "timestamp_repeated"],
		["X-Service-Timestamp", `${NOW_S},`, "timestamp_repeated"],
		["X-Service-Timestamp", `${NOW_S}.0`, "timestamp_malformed"],
		["X-Service-Timestamp", "0x6b0139d8", "timestamp_malformed"],
		["X-Service-Timestamp", `${NOW_S}²`, "timestamp_malformed"],
		["X-Service-Timestamp", "9".repeat(5_000), "timestamp_malformed"],
		["X-Service-Signature", undefined, "signature_missing"],
		["X-Service-Signature", ["a".repeat(64), "b".repeat(64)], "signature_repeated"],
		["X-Service-Signature", `${"a".repeat(64)}, ${"b".repeat(64)}`, "signature_repeated"],
		["X-Service-Signature", "a".repeat(63), "signature_malformed"],
		["X-Service-Signature", "A".repeat(64), "signature_malformed"],
		["X-Service-Signature", "é".repeat(64), "signature_malformed"],
		["X-Service-Signature", "a".repeat(64), "signature_mismatch"],
	])("%s: %s is %s", async (name, value, code) => {
		const body = purchase("{}");
		const error = await refusal(body, { ...signed(body), [name]: value });
		expect(error.code).toBe(code);
		expect(error.status).toBe(name === "X-Service-Timestamp" ? 400 : 401);
	});

	it("refuses a header that is repeated in names of different case", async () => {
		const body = purchase("{}");
		const error = await refusal(body, { ...signed(body), "x-service-signature": "a".repeat(64) });
		expect(error.code).toBe("signature_repeated");
	});

	it("refuses repeated headers as Node's HTTP server joins them", async () => {
		let seen: IncomingHttpHeaders = {};
		const server = createServer((request, response) => {
			seen = request.headers;
			response.end();
		});
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		const body = purchase("{}");
		const headers = signed(body);
		const { port } = server.address() as AddressInfo;
		await new Promise((resolve, reject) => {
			const repeated = { ...headers, "X-Service-Signature": [headers["X-Service-Signature"]!, "a".repeat(64)] };
			send({ port, host: "127.0.0.1", headers: repeated }, (response) => response.resume().on("end", resolve))
				.on("error", reject)
				.end();
		});
		server.close();
		expect((await refusal(body, seen)).code).toBe("signature_repeated");
	});

	it.each(["", "[]", "null", "7", '{"id":"evt_1"}', `${EVENT}"data":[]}`, `${EVENT}"data":null}`])(
		"refuses the signed body %j, which isn't an event",
		async (body) => {
			const error = await refusal(body, signed(body));
			expect(error.code).toBe(body === "" ? "body_not_json" : "body_not_an_event");
			expect(error.status).toBe(400);
		},
	);

	it.each<[string, string | readonly string[]]>([
		["no secret", [] as string[]],
		["an empty secret", ""],
		// These were accepted as secrets, so anyone could sign.
		["empty quotes, which Docker leaves in a value", '""'],
		["quotes around spaces", " ' ' "],
		["only the prefix", "whsec_"],
		["undefined as text", `${undefined}`],
		["null as text, in quotes", '"null"'],
		["undefined as text after the prefix", `whsec_${undefined}`],
		["null as text after the prefix, in quotes", "'whsec_null'"],
		["not a number as text", `${Number.NaN}`],
		["an object as text", `${{}}`],
		["a promise as text, after the prefix", `whsec_${Promise.resolve(SECRET)}`],
		["None as text", "None"],
		["a variable that nothing has replaced", "$WEBHOOK_SECRET"],
		["one in braces, in quotes", `"\${WEBHOOK_SECRET:-}"`],
		["one of Kubernetes", "$(WEBHOOK_SECRET)"],
		["one of Windows", "%WEBHOOK_SECRET%"],
		["one of a template, after the prefix", "whsec_{{ webhook.secret }}"],
		["one of a workflow", `\${{ secrets.WEBHOOK_SECRET }}`],
		["what Helm leaves of a missing value", "<no value>"],
		["a blank secret", " \n"],
		["an unset variable", undefined as unknown as string],
		["an unset variable among others", [SECRET, undefined as unknown as string]],
	])("throws a TypeError for %s, with which anyone could sign", async (_name, secret) => {
		const body = purchase("{}");
		await expect(verify(body, signed(body), secret, AT)).rejects.toThrow(TypeError);
	});

	it.each([Number.NaN, -1, Number.POSITIVE_INFINITY])("throws a RangeError for the tolerance %d", async (tolerance) => {
		const body = purchase("{}");
		await expect(verify(body, signed(body), SECRET, { ...AT, tolerance })).rejects.toThrow(RangeError);
	});
});

describe("the likely cause of a signature that doesn't match", () => {
	const body = purchase('{"name":"Zoë"}');
	const pretty = JSON.stringify(JSON.parse(body), null, 2);
	const escaped = body.replace("ë", "\\u00eb");

	it.each<[string, unknown, Record<string, string>, string, WebhookError["code"]]>([
		["a line break after the secret", body, signed(body), `${SECRET}\n`, "secret_whitespace"],
		["quotes around the secret", body, signed(body), `"${SECRET}"`, "secret_quoted"],
		["no prefix", body, signed(body), SECRET.slice(6), "secret_prefix"],
		["a body parsed and printed again", pretty, signed(body), SECRET, "body_reserialized"],
		["a body whose letters were escaped", escaped, signed(body), SECRET, "body_reserialized"],
		["a body that was trimmed", body, signed(`${body}\n`), SECRET, "body_reserialized"],
		["a byte order mark added", `\ufeff${body}`, signed(body), SECRET, "body_byte_order_mark"],
		["a byte order mark dropped", body, signed(`\ufeff${body}`), SECRET, "body_byte_order_mark"],
		["a body that was parsed", JSON.parse(body), signed(body), SECRET, "body_parsed"],
		["a body in base64", Buffer.from(body).toString("base64"), signed(body), SECRET, "body_base64"],
		["another body in base64", Buffer.from(pretty).toString("base64"), signed(body), SECRET, "signature_mismatch"],
		["a body whose length base64 doesn't have", "AAAAA", signed(body), SECRET, "signature_mismatch"],
		["another webhook's secret", body, signed(body), OLD_SECRET, "signature_mismatch"],
	])("%s", async (_name, given, headers, secret, code) => {
		const error = await refusal(given, headers, secret);
		expect(error.code).toBe(code);
		expect(error.status).toBe(401);
		expect(error.message).toMatch(/^[A-Z].*\.$/);
		expect(error.message).not.toContain(secret.trim());
	});

	// The message said that the body had been parsed, and sent people looking for a parser.
	it.each<[string, unknown, RegExp]>([
		["undefined, as without a body parser", undefined, /^verify got nothing instead.* express\.raw\(/],
		["null, as on AWS Lambda", null, /^verify got nothing instead/],
		["Express 4's empty object", {}, /^verify got an empty object instead/],
		["text that isn't there any more", "", /^The body is empty, and Posthorn sends none that are\./],
		["a promise that wasn't awaited", new Response(body).text(), /^verify got a promise instead/],
		["the request", new Request("http://localhost", { method: "POST", body }), /^verify got a request instead/],
		["the request's stream", new Response(body).body, /^verify got a stream instead/],
		["Node's request", Readable.from([body]), /^verify got a stream instead/],
	])("is a body that wasn't read: %s", async (_name, given, message) => {
		const error = await refusal(given, signed(body), SECRET);
		expect(error).toMatchObject({ code: "body_not_read", status: 401, message: expect.stringMatching(message) });
	});

	it("is not looked for in large bodies, so that a forged request stays cheap", async () => {
		const large = purchase(`{"filler":"${"x".repeat(100_000)}"}`);
		expect((await refusal(`${large}\n`, signed(large))).code).toBe("signature_mismatch");
	});
});

describe("WebhookError", () => {
	const body = purchase("{}");

	it("has what frameworks read to respond with its status: Koa and NestJS", async () => {
		const error = await refusal(body, signed(body), OLD_SECRET);
		expect([error.status, error.statusCode, error.expose]).toEqual([401, 401, true]);
		// Loggers print own properties.
		expect(Object.keys(error).sort()).toEqual(["code", "name", "status"]);
	});

	it("has the response to return, which Hono asks for", async () => {
		const response = (await refusal(body, {})).getResponse();
		expect(response.status).toBe(400);
		expect(await response.json()).toEqual({
			code: "timestamp_missing",
			message: expect.stringMatching(/^The header X-Service-Timestamp is missing/),
		});
	});
});

describe("mistakes in tests of receivers", () => {
	const event = { type: "customer.created", data: {} };

	it("says how to sign a big integer", async () => {
		const data = { amount_cents: 12345678901234567890n };
		await expect(signEvent({ ...event, data }, SECRET)).rejects.toThrow(/BigInt, write the JSON yourself/);
	});

	// It was Web Crypto's error about the length of a key.
	it.each(["", undefined])("says that the secret %j is missing", async (secret) => {
		await expect(signEvent(event, secret as string)).rejects.toThrow(/signing secret is missing/);
	});

	it.each([undefined, null, event])("says what to sign instead of %j", async (given) => {
		await expect(signBody(given as never, SECRET)).rejects.toThrow(/^signBody needs the body as text or bytes/);
	});

	it("lists the types if there is no sample", () => {
		expect(() => sampleEvent("purchase.complete" as "purchase.completed")).toThrow(
			/^sampleEvent got "purchase\.complete".* The types are customer\.created, purchase\.completed, /,
		);
	});
});

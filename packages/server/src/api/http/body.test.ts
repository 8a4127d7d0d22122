import { PassThrough } from "node:stream";
import type { FastifyRequest } from "fastify";
import { expect, test } from "vitest";
import { TestApi } from "../../../test/api/api.ts";
import { REQUESTS } from "../../base/budgets.ts";
import { Bodies } from "./body.ts";

/** An unauthenticated request whose body doesn't arrive. */
const stalled = (ip: string): FastifyRequest =>
	({
		ip,
		principal: null,
		headers: { "content-length": String(REQUESTS.unauthenticatedBodyBytes) },
		raw: new PassThrough(),
	}) as unknown as FastifyRequest;

// Sixteen /64 networks, of which anyone with a /48 has 65,536, once used up what all unauthenticated clients share.
test("unauthenticated clients from a few networks leave room for others, and an IPv6 /48 is one network", async () => {
	const bodies = new Bodies({ largest: REQUESTS.batchBytes, inFlight: REQUESTS.bodyBytesInFlight });
	const [, unauthenticated] = bodies.budgets;
	const each = REQUESTS.unauthenticatedBodyBytesPerNetwork / REQUESTS.unauthenticatedBodyBytes;
	const read = (ip: string) => bodies.read(stalled(ip), REQUESTS.unauthenticatedBodyBytes);
	for (let i = 0; i < each; i++) void read(`2001:db8:1:${i}::1`);
	expect(unauthenticated!.used).toBe(REQUESTS.unauthenticatedBodyBytesPerNetwork);
	await expect(read("2001:db8:1:ffff::1")).rejects.toMatchObject({ statusCode: 429 });
	const networks = REQUESTS.unauthenticatedBodyBytesInFlight / REQUESTS.unauthenticatedBodyBytesPerNetwork;
	expect(networks).toBeGreaterThan(100);
	for (let n = 2; n <= networks; n++) for (let i = 0; i < each; i++) void read(`2001:db8:${n}:${i}::1`);
	await expect(read("192.0.2.1")).rejects.toMatchObject({ statusCode: 503 });
});

test("an open route only accepts small bodies", async () => {
	const api = await TestApi.start();
	try {
		const token = "x".repeat(REQUESTS.unauthenticatedBodyBytes);
		const answer = await api.call("POST", "/v1/session", { key: null, body: { token } });
		expect(answer.status).toBe(413);
		// The longest e-mail, name and password, all in escapes, fit.
		const person = { email: "e".repeat(254), name: "\u0001".repeat(100), password: "\u0001\u0001".repeat(200) };
		const fits = JSON.stringify({ token: "x".repeat(100), ...person });
		expect(fits.length).toBeLessThan(REQUESTS.unauthenticatedBodyBytes);
	} finally {
		await api.close();
	}
});

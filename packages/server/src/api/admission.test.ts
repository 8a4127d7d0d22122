import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { RATES, REQUESTS, RESPONSES } from "../base/budgets.ts";
import { TestApi } from "./api.fixture.ts";

const used = async (api: TestApi, budget: string): Promise<number> =>
	Number(
		new RegExp(`posthorn_budget_used\\{budget="${budget}"\\} (\\d+)`).exec(
			(await api.call("GET", "/metrics")).text,
		)?.[1],
	);

// 1,785 test requests left for a host that had never agreed to any, in eight seconds.
test("a project sends so many test events at once, and then at their rate; others send theirs", async () => {
	const api = await TestApi.start();
	const [project, other] = [await api.project(), await api.project()];
	const [key, otherKey] = [await api.keyOf(project), await api.keyOf(other)];
	const test = async (at: string, by: string) =>
		api.call("POST", `${at}/test`, { key: by, body: { type: "delivery.success" } });
	const [webhook, second] = [await api.webhook(project), await api.webhook(project)];
	const statuses: number[] = [];
	for (let i = 0; i < RATES.testEvents.burst + 5; i++)
		statuses.push((await test(i % 2 ? webhook : second, key)).status);
	expect(statuses.filter((status) => status === 202).length).toBeLessThan(RATES.testEvents.burst + 5);
	expect(statuses.slice(0, RATES.testEvents.burst)).not.toContain(429);
	const refused = await test(webhook, key);
	expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "1"]);
	expect(refused.json.detail).toBe(
		"Too many test events of this project: 20 may come at once, and 60 in a minute. Try again in 1 second.",
	);
	expect((await test(await api.webhook(other), otherKey)).status).toBe(202);
	await api.close();
});

test("few lists of one principal are read at a time, and only so many wait", async () => {
	let reading = 0;
	let most = 0;
	const gates: (() => void)[] = [];
	const api = await TestApi.start({
		parts: ({ storage }) => ({
			storage: new Proxy(storage, {
				get(target, name) {
					const member: unknown = Reflect.get(target, name);
					if (typeof member !== "function") return member;
					if (name !== "countAttempts") return member.bind(target);
					return async (...args: unknown[]) => {
						most = Math.max(most, ++reading);
						await new Promise<void>((resolve) => gates.push(resolve));
						reading--;
						return member.apply(target, args);
					};
				},
			}),
		}),
	});
	const project = await api.project();
	const key = await api.keyOf(project);
	const fits = RESPONSES.readsPerPrincipal + RESPONSES.readsWaiting;
	const calls = Array.from({ length: fits + 3 }, () => api.call("GET", `${project}/attempts/count`, { key }));
	let over = false;
	const letGo = (async () => {
		const refused = await Promise.race(calls);
		expect(refused.status).toBe(429);
		while (!over) {
			gates.shift()?.();
			await new Promise(setImmediate);
		}
	})();
	const statuses = (await Promise.all(calls)).map(({ status }) => status);
	over = true;
	await letGo;
	expect(statuses.filter((status) => status === 200)).toHaveLength(fits);
	expect(statuses.filter((status) => status === 429)).toHaveLength(3);
	expect(most).toBe(RESPONSES.readsPerPrincipal);
	await api.close();
});

test("whoever does not read gets no more pages; others do; and all is given back", async () => {
	const api = await TestApi.start();
	const project = await api.project();
	const [key, otherKey] = [await api.keyOf(project), await api.keyOf(project)];
	const text = "x".repeat(250_000);
	for (let i = 0; i < 17; i++) await api.publish(project, { text });
	await api.app.listen({ port: 0, host: "127.0.0.1" });
	const { port } = api.app.server.address() as { port: number };
	const page = `${project}/events?limit=200`;
	const request = `GET ${page} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`;
	const deaf = Array.from({ length: 6 }, () => connect(port, "127.0.0.1"));
	for (const socket of deaf) {
		socket.on("error", () => {});
		await once(socket, "connect");
		socket.pause();
		socket.write(request.repeat(4));
	}
	let refused = await api.call("GET", page, { key });
	while (refused.status === 200) refused = await api.call("GET", page, { key });
	expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "1"]);
	expect(refused.json.detail).toMatch(/^Responses that you have not read yet hold [\d,]+ of 8,388,608 bytes/);
	expect(await used(api, "response_bytes")).toBeLessThanOrEqual(RESPONSES.bytesPerPrincipal);
	expect((await api.call("GET", page, { key: otherKey })).status).toBe(200);
	for (const socket of deaf) socket.destroy();
	while ((await used(api, "response_bytes")) > 0) await new Promise(setImmediate);
	expect((await api.call("GET", page, { key })).status).toBe(200);
	await api.close();
});

// 40 uploads that stopped before their end held 633 MB for half a minute.
test("uploads that do not end are charged to their project, and refused beyond its share", async () => {
	const api = await TestApi.start();
	const [project, other] = [await api.project(), await api.project()];
	const [key, otherKey] = [await api.keyOf(project), await api.keyOf(other)];
	await api.app.listen({ port: 0, host: "127.0.0.1" });
	const { port } = api.app.server.address() as { port: number };
	const head = `POST ${project}/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
	const stalled = [];
	for (let held = 0; held < REQUESTS.bodyBytesPerProject; held += REQUESTS.batchBytes) {
		const socket = connect(port, "127.0.0.1");
		socket.on("error", () => {});
		socket.write(`${head}Content-Length: ${REQUESTS.batchBytes}\r\n\r\n{`);
		stalled.push(socket);
	}
	while ((await used(api, "request_body_bytes")) < REQUESTS.bodyBytesPerProject) await new Promise(setImmediate);
	const one = { type: "delivery.success", data: {} };
	const refused = await api.call("POST", `${project}/events`, { key, body: one });
	expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "1"]);
	expect(refused.json.detail).toMatch(
		/^Request bodies of this project hold 8,388,608 bytes, and this one needs \d+ more/,
	);
	// Of unknown length: charged as it comes.
	const chunked = connect(port, "127.0.0.1");
	chunked.write(`${head}Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n`);
	expect(String((await once(chunked, "data"))[0])).toMatch(/^HTTP\/1.1 429 /);
	expect((await api.call("POST", `${other}/events`, { key: otherKey, body: one })).status).toBe(202);
	for (const socket of stalled) socket.destroy();
	chunked.destroy();
	while ((await used(api, "request_body_bytes")) > 0) await new Promise(setImmediate);
	expect((await api.call("POST", `${project}/events`, { key, body: one })).status).toBe(202);
	await api.close();
});

test("all bodies together are bounded, and the answer says that it is not the project's fault", async () => {
	const api = await TestApi.start({
		parts: ({ config }) => ({ config: { ...config, maxBodyBytesInFlight: REQUESTS.bodyBytesPerProject } }),
	});
	await api.app.listen({ port: 0, host: "127.0.0.1" });
	const { port } = api.app.server.address() as { port: number };
	const projects = await Promise.all(Array.from({ length: 5 }, () => api.project()));
	const keys = await Promise.all(projects.map((project) => api.keyOf(project)));
	const stalled = [0, 1, 2, 3].map((i) => {
		const socket = connect(port, "127.0.0.1");
		socket.write(
			`POST ${projects[i]}/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${keys[i]}\r\nContent-Type: application/json\r\nContent-Length: ${REQUESTS.batchBytes}\r\n\r\n{`,
		);
		return socket;
	});
	while ((await used(api, "request_body_bytes")) < REQUESTS.bodyBytesPerProject) await new Promise(setImmediate);
	const body = { type: "delivery.success", data: {} };
	const refused = await api.call("POST", `${projects[4]}/events`, { key: keys[4]!, body });
	expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "1"]);
	expect(refused.json.detail).toMatch(/^All request bodies in flight hold 8,388,608 bytes/);
	for (const socket of stalled) socket.destroy();
	await api.close();
});

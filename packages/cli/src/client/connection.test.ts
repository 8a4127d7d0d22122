import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createFolder } from "@posthorn/server/folders";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { clientFor, connect, connectAsOperator, projectsOf, sayWaits } from "./connection.ts";
import { loginFile } from "./stored.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
	vi.useRealTimers();
	vi.unstubAllGlobals();
	vi.unstubAllEnvs();
});

// It was retried five times, for three minutes.
test("a call that gets no response isn't retried", async () => {
	const silent = vi.fn<typeof fetch>(
		(_, init) =>
			new Promise((_, reject) => init!.signal!.addEventListener("abort", () => reject(init!.signal!.reason))),
	);
	vi.stubGlobal("fetch", silent);
	const end = clientFor({ url: "http://hooks.example", key: "phk_1", project: "proj_1" }).end();
	const failed = expect(end).rejects.toThrow("no response from hooks.example within 30 s");
	await vi.advanceTimersByTimeAsync(200_000);
	await failed;
	expect(silent).toHaveBeenCalledTimes(1);
});

// Commands ended with "Cannot read properties of null", or said that NaN deliveries would be sent again.
test.each(["null", "[]", "{}", '{"status":"ok"}', '{"data":[],"next_cursor":null}'])(
	"recognizes another server that responds with %s",
	async (body) => {
		const headers = { "content-type": "application/json" };
		vi.stubGlobal("fetch", async () => new Response(body, { headers }));
		await expect(projectsOf("http://hooks.example", "phk_1")).rejects.toThrow("The response isn't Posthorn's.");
	},
);

// Commands ended with "data is not iterable", or said that NaN deliveries are sent again.
test.each([
	"<!doctype html><title>Sign in</title>",
	"null",
	"[]",
	'"ok"',
	'{"status":"ok"}',
	'{"data":[],"next_cursor":null}',
])("recognizes another server that numbers its requests, too, and responds with %s", async (body) => {
	const headers = { "content-type": "application/json", "x-request-id": "5b0c7c1e" };
	vi.stubGlobal("fetch", async () => new Response(body, { headers }));
	await expect(projectsOf("http://hooks.example", "phk_1")).rejects.toThrow(/200: .*isn't Posthorn's/);
});

// It knew the service by the fields that commands read, so a command that read another one failed, then by its
// `X-Request-Id`, which a proxy may replace or leave out.
test.each([
	["of this version", { "posthorn-api": "v1" }],
	[
		"of an earlier version, behind a proxy that numbers requests",
		{ "x-request-id": "5b0c7c1e", "content-security-policy": "default-src 'none';frame-ancestors 'none'" },
	],
])("recognizes a service %s by a header that each of its responses has", async (_, own) => {
	const headers = { "content-type": "application/json", ...own };
	vi.stubGlobal("fetch", async () => new Response('{"state":"attempting"}', { headers }));
	const { api } = clientFor({ url: "http://hooks.example", key: "phk_1", project: "proj_1" });
	const path = { project_id: "proj_1", webhook_id: "wh_1", event_id: "evt_1" };
	const { data } = await api.POST("/v1/projects/{project_id}/webhooks/{webhook_id}/deliveries/{event_id}/retry", {
		params: { path },
	});
	expect(data).toEqual({ state: "attempting" });
});

// Commands waited for minutes and showed nothing.
test("a terminal learns within seconds which service doesn't respond, once", async () => {
	const said: string[] = [];
	const calls: PromiseWithResolvers<Response>[] = [];
	const doFetch = () => {
		calls.push(Promise.withResolvers<Response>());
		return calls.at(-1)!.promise;
	};
	const waiting = sayWaits(doFetch, (text) => said.push(text));
	const call = async (url: string, ms: number) => {
		const response = waiting(new URL(url));
		vi.advanceTimersByTime(ms);
		calls.at(-1)!.resolve(new Response());
		await response;
	};
	await call("http://hooks.example:8420/v1/projects", 2_999);
	await call("http://hooks.example:8420/v1/events?wait=30", 30_000);
	expect([vi.getTimerCount(), said]).toEqual([0, []]);
	await call("http://hooks.example:8420/v1/projects?wait=0", 3_000);
	await call("http://hooks.example:8420/v1/projects", 3_000);
	expect([vi.getTimerCount(), said]).toEqual([0, ["Waiting for a response from hooks.example:8420 …"]]);
});

// Jobs that have all settings in their environment ended with advice to sign in.
test("a damaged login doesn't matter to a command that needs nothing of it", async () => {
	const home = mkdtempSync(join(tmpdir(), "posthorn-connection-"));
	try {
		for (const name of ["HOME", "XDG_CONFIG_HOME", "APPDATA"]) vi.stubEnv(name, home);
		createFolder(dirname(loginFile()), 0o700);
		writeFileSync(loginFile(), "{");
		const url = "https://hooks.example";
		const env = { POSTHORN_URL: url, POSTHORN_API_KEY: "phk_1", POSTHORN_PROJECT: "proj_1" };
		expect(await connect({}, env)).toMatchObject({ url, project: "proj_1" });
		expect(await connect({ url, project: "proj_2" }, { POSTHORN_API_KEY: "phk_1" })).toMatchObject({
			project: "proj_2",
		});
		for (const missing of Object.keys(env))
			await expect(connect({}, { ...env, [missing]: "" }), missing).rejects.toThrow("is damaged");
		vi.stubEnv("POSTHORN_API_KEY", "phk_1");
		expect(connectAsOperator({ url })).toMatchObject({ url });
	} finally {
		rmSync(home, { recursive: true });
	}
});

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, it } from "vitest";
import { until } from "../../../../testkit/src/until.ts";
import type { Session } from "../model.ts";
import { forgetSession, rememberSession, SESSION_KEY } from "../session-cache.ts";
import { callApi, callUrl } from "./client.ts";
import { ApiError } from "./error.ts";
import { queryClient } from "./query-client.ts";

const SESSION: Session = {
	account: {
		id: "acc_1",
		email: "anna@example.com",
		name: "Anna",
		operator: false,
		created_at: "2026-11-21T00:00:00.000Z",
	},
	csrf_token: "token-1",
	by_link: false,
	retry_delays: [],
	log_retention_days: 30,
	max_description_length: 200,
	quarantine: false,
	projects: [],
};

let answer: (request: IncomingMessage, response: ServerResponse) => void;
let origin: string;
const server = createServer((request, response) => answer(request, response));

beforeEach(async () => {
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
	forgetSession();
	queryClient.clear();
	server.closeAllConnections();
	await new Promise((resolve) => server.close(resolve));
});

const problem = async (promise: Promise<unknown>): Promise<ApiError> => {
	const error = await promise.then(
		() => null,
		(reason: unknown) => reason,
	);
	if (!(error instanceof ApiError)) throw new Error(`Expected an ApiError, got ${String(error)}.`);
	return error;
};

it("fills in and encodes path parameters, and omits empty query values", () => {
	const url = callUrl("/v1/projects/{project_id}/attempts", {
		path: { project_id: "proj/1" },
		query: { status: "failed", type: "", cursor: null, since: undefined, limit: 50 },
	});
	expect(url).toBe("/v1/projects/proj%2F1/attempts?status=failed&limit=50");
	expect(() => callUrl("/v1/projects/{project_id}", {})).toThrow("project_id");
});

it("sends the CSRF token with changes, and never with reads", async () => {
	const seen: (string | undefined)[] = [];
	answer = (request, response) => {
		seen.push(request.headers["x-csrf-token"] as string | undefined);
		response.writeHead(204).end();
	};
	rememberSession(SESSION);
	await callApi("GET", `${origin}/v1/a`);
	await callApi("POST", `${origin}/v1/a`, { body: { a: 1 } });
	await callApi("DELETE", `${origin}/v1/a`);
	expect(seen).toEqual([undefined, "token-1", "token-1"]);
});

it("throws the problem from the response", async () => {
	answer = (_, response) => {
		response.writeHead(429, { "content-type": "application/problem+json", "retry-after": "7" });
		response.end(
			JSON.stringify({
				type: "/problems/too-many-requests",
				title: "Too many requests",
				status: 429,
				detail: "Wait a little.",
				errors: [{ pointer: "/url", detail: "bad" }, "nonsense"],
			}),
		);
	};
	const error = await problem(callApi("GET", `${origin}/v1/a`));
	expect(error).toMatchObject({
		code: "too-many-requests",
		status: 429,
		title: "Too many requests",
		detail: "Wait a little.",
		retryAfter: 7,
		errors: [{ pointer: "/url", detail: "bad" }],
	});
});

it("turns a response that isn't a problem document, such as a proxy's, into a problem", async () => {
	answer = (_, response) => response.writeHead(502).end("<h1>Bad gateway</h1>");
	const error = await problem(callApi("GET", `${origin}/v1/a`));
	expect(error.status).toBe(502);
	expect(error.detail).toContain("502");
});

it("reports that there was no response", async () => {
	answer = (request) => request.socket.destroy();
	const error = await problem(callApi("GET", `${origin}/v1/a`));
	expect(error).toMatchObject({ status: 0, code: "unreachable" });
});

// It was taken for an error of the page, and wasn't requested again.
it.each([200, 500])("reports that a response with status %i broke off", async (status) => {
	answer = (_, response) => {
		response.writeHead(status, { "content-type": "application/json", "content-length": "100" });
		response.write("{", () => response.destroy());
	};
	expect(await problem(callApi("GET", `${origin}/v1/a`))).toMatchObject({ status: 0, code: "unreachable" });
});

// Someone who had just signed in again was signed out.
it("keeps a session that began while a request of the previous one was on its way", async () => {
	rememberSession(SESSION);
	answer = (_, response) => {
		rememberSession({ ...SESSION, csrf_token: "token-2" });
		response.writeHead(401).end();
	};
	await problem(callApi("GET", `${origin}/v1/a`));
	expect(queryClient.getQueryData(SESSION_KEY)).toMatchObject({ csrf_token: "token-2" });
});

it("clears the session and its data once it has ended", async () => {
	rememberSession(SESSION);
	queryClient.setQueryData(["project", "proj_1", "webhooks"], ["seen"]);
	answer = (_, response) => response.writeHead(401).end();
	await problem(callApi("GET", `${origin}/v1/a`));
	expect(queryClient.getQueryData(SESSION_KEY)).toBeNull();
	expect(queryClient.getQueryData(["project", "proj_1", "webhooks"])).toBeUndefined();
});

// A page kept offering what someone could no longer do since their role had been lowered.
it.each([
	[403, "/problems/forbidden"],
	[409, "/problems/app-not-installed"],
])("refetches the session after a response with %i %s", async (status, type) => {
	let role = "owner";
	const session = () => ({ ...SESSION, projects: [{ id: "proj_1", name: "A store", apps: [], role }] });
	answer = (request, response) =>
		request.url === "/v1/session"
			? response.end(JSON.stringify(session()))
			: response.writeHead(status).end(JSON.stringify({ type }));
	const observer = new QueryObserver(queryClient, {
		queryKey: SESSION_KEY,
		queryFn: () => callApi<Session>("GET", `${origin}/v1/session`),
	});
	const stop = observer.subscribe(() => {});
	await until("the session", () => observer.getCurrentResult().data?.projects[0]?.role === "owner");
	role = "viewer";
	await problem(callApi("POST", `${origin}/v1/a`));
	await until("the session to be refetched", () => observer.getCurrentResult().data?.projects[0]?.role === "viewer");
	stop();
});

// One for the session itself was requested again and again, as fast as the proxy responded.
it("doesn't refetch the session after a proxy's 403", async () => {
	let requests = 0;
	answer = (_, response) =>
		++requests === 1 ? response.end(JSON.stringify(SESSION)) : response.writeHead(403).end("<h1>Forbidden</h1>");
	const observer = new QueryObserver(queryClient, {
		queryKey: SESSION_KEY,
		queryFn: () => callApi<Session>("GET", `${origin}/v1/session`),
	});
	const stop = observer.subscribe(() => {});
	await until("the session", () => observer.getCurrentResult().isSuccess);
	void queryClient.invalidateQueries({ queryKey: SESSION_KEY });
	await until("the refetch to fail", () => observer.getCurrentResult().isRefetchError);
	expect(requests).toBe(2);
	stop();
});

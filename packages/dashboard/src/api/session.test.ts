import { afterEach, expect, it, vi } from "vitest";
import { keepDraft, takeDraft } from "../lib/account/kept-drafts.ts";
import { queryClient } from "./client/query-client.ts";
import { projectsHealthQuery } from "./health.ts";
import type { Session } from "./model.ts";
import { sessionQuery, signOut, visitProject } from "./session.ts";
import { forgetSession, isSigningOut, rememberSession, SESSION_KEY } from "./session-cache.ts";

afterEach(() => {
	vi.unstubAllGlobals();
	queryClient.clear();
});

const cached = () => queryClient.getQueryData<Session | null>(SESSION_KEY);
const project = (id: string, name = "A store") => ({ id, name, apps: [], role: "owner" as const });

const operated = (projects: Session["projects"], csrf_token = "token"): Session => ({
	account: {
		id: "acc_1",
		email: "olga@example.com",
		name: "Olga",
		operator: true,
		created_at: "2026-11-21T00:00:00.000Z",
	},
	csrf_token,
	by_link: false,
	retry_delays: [],
	log_retention_days: 30,
	max_description_length: 200,
	quarantine: false,
	projects,
});

// When that session ended later, its page led to a sign-in that neither said so nor led back.
it("knows the end of a session from signing out, even if the session began in another tab", async () => {
	let current = operated([]);
	const refetch = () => queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 });
	vi.stubGlobal("fetch", async (_url: string, { method = "GET" }: RequestInit = {}) => {
		if (method === "GET") return Response.json(current);
		// Meanwhile, the session is refetched.
		await refetch();
		return new Response(null, { status: 204 });
	});
	rememberSession(current);
	await signOut();
	expect(isSigningOut()).toBe(true);
	current = operated([], "token of the other tab");
	await refetch();
	expect(isSigningOut()).toBe(false);
});

it("forgets what was typed before signing out, or by another account", async () => {
	vi.stubGlobal("fetch", async () => new Response(null, { status: 204 }));
	const typed = { edited: { name: "Shop server" } };
	const other = { ...operated([]).account, id: "acc_other" };
	rememberSession(operated([]));
	keepDraft("keys", { account: "acc_1", ...typed });
	forgetSession();
	rememberSession(operated([]));
	expect(takeDraft("keys", "acc_1")).toEqual(typed.edited);
	keepDraft("keys", { account: "acc_1", ...typed });
	rememberSession({ ...operated([]), account: other });
	expect(takeDraft("keys", "acc_1")).toBeNull();
	keepDraft("keys", { account: "acc_other", ...typed });
	await signOut();
	expect(takeDraft("keys", "acc_other")).toBeNull();
});

// Pages showed it to the other account until it was refetched.
it("forgets what another account has seen, even if the next one signed in in another tab", async () => {
	rememberSession(operated([]));
	queryClient.setQueryData(["project", "proj_1", "members"], []);
	const health = projectsHealthQuery(["proj_1"]).queryKey;
	queryClient.setQueryData(health, []);
	const { account, ...rest } = operated([], "token of the other tab");
	vi.stubGlobal("fetch", async () => Response.json({ ...rest, account: { ...account, id: "acc_other" } }));
	await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 });
	expect(queryClient.getQueryData(["project", "proj_1", "members"])).toBeUndefined();
	expect(queryClient.getQueryData(health)).toBeUndefined();
});

// Their pages then said that the access had ended.
it("keeps projects that the operator opened one right after the other, and a session that was refetched", async () => {
	const held = Promise.withResolvers<void>();
	vi.stubGlobal("fetch", async (url: string) => {
		if (url.endsWith("/proj_slow")) await held.promise;
		return Response.json({ ...project(url.split("/").at(-1) ?? ""), created_at: "" });
	});
	const session = operated([]);
	rememberSession(session);
	const slow = visitProject(session, "proj_slow");
	expect(await visitProject(session, "proj_next")).toBe(true);
	rememberSession({ ...operated([]), ...cached(), csrf_token: "token of the refetched one" });
	held.resolve();
	expect(await slow).toBe(true);
	expect(cached()).toEqual(operated([project("proj_next"), project("proj_slow")], "token of the refetched one"));
});

// Signed out, the operator was signed in again, though the service knew better.
it("leaves a session ended that ends while a project is looked up", async () => {
	vi.stubGlobal("fetch", async () => {
		forgetSession();
		return Response.json({ ...project("proj_1"), created_at: "" });
	});
	rememberSession(operated([]));
	await visitProject(operated([]), "proj_1");
	expect(cached()).toBeNull();
});

// Its page then said that the access had ended.
it("keeps a project that the operator opened while the session was refetched", async () => {
	const projects = Array.from({ length: 200 }, (_, n) => project(`proj_${n}`));
	const session = operated(projects);
	const visited = { ...session, projects: [...projects, project("proj_before"), project("proj_gone")] };
	const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	vi.stubGlobal("fetch", async (url: string) => {
		if (url === "/v1/session") return Response.json(session);
		if (url.endsWith("/proj_gone")) return Response.json({}, { status: 404 });
		if (url.endsWith("/proj_before")) {
			asked.resolve();
			await held.promise;
		}
		return Response.json({ ...project(url.split("/").at(-1) ?? "", "Another name"), created_at: "" });
	});
	rememberSession(visited);
	const refetched = queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 });
	await asked.promise;
	expect(await visitProject(visited, "proj_meanwhile")).toBe(true);
	held.resolve();
	expect((await refetched)?.projects.slice(200)).toEqual([
		project("proj_before", "Another name"),
		project("proj_meanwhile", "Another name"),
	]);
});

// The webhook form counted a description's characters as "12/undefined".
it("has sane limits if a node of the previous release responds during an upgrade", async () => {
	const { log_retention_days: _days, max_description_length: _length, quarantine: _quarantine, ...old } = operated([]);
	vi.stubGlobal("fetch", async () => Response.json(old));
	expect(await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 })).toEqual(operated([]));
	rememberSession(old as Session);
	expect(cached()).toEqual(operated([]));
	// What a node says counts.
	rememberSession({ ...operated([]), max_description_length: 0 });
	expect(cached()?.max_description_length).toBe(0);
});

// The session is refetched every 15 s, and each time all of them were: a tab in which many were opened asked ever more.
it("asks about a few of the projects that the operator opened with each session, and soon about all", async () => {
	const projects = Array.from({ length: 200 }, (_, n) => project(`proj_${n}`));
	const opened = Array.from({ length: 12 }, (_, n) => project(`proj_opened_${n}`));
	const asked: string[] = [];
	vi.stubGlobal("fetch", async (url: string) => {
		if (url === "/v1/session") return Response.json(operated(projects));
		const id = url.split("/").at(-1)!;
		asked.push(id);
		return Response.json({ ...project(id, "Another name"), created_at: "" });
	});
	rememberSession(operated([...projects, ...opened]));
	const counts: number[] = [];
	for (let n = 0; n < 4; n++) {
		const before = asked.length;
		await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 });
		counts.push(asked.length - before);
	}
	expect(Math.max(...counts)).toBe(5);
	expect(cached()?.projects.slice(200)).toEqual(opened.map(({ id }) => project(id, "Another name")));
});

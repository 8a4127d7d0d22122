import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { type Browser, invite, member, PASSWORD, setUp } from "../../test/api/browser.ts";
import { KEY_SCOPES } from "../storage/port.ts";
import { type Route, roleFor, scopeFor } from "./route.ts";
import { apiRoutes } from "./routes/index.ts";

/**
 * The lowest role that may call each route. `people`: not with a project's key. `read`: only with a key that has this
 * scope.
 */
const EXPECTED = {
	createProject: "operator",
	listProjects: "any",
	listProjectHealth: "any, read",
	getProject: "viewer, people",
	updateProject: "owner, people",
	installDeveloperApp: "owner, people",
	removeDeveloperApp: "owner, people",
	createApiKey: "developer, people",
	listApiKeys: "viewer",
	getApiKey: "viewer",
	deleteApiKey: "developer",
	listEventTypes: "any",
	publishEvents: "developer",
	listEvents: "viewer",
	recordListener: "viewer",
	getEvent: "viewer",
	getEventTypeSchema: "open",
	createWebhook: "developer",
	recordOrder: "developer",
	recordOrders: "developer",
	recordRefund: "developer",
	recordChargeback: "developer",
	recordDeliverable: "developer",
	touchBasket: "developer",
	removeBasket: "developer",
	recordSubscription: "developer",
	cancelSubscription: "developer",
	listWebhooks: "viewer",
	listDeletedWebhooks: "viewer",
	checkUrl: "developer",
	getWebhook: "viewer",
	updateWebhook: "developer",
	deleteWebhook: "developer",
	rotateWebhookSecret: "developer",
	testWebhook: "developer",
	listAttempts: "viewer",
	searchEvents: "viewer",
	listAttemptSummaries: "viewer",
	countAttempts: "viewer",
	getAttempt: "viewer",
	listDeliveries: "viewer",
	getDelivery: "viewer",
	replayDelivery: "developer",
	replayFailed: "developer",
	replayMany: "developer",
	retryDelivery: "developer",
	retryWebhook: "developer",
	retryMany: "developer",
	cancelTest: "developer",
	checkSignature: "developer",
	exportAttemptsCsv: "viewer",
	exportAttemptsJsonl: "viewer",
	exportDeliveriesCsv: "viewer",
	exportDeliveriesJsonl: "viewer",
	publishSample: "developer",
	dismissDelivery: "developer",
	dismissMany: "developer",
	getStats: "viewer",
	listWebhookHealth: "viewer",
	listIncidents: "viewer",
	listWaiting: "viewer",
	listenToChanges: "viewer",
	getSetup: "open",
	getClock: "operator",
	confirmClock: "operator",
	getQuarantine: "any",
	listQuarantined: "operator",
	releaseQuarantine: "operator",
	setUp: "open",
	signIn: "open",
	getSession: "signed in",
	signOut: "signed in",
	createSignInLink: "operator",
	updateAccount: "signed in",
	changePassword: "signed in",
	listSessions: "signed in",
	endSession: "signed in",
	signOutEverywhere: "signed in",
	listMembers: "viewer, people",
	updateMember: "owner, people",
	// For another member; members.test.ts shows that every member may leave.
	removeMember: "owner, people",
	createInvitation: "owner, people",
	listInvitations: "owner, people",
	revokeInvitation: "owner, people",
	lookAtInvitation: "open",
	acceptInvitation: "open",
	listAudit: "owner, people",
	isLive: "open",
	explainProblem: "open",
	isReady: "open",
	readMetrics: "open",
	getOpenApi: "open",
	readDocs: "open",
	readDocsScript: "open",
} as const;

/** The routes that a project's key needs `publish` for. Others need `read` or `manage`, as a viewer or a developer may. */
const PUBLISHES = new Set([
	"publishEvents",
	"publishSample",
	"recordOrder",
	"recordOrders",
	"recordRefund",
	"recordChargeback",
	"recordDeliverable",
	"touchBasket",
	"removeBasket",
	"recordSubscription",
	"cancelSubscription",
]);

const ABSENT = "01kbjh6mrxe3q8z1v2t4w5y6a7";
type Verdict = "may" | "401" | "403" | "404";

let api: TestApi;
let project: string;
let routes: Route[];
let secrets: string[];
let ids: Record<string, string>;
const people: Record<string, Browser> = {};
const keys: Record<string, string | null> = {};

beforeAll(async () => {
	api = await TestApi.start();
	people.operator = await setUp(api);
	project = await api.project();
	for (const role of ["viewer", "developer", "owner"]) people[role] = await member(api, project, role, role);
	const elsewhere = await api.project("Elsewhere");
	people.outsider = await member(api, elsewhere, "owner", "outsider");
	keys["the project's key"] = await api.keyOf(project);
	keys["another project's key"] = await api.keyOf(elsewhere);
	for (const scope of KEY_SCOPES) {
		const { json } = await api.call("POST", `${project}/api-keys`, { body: { name: scope, scopes: [scope] } });
		keys[`a key to ${scope}`] = String(json.key);
	}
	keys.nobody = null;
	routes = apiRoutes(api.parts, () => "");

	const { json: webhook } = await api.call("POST", `${project}/webhooks`, {
		body: { url: api.receiver.url(), events: ["delivery.success"] },
	});
	const { json: rotated } = await api.call("POST", `${project}/webhooks/${webhook.id}/rotate-secret`);
	const { json: apiKey } = await api.call("POST", `${project}/api-keys`, { body: { name: "Shop" } });
	const event = await api.publish(project);
	await api.attempted();
	const attempt = (await api.call("GET", `${project}/attempts`)).json.data[0]!.id;
	ids = { webhook_id: webhook.id, event_id: event, attempt_id: attempt, key_id: apiKey.id };
	secrets = [
		webhook.secret,
		rotated.secret,
		apiKey.key,
		await invite(api, project, "owner"),
		PASSWORD,
		"$argon2id$",
		...Object.values(people).flatMap(({ token, csrfToken }) => [token, String(csrfToken)]),
	];
});
afterAll(() => api.close());

/** A call that would be allowed, but on something that doesn't exist. */
function urlOf({ path }: Route): string {
	const absent: Record<string, string> = {
		webhook_id: `wh_${ABSENT}`,
		event_id: `evt_${ABSENT}`,
		attempt_id: `att_${ABSENT}`,
		key_id: `key_${ABSENT}`,
		account_id: `acc_${ABSENT}`,
		session_id: `ses_${ABSENT}`,
		event_type: "no.type",
		invitation_id: `inv_${ABSENT}`,
	};
	return path
		.replace("{project_id}", project.split("/").at(-1)!)
		.replaceAll(/\{(\w+)\}/g, (_, name: string) => absent[name]!);
}

/** The status that the table says a caller gets. */
function expected(operationId: string, who: string): Verdict {
	const [needs = "", restriction] = EXPECTED[operationId as keyof typeof EXPECTED].split(", ");
	const peopleOnly = restriction === "people";
	if (needs === "open") return "may";
	if (who === "nobody") return "401";
	const isPerson = who in people;
	if (needs === "signed in") return isPerson ? "may" : "403";
	if (who === "the operator's key" || who === "operator") return "may";
	if (needs === "operator") return "403";
	if (needs === "any" && restriction === "read" && who.startsWith("a key to"))
		return who.endsWith("read") ? "may" : "403";
	if (needs === "any") return !isPerson && peopleOnly ? "403" : "may";
	if (who === "outsider" || who === "another project's key") return "404";
	if (who in keys && peopleOnly) return "403";
	if (who === "the project's key") return "may";
	if (who.startsWith("a key to")) {
		const scope = PUBLISHES.has(operationId) ? "publish" : needs === "viewer" ? "read" : "manage";
		return who.endsWith(scope) ? "may" : "403";
	}
	const order = ["viewer", "developer", "owner"];
	return order.indexOf(who) >= order.indexOf(needs) ? "may" : "403";
}

const THROUGH = /^There is no such (?!project)/;

async function call(route: Route, who: string): Promise<{ verdict: Verdict; detail: string }> {
	const { method } = route;
	const body = route.body ? {} : undefined;
	const browser = people[who];
	// A stream never ends: only its beginning matters.
	if (route.operationId === "listenToChanges") return listen(route, who);
	const key = keys[who];
	const answer = browser
		? await browser.call(method, urlOf(route), { body })
		: await api.call(method, urlOf(route), { body, ...(key !== undefined && { key }) });
	const { status, json } = answer;
	const detail = String(json?.detail ?? "");
	if (status === 401) return { verdict: "401", detail };
	if (status === 403) return { verdict: "403", detail };
	if (status === 404 && !THROUGH.test(detail)) return { verdict: "404", detail };
	expect(status, detail).toBeLessThan(500);
	return { verdict: "may", detail };
}

async function listen(route: Route, who: string): Promise<{ verdict: Verdict; detail: string }> {
	const key = keys[who];
	const authorization = `Bearer ${key ?? "operator-key-of-32-characters-or-more"}`;
	const headers = people[who]?.headersFor("GET") ?? (key === null ? {} : { authorization });
	const response = await api.app.inject({ url: urlOf(route), headers, payloadAsStream: true });
	const stream = response.stream();
	if (response.statusCode === 200) {
		stream.destroy();
		return { verdict: "may", detail: "" };
	}
	const { detail } = JSON.parse(Buffer.concat(await stream.toArray()).toString()) as { detail: string };
	return { verdict: String(response.statusCode) as Verdict, detail };
}

test("the table covers every route, and matches the routes' definitions", () => {
	const said = Object.fromEntries(
		routes.map((route) => {
			const { operationId, access, peopleOnly } = route;
			const scope = access === "any" ? scopeFor(route) : null;
			const isProjects = access === "project" || access === "developer";
			const needs = isProjects ? (operationId === "removeMember" ? "owner" : roleFor(route)) : access.replace("_", " ");
			return [operationId, [needs, ...(peopleOnly ? ["people"] : []), ...(scope === null ? [] : [scope])].join(", ")];
		}),
	);
	expect(said).toEqual(EXPECTED);
});

describe.each([
	"viewer",
	"developer",
	"owner",
	"outsider",
	"operator",
	"the operator's key",
	"the project's key",
	"a key to publish",
	"a key to read",
	"a key to manage",
	"another project's key",
	"nobody",
])("as %s", (who) => {
	test("each route responds according to the table", async () => {
		// Routes that end the session come last.
		const ends = ({ operationId }: Route) => Number(/^signOut/.test(operationId));
		for (const route of routes.toSorted((one, other) => ends(one) - ends(other))) {
			const { operationId } = route;
			const { verdict, detail } = await call(route, who);
			expect(`${operationId}: ${verdict}`, detail).toBe(`${operationId}: ${expected(operationId, who)}`);
			if (operationId === "removeDeveloperApp") await api.call("PUT", `${project}/apps/developer`);
			if (ends(route)) await people[who]?.signIn(`${who}@example.com`);
		}
	});
});

test("a refusal says which role is needed and where to get it", async () => {
	const { viewer, developer } = people;
	const said = async (browser: Browser | undefined, method: string, path: string) =>
		(await browser?.call(method, project + path, { body: {} }))?.json.detail;
	expect(await said(viewer, "POST", "/webhooks")).toBe(
		"You are a viewer of this project; this requires a developer. An owner can change your role under Members.",
	);
	expect(await said(developer, "PATCH", "")).toBe(
		"You are a developer of this project; this requires an owner. An owner can change your role under Members.",
	);
	expect(await said(viewer, "DELETE", `/members/acc_${ABSENT}`)).toBe("Only an owner may remove others.");
	const { json } = await api.call("GET", `${project}/members`, { key: String(keys["the project's key"]) });
	expect(json.detail).toMatch(/Only members and the operator can do this/);
});

test("an outsider can't tell whether a project exists", async () => {
	const absent = `/v1/projects/proj_${ABSENT}`;
	for (const route of routes.filter(({ path }) => path.includes("{project_id}"))) {
		const there = urlOf(route);
		const body = route.body ? {} : undefined;
		const answers = [there, there.replace(project, absent)].map((url) =>
			people.outsider!.call(route.method, url, { body }),
		);
		const [one, other] = await Promise.all(answers);
		expect(one!.status, route.operationId).toBe(404);
		expect(one!.text, route.operationId).toBe(other!.text);
	}
});

/** Parameters of calls that need some. */
const QUERIES: Readonly<Record<string, (project: string) => string>> = {
	searchEvents: () => "?text=none",
	listProjectHealth: (project) => `?project_id=${project.split("/").at(-1)}`,
};

test("a viewer can read everything except secrets", async () => {
	const viewer = people.viewer!;
	// All of them exist: "undefined" would be found nowhere.
	for (const secret of secrets) expect(secret).toMatch(/^(?!undefined).{10}/);
	const reads = routes.filter(
		({ method, path, operationId, access }) =>
			method === "GET" &&
			access !== "open" &&
			operationId !== "listenToChanges" &&
			/viewer|any/.test(EXPECTED[operationId as keyof typeof EXPECTED]) &&
			path.startsWith("/v1/"),
	);
	expect(reads.length).toBeGreaterThan(15);
	for (const { path, operationId } of reads) {
		const url = path
			.replace("{project_id}", project.split("/").at(-1)!)
			.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(ids[name]));
		const { status, text } = await viewer.call("GET", url + (QUERIES[operationId]?.(project) ?? ""));
		expect(status, operationId).toBe(200);
		for (const secret of secrets) expect(text, operationId).not.toContain(secret);
	}
});

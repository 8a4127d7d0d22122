import {
	createRootRoute,
	createRoute,
	createRouter,
	lazyRouteComponent,
	parseSearchWith,
} from "@tanstack/react-router";
import { part } from "../lib/part.ts";
import { validateAuditSearch } from "../pages/audit/search.ts";
import { validateLogsSearch } from "../pages/logs/search.ts";
import { validateOverviewSearch } from "../pages/overview/search.ts";
import { validateProjectsSearch } from "../pages/projects/search.ts";
import { validateWebhookSearch } from "../pages/webhook/search.ts";
import { validateWebhooksSearch } from "../pages/webhooks/search.ts";
import { DeveloperGate } from "./developer-gate.tsx";
import { CrashPage, NotFoundPage, PendingPage } from "./fallbacks.tsx";
import { requireProject, requireSession, startPage } from "./guards.ts";
import { SessionGate } from "./session-gate.tsx";
import { ProjectShell, SignedInShell } from "./shell/shell.tsx";

/** A page whose code is loaded when it is first needed. */
const page: typeof lazyRouteComponent = (load, name) => lazyRouteComponent(part(load), name);

const root = createRootRoute();

// Open to everyone.

const setup = createRoute({
	getParentRoute: () => root,
	path: "/setup",
	component: page(() => import("../pages/setup/setup-page.tsx"), "SetupPage"),
});

const signIn = createRoute({
	getParentRoute: () => root,
	path: "/sign-in",
	validateSearch: (search: Record<string, unknown>): { next?: string; ended?: true } => ({
		...(typeof search.next === "string" ? { next: search.next } : {}),
		...(search.ended === true ? { ended: true } : {}),
	}),
	component: page(() => import("../pages/sign-in/sign-in-page.tsx"), "SignInPage"),
});

const invitation = createRoute({
	getParentRoute: () => root,
	path: "/invitation",
	component: page(() => import("../pages/invitation/invitation-page.tsx"), "InvitationPage"),
});

// For signed-in users.

const signedIn = createRoute({
	getParentRoute: () => root,
	id: "signed-in",
	beforeLoad: requireSession,
	component: SessionGate,
});

const home = createRoute({ getParentRoute: () => signedIn, path: "/", beforeLoad: startPage });

const plain = createRoute({ getParentRoute: () => signedIn, id: "plain", component: SignedInShell });

const projects = createRoute({
	getParentRoute: () => plain,
	path: "/projects",
	validateSearch: validateProjectsSearch,
	component: page(() => import("../pages/projects/projects-page.tsx"), "ProjectsPage"),
});

const account = createRoute({
	getParentRoute: () => plain,
	path: "/account",
	component: page(() => import("../pages/account/account-page.tsx"), "AccountPage"),
});

// A project's pages.

const project = createRoute({
	getParentRoute: () => signedIn,
	path: "/p/$projectId",
	beforeLoad: requireProject,
	component: ProjectShell,
});

const overview = createRoute({
	getParentRoute: () => project,
	path: "/",
	validateSearch: validateOverviewSearch,
	component: page(() => import("../pages/overview/overview-page.tsx"), "OverviewPage"),
});

const apps = createRoute({
	getParentRoute: () => project,
	path: "/apps",
	component: page(() => import("../pages/apps/apps-page.tsx"), "AppsPage"),
});

const members = createRoute({
	getParentRoute: () => project,
	path: "/members",
	component: page(() => import("../pages/members/members-page.tsx"), "MembersPage"),
});

const audit = createRoute({
	getParentRoute: () => project,
	path: "/audit",
	validateSearch: validateAuditSearch,
	component: page(() => import("../pages/audit/audit-page.tsx"), "AuditPage"),
});

// The pages of the Developer app.

const developer = createRoute({ getParentRoute: () => project, id: "developer", component: DeveloperGate });

const webhooks = createRoute({
	getParentRoute: () => developer,
	path: "/webhooks",
	validateSearch: validateWebhooksSearch,
	component: page(() => import("../pages/webhooks/webhooks-page.tsx"), "WebhooksPage"),
});

const newWebhook = createRoute({
	getParentRoute: () => developer,
	path: "/webhooks/new",
	component: page(() => import("../pages/webhook/new-webhook-page.tsx"), "NewWebhookPage"),
});

const webhook = createRoute({
	getParentRoute: () => developer,
	path: "/webhooks/$webhookId",
	validateSearch: validateWebhookSearch,
	component: page(() => import("../pages/webhook/webhook-page.tsx"), "WebhookPage"),
});

const apiKeys = createRoute({
	getParentRoute: () => developer,
	path: "/api-keys",
	component: page(() => import("../pages/api-keys/api-keys-page.tsx"), "ApiKeysPage"),
});

/** The list stays visible next to the drawer, so the drawer is a child route of the list. */
const logs = createRoute({
	getParentRoute: () => developer,
	path: "/logs",
	validateSearch: validateLogsSearch,
	component: page(() => import("../pages/logs/logs-page.tsx"), "LogsPage"),
});

const delivery = createRoute({
	getParentRoute: () => logs,
	path: "/$attemptId",
	component: page(() => import("../pages/delivery/delivery-drawer.tsx"), "DeliveryDrawer"),
});

const routeTree = root.addChildren([
	setup,
	signIn,
	invitation,
	signedIn.addChildren([
		home,
		plain.addChildren([projects, account]),
		project.addChildren([
			overview,
			apps,
			members,
			audit,
			developer.addChildren([webhooks, newWebhook, webhook, apiKeys, logs.addChildren([delivery])]),
		]),
	]),
]);

/** A value in the address bar. Digits that a number can't hold, as of a long order id, stay text. */
function parseValue(text: string): unknown {
	const value: unknown = JSON.parse(text);
	return typeof value === "number" && String(value) !== text ? text : value;
}

export const router = createRouter({
	routeTree,
	parseSearch: parseSearchWith(parseValue),
	defaultPreload: "intent",
	defaultPreloadStaleTime: 0,
	defaultPendingComponent: PendingPage,
	defaultErrorComponent: CrashPage,
	defaultNotFoundComponent: NotFoundPage,
	scrollRestoration: true,
});

declare module "@tanstack/react-router" {
	interface Register {
		router: typeof router;
	}
}

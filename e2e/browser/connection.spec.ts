import type { Page } from "@playwright/test";
import { purchase } from "../shop.ts";
import { type Dashboard, expect, expectAccessible, PASSWORD, test } from "./dashboard.ts";

/** Opens the overview, signed in. */
async function openOverview(dashboard: Dashboard, page: Page): Promise<void> {
	await dashboard.enter(page);
	await page.goto(dashboard.project());
	await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
}

/** Opens the page of members, whose code isn't loaded yet. */
const openMembers = (page: Page) => page.getByRole("link", { name: "Members" }).click();
const expectMembers = (page: Page) => expect(page.getByRole("heading", { name: "Members", level: 1 })).toBeVisible();

/** The paths of the API that a page requests from now on. */
function apiRequests(page: Page): string[] {
	const asked: string[] = [];
	page.on("request", (request) => {
		const { pathname, search } = new URL(request.url());
		if (pathname.startsWith("/v1/")) asked.push(pathname + search);
	});
	return asked;
}

const expectNoneTwice = (asked: readonly string[]) => expect(asked.toSorted()).toEqual([...new Set(asked)].toSorted());

/** A link that signs the operator in once. */
const signInLink = async ({ shop }: Dashboard): Promise<string> =>
	String((await shop.post("/v1/sign-in-links", { email: "operator@example.com" })).body.url);

const looks = (state: string) =>
	`Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });`;

/** Hides a tab, or shows it again. */
const turn = (page: Page, state: "hidden" | "visible") =>
	page.evaluate(`${looks(state)} document.dispatchEvent(new Event("visibilitychange"));`);

test("a new project opens no live stream until the app is installed, and then is live", async ({ dashboard, page }) => {
	await dashboard.enter(page);
	const refused: string[] = [];
	page.on("response", (response) => {
		if (response.status() === 409) refused.push(response.url());
	});
	const { body } = await dashboard.shop.post("/v1/projects", { name: "New", apps: [] });
	await page.goto(`${dashboard.url}/p/${body.id}`);
	await expect(page.getByRole("button", { name: "Install" })).toBeVisible();
	await expect(page.getByRole("button", { name: /Live updates/ })).toHaveCount(0);
	await page.getByRole("button", { name: "Install" }).click();
	await expect(page.getByRole("button", { name: "Live updates: live" })).toBeVisible();
	expect(refused).toEqual([]);
});

// After one 502, EventSource gave up for good.
test("live updates come back after an outage, and pages refresh meanwhile", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await shop.webhook(receiver.url("/hooks"));
	await dashboard.enter(page);
	await page.clock.install();
	let isDown = true;
	await page.route("**/changes", (route) => (isDown ? route.fulfill({ status: 502, body: "" }) : route.continue()));
	await page.goto(dashboard.project("/logs?view=attempts"));
	const toggle = page.getByRole("button", { name: /Live updates/ });
	await expect(toggle).toHaveText(/^Not live since (\d+ \w+( \d{4})?, )?\d\d:\d\d$/);
	await expectAccessible(page);

	await shop.post(shop.path("/events"), purchase(1));
	await expect.poll(async () => (await shop.get(shop.path("/attempts/count"))).body.count).toBe(1);
	await page.clock.runFor(11_000);
	const rows = page.getByRole("table", { name: "Attempts" }).getByRole("row");
	await expect(rows).toHaveCount(1 + 1);

	isDown = false;
	await page.clock.runFor(40_000);
	await expect(toggle).toHaveText("Live");
	await shop.post(shop.path("/events"), purchase(2));
	await expect(async () => {
		await page.clock.runFor(1_000);
		await expect(rows).toHaveCount(1 + 2, { timeout: 500 });
	}).toPass();
});

// Only what hints are about was fetched again, so that the other pages kept their error.
test("a list that couldn't be loaded during an outage is loaded once it's over", async ({ dashboard, page }) => {
	await dashboard.shop.post(dashboard.shop.path("/api-keys"), { name: "ERP" });
	await dashboard.enter(page);
	await page.clock.install();
	let isDown = true;
	await page.route("**/v1/projects/**", (route) =>
		isDown ? route.fulfill({ status: 503, body: "" }) : route.continue(),
	);
	await page.goto(dashboard.project("/api-keys"));
	const alert = page.getByRole("alert");
	await expect(async () => {
		await page.clock.runFor(1_000);
		await expect(alert).toHaveCount(1, { timeout: 500 });
	}).toPass();
	isDown = false;
	await page.clock.runFor(40_000);
	await expect(page.getByRole("cell", { name: "ERP" }).first()).toBeVisible();
	await expect(alert).toHaveCount(0);
});

test("what a page fetches after its stream has opened isn't fetched again", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	await shop.webhook("https://example.com/hooks");
	await dashboard.enter(page);
	const asked = apiRequests(page);
	// The stream opens before the page's code has loaded.
	const opened = page.waitForResponse((response) => response.url().endsWith("/changes"));
	await page.route("**/assets/overview-page-*.js", async (route) => {
		await opened;
		await route.continue();
	});
	await page.goto(dashboard.project());
	await expect(page.getByRole("button", { name: "Live updates: live" })).toBeVisible();
	await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
	expectNoneTwice(asked);
});

// The overview once took up to 24 requests, because what it had fetched before its stream opened was fetched again.
test("what a page needs before its stream has opened is fetched once it has", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	await shop.webhook("https://example.com/hooks");
	await dashboard.enter(page);
	const asked = apiRequests(page);
	// A page waits only so long for its stream, and a busy machine may take longer to show the heading.
	await page.clock.install();
	await page.clock.pauseAt(Date.now() + 60_000);
	await page.route("**/changes", async (route) => {
		await page.getByRole("heading", { level: 1, name: "A store" }).waitFor();
		await page.clock.runFor(100);
		await route.continue();
	});
	await page.goto(dashboard.project());
	await expect(page.getByRole("button", { name: "Live updates: live" })).toBeVisible();
	await page.clock.resume();
	await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
	await expect(page.getByText(/not been sent anything yet/)).toBeVisible();
	expectNoneTwice(asked);
});

test("a page whose stream doesn't open fetches its data all the same", async ({ dashboard, page }) => {
	await dashboard.shop.webhook("https://example.com/hooks", { description: "Accounting" });
	await dashboard.enter(page);
	await page.route("**/changes", () => {});
	await page.goto(dashboard.project("/webhooks"));
	await expect(page.getByRole("row", { name: /Accounting/ })).toBeVisible();
});

// Over HTTP/1.1 a browser has six connections to a service, for all tabs together. Each tab kept one, so the seventh
// loaded nothing.
test("tabs in the background leave the connections to the one in front, and catch up once they are", async ({
	dashboard,
	context,
	page: first,
}) => {
	const { shop } = dashboard;
	await shop.webhook("https://example.com/hooks", { description: "Accounting" });
	await dashboard.enter(first);
	const live = (page: Page) => page.getByRole("button", { name: "Live updates: live" });
	for (let n = 1; n <= 6; n++) {
		const page = n === 1 ? first : await context.newPage();
		await page.clock.install();
		await page.goto(dashboard.project("/webhooks"));
		await expect(live(page)).toBeVisible();
		await turn(page, "hidden");
		const ended = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/changes"));
		await page.clock.runFor(10_000);
		await ended;
	}
	const last = await context.newPage();
	await last.addInitScript(looks("hidden"));
	await last.goto(dashboard.project("/webhooks"));
	await expect(last.getByRole("link", { name: "Accounting" })).toBeVisible();
	await expect(live(last)).toHaveCount(0);
	await turn(last, "visible");
	await expect(live(last)).toBeVisible();

	await shop.webhook("https://example.com/hooks", { description: "Shipping" });
	await expect(last.getByRole("link", { name: "Shipping" })).toBeVisible();
	await expect(first.getByRole("link", { name: "Shipping" })).toHaveCount(0);
	await turn(first, "visible");
	await expect(live(first)).toBeVisible();
	await expect(first.getByRole("link", { name: "Shipping" })).toBeVisible();
});

// Its stream, which is opened before the page's code has loaded, stayed open.
test("a tab that is hidden while it loads has no connection", async ({ dashboard, page }) => {
	await dashboard.shop.webhook("https://example.com/hooks");
	await dashboard.enter(page);
	const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	await page.route("**/assets/overview-page-*.js", async (route) => {
		asked.resolve();
		await held.promise;
		await route.continue();
	});
	const opened = page.waitForRequest((request) => request.url().endsWith("/changes"));
	await page.goto(dashboard.project());
	await Promise.all([asked.promise, opened]);
	await turn(page, "hidden");
	const ended = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/changes"));
	held.resolve();
	await ended;
	await expect(page.getByText(/not been sent anything yet/)).toBeVisible();
	await turn(page, "visible");
	await expect(page.getByRole("button", { name: "Live updates: live" })).toBeVisible();
});

test("offline, a page that isn't loaded says so, and opens once the browser is online again", async ({
	dashboard,
	page,
	context,
}) => {
	await openOverview(dashboard, page);
	const toggle = page.getByRole("button", { name: /^Live updates/ });
	await expect(toggle).toHaveText("Live");
	await context.setOffline(true);
	// Its stream was still open, so the page once said that it's live.
	await expect(toggle).toHaveText(/^Not live since/);
	await openMembers(page);
	await expect(page.getByRole("heading", { name: "You're offline" })).toBeVisible();
	await expectAccessible(page);
	await context.setOffline(false);
	await expectMembers(page);
	await expect(toggle).toHaveText("Live");
});

// The browser may still believe that it is online. The dashboard reloaded itself, which left the browser's error page.
test("without a connection, a page that isn't loaded says so, and opens once it is back", async ({
	dashboard,
	page,
	context,
}) => {
	await openOverview(dashboard, page);
	await page.clock.install();
	await context.route("**", (route) => route.abort("internetdisconnected"));
	await openMembers(page);
	await expect(page.getByRole("heading", { name: "This page couldn't be loaded" })).toBeVisible();
	// It also said that deliveries aren't affected, and stayed until "Reload".
	await expect(page.getByText("The service can't be reached right now.")).toBeVisible();
	await expectAccessible(page);
	await context.unroute("**");
	await page.clock.runFor(5_000);
	await expectMembers(page);
});

// The router reloaded it, without asking whether the service can be reached.
test("without a connection, a page whose styles are in the browser's cache doesn't reload", async ({
	dashboard,
	page,
	context,
}) => {
	await openOverview(dashboard, page);
	let loads = 0;
	page.on("request", (request) => {
		if (request.isNavigationRequest()) loads++;
	});
	await context.route(/\/assets\/members-page-.*\.js$|\/healthz$/, (route) => route.abort("internetdisconnected"));
	await openMembers(page);
	await expect(page.getByRole("heading", { name: "This page couldn't be loaded" })).toBeVisible();
	expect(loads).toBe(0);
});

test("offline, a delivery says so and opens once online, and an action says that it can be tried again", async ({
	dashboard,
	page,
	context,
}) => {
	await dashboard.failing("ERP", 1);
	await dashboard.enter(page);
	// The drawer's code is loaded before it's needed.
	const drawerCode = page.waitForResponse(/delivery-drawer.*\.js$/);
	await page.goto(dashboard.project("/logs"));
	const row = page.getByRole("row", { name: /ord_1/ });
	await expect(row).toContainText("500");
	await drawerCode;
	await context.setOffline(true);
	await row.getByRole("button", { name: /^Retry now/ }).click();
	const alert = page.getByRole("alert").filter({ hasText: "You're offline" });
	await expect(alert).toContainText("Try again once it's back.");
	await row.focus();
	await page.keyboard.press("Enter");
	const drawer = page.getByRole("dialog");
	await expect(drawer).toContainText("You're offline");
	await context.setOffline(false);
	await expect(alert).toHaveCount(0);
	await expect(drawer).toContainText("The receiver returned 500");
});

test("a browser without a network still reaches a service on its own machine", async ({ dashboard, page }) => {
	await dashboard.shop.webhook("https://example.com/hooks", { description: "ERP" });
	await dashboard.enter(page);
	await page.goto(dashboard.project());
	await expect(page.getByRole("button", { name: "Live updates: live" })).toBeVisible();
	await page.evaluate("window.dispatchEvent(new Event('offline'))");
	await page.getByRole("link", { name: "Webhooks" }).click();
	await expect(page.getByRole("table", { name: "Webhooks" })).toContainText("ERP");
});

test("a part that an upgrade has replaced reloads the page once", async ({ dashboard, page }) => {
	await openOverview(dashboard, page);
	let loads = 0;
	page.on("request", (request) => {
		if (request.isNavigationRequest()) loads++;
	});
	await page.route("**/assets/members-page-*", (route) => route.fulfill({ status: 404, body: "" }));
	await openMembers(page);
	await expect(page.getByRole("heading", { name: "This page couldn't be loaded" })).toBeVisible();
	expect(loads).toBe(1);
	await page.unrouteAll();
	await page.getByRole("button", { name: "Reload" }).click();
	await expectMembers(page);
});

test("a link pasted into an open tab works, and leaves no token in the address bar", async ({ dashboard, page }) => {
	await dashboard.setUp();
	await page.goto(`${dashboard.url}/sign-in`);
	await expect(page.getByLabel("E-mail")).toBeVisible();
	const first = await signInLink(dashboard);
	await page.evaluate(`location.assign(${JSON.stringify(first)})`);
	await expect(page.getByRole("heading", { name: "Sign in with your link" })).toBeVisible();
	expect(page.url()).not.toContain("#");
	await expect(page.getByText("15 minutes to set a new password")).toBeVisible();
	// The next link replaces one that has been used.
	await fetch(`${dashboard.url}/v1/session`, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify({ token: first.split("#")[1] }),
	});
	await page.getByRole("button", { name: "Sign in" }).click();
	await expect(page.getByRole("heading", { name: "This link has expired" })).toBeVisible();
	const second = await signInLink(dashboard);
	await page.evaluate(`location.assign(${JSON.stringify(second)})`);
	await page.getByRole("button", { name: "Sign in" }).click();
	await expect(page.getByRole("heading", { name: "Account" })).toBeVisible();
});

test("only a link to recover an account, which names no page, is about a new password", async ({ dashboard, page }) => {
	await dashboard.setUp();
	const [, token] = (await signInLink(dashboard)).split("#");
	await page.goto(
		`${dashboard.url}/sign-in?next=${dashboard.project("/webhooks").replace(dashboard.url, "")}#${token}`,
	);
	await expect(page.getByText("The link works once.", { exact: true })).toBeVisible();
	await page.getByRole("button", { name: "Sign in" }).click();
	await expect(page).toHaveURL(/\/webhooks$/);
});

test("errors speak to people, not to programs", async ({ dashboard, page }) => {
	await dashboard.setUp();
	await page.goto(`${dashboard.url}/sign-in`);
	await page.getByLabel("E-mail").fill("operator@example.com");
	await page.getByLabel(/^Password/).fill(`not ${PASSWORD}`);
	await page.getByRole("button", { name: "Sign in" }).click();
	const alert = page.getByRole("alert");
	await expect(alert).toContainText("You couldn't be signed in");
	await expect(alert).not.toContainText("API key");
	await dashboard.signIn(page);
	await page.goto(dashboard.project("/webhooks/wh_0000000000000000000000"));
	await expect(page.getByRole("alert")).toContainText("It may have been deleted, or you no longer have access.");
	await expect(page.getByRole("alert")).not.toContainText("this key");
});

test("pages outside of a project lead back to it", async ({ dashboard, page }) => {
	await dashboard.enter(page);
	await page.goto(dashboard.project());
	await page.getByRole("button", { name: /Account of/ }).click();
	await page.getByRole("menuitem", { name: "Account" }).press("Enter");
	await expect(page.getByRole("heading", { name: "Account", level: 1 })).toBeVisible();
	await expect(page.getByText(/Chrome on/).first()).toBeVisible();
	await page.getByRole("navigation").getByRole("link", { name: "Webhooks" }).click();
	await expect(page).toHaveURL(dashboard.project("/webhooks"));
});

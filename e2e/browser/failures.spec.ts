import type { Page } from "@playwright/test";
import { purchase } from "../shop.ts";
import { expect, test, watch } from "./dashboard.ts";

test.use({ settings: { POSTHORN_RETRY_DELAYS: "3600" } });

/** Resolves once the page has rendered again, and what it requested then has arrived. */
const rendered = (page: Page) =>
	page.evaluate(`(async () => {
		for (const _ of [1, 2]) await new Promise((go) => requestAnimationFrame(go));
		await fetch("/v1/setup");
	})()`);

// It was requested again as soon as that had failed, for as long as the page was open.
test("older rows that can't be loaded are only requested again on demand", async ({ dashboard, page }) => {
	await dashboard.failing("Accounting", 60);
	await dashboard.enter(page);
	let asked = 0;
	let isFailing = true;
	let held = Promise.withResolvers<void>();
	held.resolve();
	await page.route(/cursor=/, async (route) => {
		asked++;
		await held.promise;
		return isFailing ? route.fulfill({ status: 500, body: "" }) : route.continue();
	});
	for (const [view, label] of [
		["deliveries", "Show older deliveries"],
		["attempts", "Show older attempts"],
	] as const) {
		[asked, isFailing] = [0, true];
		await page.goto(dashboard.project(`/logs?view=${view}`));
		await page.getByRole("button", { name: label }).click();
		// Below the rows, where someone looks for more.
		await expect(page.getByRole("alert")).toHaveCount(1);
		await rendered(page);
		expect(asked).toBe(1);
		// The focus got lost.
		const again = page.getByRole("button", { name: "Try again" });
		held = Promise.withResolvers<void>();
		await again.press("Enter");
		await expect(page.getByRole("alert")).toHaveCount(0);
		held.resolve();
		await expect(page.getByRole("alert")).toHaveCount(1);
		await expect(again).toBeFocused();
		expect(asked).toBe(2);
		isFailing = false;
		await page.keyboard.press("Enter");
		await expect(page.getByRole("alert")).toHaveCount(0);
		await expect(page.getByRole("row")).toHaveCount(61);
		expect(asked).toBe(3);
	}

	// "And 55 more after these." led nowhere.
	const [{ id }] = (await dashboard.shop.get(dashboard.shop.path("/webhooks"))).body.data;
	await page.route("**/stats?*", async (route) => {
		const response = await route.fetch();
		const stats = await response.json();
		await route.fulfill({ response, json: { ...stats, total: { ...stats.total, delivered: 12_345, failed: 6_789 } } });
	});
	await page.goto(dashboard.project(`/webhooks/${id}`));
	// One legend took two lines, so its plot was lower than the other.
	const plots = page.getByRole("tabpanel").getByRole("img", { name: / in the last 24 hours/ });
	await expect(plots).toHaveCount(2);
	const [outcomes, times] = await plots.evaluateAll((all) => all.map((plot) => plot.getBoundingClientRect()));
	expect(outcomes!.x).toBeLessThan(times!.x);
	expect(outcomes!.y).toBe(times!.y);
	await page.getByRole("link", { name: "Show 55 more in the log" }).click();
	await expect(page).toHaveURL(dashboard.project(`/logs?webhook_id=${id}&state=waiting`));
	await page.goto(dashboard.project());
	await page.getByRole("link", { name: "Show all in the log" }).click();
	await expect(page).toHaveURL(dashboard.project("/logs?state=waiting"));
});

// The service may return a page without rows although more follow.
test("a list whose first rows can't be loaded says so, and is only requested again on demand", async ({
	dashboard,
	page,
}) => {
	await dashboard.failing("Accounting", 1);
	await dashboard.enter(page);
	let asked = 0;
	let isFailing = true;
	await page.route(/\/deliveries\?/, async (route) => {
		const isFirst = !route.request().url().includes("cursor=");
		if (isFirst) return route.fulfill({ json: { data: [], next_cursor: "more" } });
		asked++;
		if (isFailing) return route.fulfill({ status: 500, body: "" });
		return route.fulfill({
			response: await route.fetch({
				url: route
					.request()
					.url()
					.replace(/&cursor=\w+/, ""),
			}),
		});
	});
	await page.goto(dashboard.project("/logs"));
	await expect(page.getByRole("alert")).toHaveCount(1);
	await rendered(page);
	expect(asked).toBe(1);
	isFailing = false;
	await page.getByRole("button", { name: "Try again" }).click();
	await expect(page.getByRole("table", { name: "Deliveries" }).getByText("purchase.completed")).toBeVisible();
	await expect(page.getByRole("alert")).toHaveCount(0);
});

// The settings requested it again, the page showed placeholders meanwhile, then the settings again, and so on forever.
test("a webhook's settings stay usable while its health can't be loaded", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const { id } = await shop.webhook("https://example.com/hooks", { description: "Accounting" });
	await dashboard.enter(page);
	await page.route("**/webhooks/health*", (route) => route.fulfill({ status: 500, body: "" }));
	await page.goto(dashboard.project(`/webhooks/${id}?tab=settings`));
	await expect(page.getByRole("alert")).toContainText("The service returned 500");
	await expect(page.getByLabel("Description")).toHaveValue("Accounting");
	await page.getByLabel("Description").fill("Books");
	await page.getByRole("button", { name: "Save" }).first().click();
	await expect(page.getByRole("heading", { level: 1, name: "Books" })).toBeVisible();
	await expect(page.getByText("Saved. Retries and replays use it from now on, too.")).toBeVisible();
	// They said that nothing was waiting.
	await shop.patch(shop.path(`/webhooks/${id}`), { status: "paused" });
	await expect(page.getByRole("heading", { name: "Paused" })).toBeVisible();
	await page.getByRole("tabpanel").getByRole("button", { name: "Resume" }).click();
	await expect(page.getByRole("dialog")).toContainText("Still loading what's waiting for it.");
	await expect(page.getByText("Nothing is waiting.")).toHaveCount(0);
});

// Of three, it said "Its last attempt was".
test("a bulk replay says when deliveries of the same moment were last tried", async ({ dashboard, page }) => {
	await dashboard.failing("Accounting", 1);
	await dashboard.enter(page);
	let count = 3;
	const at = new Date().toISOString();
	await page.route("**/replays", (route) =>
		route.fulfill({ json: { count, groups: [], oldest_at: at, newest_at: at, next_cursor: null } }),
	);
	await page.goto(dashboard.project("/logs"));
	const dialog = page.getByRole("dialog");
	const replay = page.getByRole("button", { name: "Replay all matching" });
	await replay.click();
	await expect(dialog).toContainText("Their last attempts were");
	await dialog.getByRole("button", { name: "Cancel" }).click();
	count = 1;
	await replay.click();
	await expect(dialog).toContainText("Its last attempt was");
});

// It ended after the first step, as if it had been stopped again.
test("a bulk replay that failed while it was being stopped can be begun again", async ({ dashboard, page }) => {
	await dashboard.failing("Accounting", 1);
	await dashboard.enter(page);
	const counted = { count: 3, groups: [], oldest_at: null, newest_at: null, next_cursor: null };
	const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	let steps = 0;
	await page.route("**/replays", async (route) => {
		if (route.request().postDataJSON().dry_run) return route.fulfill({ json: counted });
		if (++steps === 1) {
			asked.resolve();
			await held.promise;
			return route.fulfill({ status: 500, body: "" });
		}
		return route.fulfill({ json: { count: 1, before: "then", next_cursor: steps < 4 ? "more" : null } });
	});
	await page.goto(dashboard.project("/logs"));
	await page.getByRole("button", { name: "Replay all matching" }).click();
	const dialog = page.getByRole("dialog");
	await dialog.getByRole("button", { name: "Replay 3 deliveries" }).click();
	await asked.promise;
	await dialog.getByRole("button", { name: "Stop" }).click();
	held.resolve();
	await expect(dialog.getByRole("alert")).toContainText("The service returned 500");
	await dialog.getByRole("button", { name: "Replay 3 deliveries" }).click();
	await expect(dialog).toContainText("3 deliveries are being sent again, oldest first.");
});

// Its filter then had the same webhook twice, and the whole page broke.
test("the log survives that someone deletes a webhook, whichever list says so first", async ({
	dashboard,
	page,
	context,
}) => {
	const faults = watch(context);
	const { shop } = dashboard;
	await dashboard.failing("Accounting", 1);
	await dashboard.enter(page);
	const [{ id }] = (await shop.get(shop.path("/webhooks"))).body.data;
	const filter = page.getByRole("combobox", { name: "Webhooks" });
	await page.goto(dashboard.project("/logs"));
	await expect(page.getByRole("button", { name: "Live updates: live" })).toBeVisible();
	const held = Promise.withResolvers<void>();
	await page.route(/\/webhooks\?limit/, async (route) => {
		await held.promise;
		await route.continue();
	});
	const isDeleted = page.waitForResponse(
		async (response) => /webhooks\/deleted/.test(response.url()) && (await response.text()).includes(id),
	);
	await shop.delete(shop.path(`/webhooks/${id}`));
	await isDeleted;
	await rendered(page);
	await filter.click();
	await expect(page.getByRole("option", { name: "Accounting" })).toHaveCount(1);
	held.resolve();
	await expect(page.getByRole("option", { name: "Accounting (deleted)" })).toHaveCount(1);
	expect(faults).toEqual([]);
});

// "Try again" only showed the same error again.
test("a page that couldn't be opened opens once the service is back, and an invitation says why it doesn't", async ({
	dashboard,
	page,
}) => {
	const { shop } = dashboard;
	const { url } = (await shop.post(shop.path("/invitations"), { role: "viewer" })).body;
	await dashboard.enter(page);
	const tryAgain = page.getByRole("button", { name: "Try again" });
	const broken = { status: 500, body: "" };
	await page.route("**/v1/session", (route) => route.fulfill(broken));
	await page.goto(dashboard.project());
	await tryAgain.click();
	await rendered(page);
	await expect(tryAgain).toBeVisible();
	await page.unroute("**/v1/session");
	await tryAgain.click();
	await expect(page.getByRole("heading", { level: 1, name: "A store" })).toBeVisible();

	// It showed placeholders for good.
	await page.route("**/v1/session", (route) => route.fulfill(broken));
	await page.goto(url);
	await expect(page.getByRole("alert")).toContainText("The service returned 500");
	await page.unroute("**/v1/session");
	await tryAgain.click();
	await expect(page.getByRole("button", { name: "Join as Olga Operator" })).toBeVisible();
});

// It kept its error until "Try again".
test("a page that was opened while the service was away opens once it's back", async ({ dashboard, page }) => {
	await dashboard.enter(page);
	await page.clock.install();
	let asked = 0;
	await page.route("**/v1/session", (route) => {
		asked++;
		return route.fulfill({ status: 503, body: "" });
	});
	await page.goto(dashboard.project());
	await expect(async () => {
		await page.clock.runFor(1_000);
		await expect(page.getByRole("heading", { name: "The service isn't available" })).toBeVisible({ timeout: 500 });
	}).toPass();
	// While /healthz responded, each check drew the page again, and its button lost the focus.
	const tryAgain = page.getByRole("button", { name: "Try again" });
	await tryAgain.focus();
	for (const before = asked; asked < before + 2; ) {
		const checked = page.waitForResponse("**/v1/session");
		await page.clock.runFor(5_000);
		await checked;
	}
	await rendered(page);
	await expect(tryAgain).toBeFocused();
	await page.unrouteAll();
	await page.clock.runFor(5_000);
	await expect(page.getByRole("heading", { level: 1, name: "A store" })).toBeVisible();
});

// Every five seconds, one more request waited for it.
test("one request at a time checks whether a service that hangs is back", async ({ dashboard, page }) => {
	await dashboard.enter(page);
	await page.clock.install();
	// The page's own request and its repetitions are refused.
	let refusals = 3;
	await page.route("**/v1/session", async (route) => {
		if (refusals-- > 0) await route.fulfill({ status: 503, body: "" });
	});
	const open = new Set<unknown>();
	let asked = 0;
	page.on("request", (request) => {
		if (!request.url().endsWith("/v1/session") || refusals > 0) return;
		asked++;
		open.add(request);
	});
	page.on("requestfailed", (request) => open.delete(request));
	await page.goto(dashboard.project());
	await expect(async () => {
		await page.clock.runFor(5_000);
		expect(asked).toBeGreaterThan(3);
	}).toPass();
	// That a request has ended is reported after the next one has begun.
	await expect.poll(() => open.size).toBe(1);
});

test("what waits for a webhook says that it can't be loaded", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const { id } = await shop.webhook("https://example.com/hooks", { description: "Accounting" });
	await dashboard.enter(page);
	await page.route("**/waiting?*", (route) => route.fulfill({ status: 500, body: "" }));
	await page.goto(dashboard.project(`/webhooks/${id}`));
	const alert = page.getByRole("alert");
	await expect(alert).toContainText("The service returned 500");
	await page.unroute("**/waiting?*");
	await alert.getByRole("button", { name: "Try again" }).click();
	await expect(page.getByText("Nothing is waiting.")).toBeVisible();
	await expect(alert).toHaveCount(0);
});

// The code had the header names of a service with the default brand, and the requests seemed to load forever.
test("the Verify tab says what it can't load, and can load it again", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const { id } = await shop.webhook("https://example.com/hooks", { description: "Accounting" });
	await dashboard.enter(page);
	await page.route(/\/openapi\.json$|\/attempts\/summaries/, (route) => route.fulfill({ status: 500, body: "" }));
	await page.goto(dashboard.project(`/webhooks/${id}?tab=verify`));
	const alert = page.getByRole("alert");
	await expect(alert).toHaveCount(2);
	await expect(page.getByText("X-Service-Signature")).toHaveCount(0);
	await page.unrouteAll();
	await alert.first().getByRole("button", { name: "Try again" }).click();
	await expect(page.getByText("x-service-signature")).toBeVisible();
	await alert.getByRole("button", { name: "Try again" }).click();
	await expect(page.getByText(/hasn't responded to any of the last requests/)).toBeVisible();
	await expect(alert).toHaveCount(0);
});

// An error replaced it.
test("a test's result stays if it can't be loaded again", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	const { id } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
	await dashboard.enter(page);
	await page.goto(dashboard.project(`/webhooks/${id}`));
	await page.getByRole("button", { name: "Send test event" }).click();
	const dialog = page.getByRole("dialog");
	await dialog.getByRole("button", { name: "Send", exact: true }).click();
	await expect(dialog).toContainText("Returned 200");
	const asked = Promise.withResolvers<void>();
	await page.route("**/deliveries/evt_*", async (route) => {
		await route.fulfill({ status: 500, body: "" });
		asked.resolve();
	});
	await shop.post(shop.path(`/webhooks/${id}/test`), { type: "purchase.completed" });
	await asked.promise;
	await rendered(page);
	await expect(dialog).toContainText("Returned 200");
	await expect(dialog.getByRole("alert")).toHaveCount(0);
});

// "Only the first 1,024 bytes of the body are stored."
test("a body that breaks off after a few bytes isn't said to be too long", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	receiver.respondWith(() => ({ headers: { "Content-Length": "50" }, body: "accepted" }));
	await shop.webhook(receiver.url("/hooks"));
	await dashboard.enter(page);
	await shop.post(shop.path("/events"), purchase(1));
	await page.goto(dashboard.project("/logs"));
	await page.getByRole("link", { name: "purchase.completed" }).click();
	const response = page.getByRole("region", { name: "Response", exact: true });
	await expect(response).toContainText("accepted");
	await expect(response).toContainText("The rest of the body was beyond the first 1,024 bytes, or didn't arrive.");
});

// They showed placeholders for good.
test("the overview's figures that can't be loaded say so", async ({ dashboard, page }) => {
	await dashboard.enter(page);
	await page.route("**/webhooks/health*", (route) => route.fulfill({ status: 500, body: "" }));
	await page.goto(dashboard.project());
	await expect(page.getByRole("alert")).toContainText("The service returned 500");
	const tile = (name: string) =>
		page
			.locator("dl > div")
			.filter({ has: page.getByText(name) })
			.getByRole("definition");
	await expect(tile("Waiting for a retry")).toHaveText("–");
	await expect(tile("To decide")).toHaveText("–");
	await expect(tile("Events")).toHaveText("0");
});

test.describe("a new service", () => {
	test.use({ ownService: true });

	// Someone who looked for the token in a terminal came back to an empty form.
	test("the setup form keeps its entries if the service can't be reached for a while", async ({ dashboard, page }) => {
		await page.clock.install();
		await page.goto(dashboard.setupLink);
		const name = page.getByLabel("Your name");
		await name.fill("Olga Operator");
		await page.route("**/v1/setup", (route) => route.fulfill({ status: 500, body: "" }));
		await page.clock.runFor(20_000);
		const failed = page.waitForResponse("**/v1/setup");
		await page.evaluate(`window.dispatchEvent(new Event("visibilitychange"))`);
		await failed;
		await page.unroute("**/v1/setup");
		await rendered(page);
		await expect(name).toHaveValue("Olga Operator");
	});
});

import type { Locator } from "@playwright/test";
import { purchase } from "../shop.ts";
import { expect, expectAccessible, expectToFit, test, watch } from "./dashboard.ts";
import { furnishOutages } from "./outages.ts";

/** A time today, or around midnight on another day, such as `25 Nov, 23:59`; in January, `31 Dec 2026, 23:59`. */
const TIME = String.raw`(\d+ \w+( \d{4})?, )?\d\d:\d\d`;
const timed = (text: TemplateStringsArray, ...times: string[]): RegExp => new RegExp(String.raw(text, ...times));

test.describe("with a past", () => {
	test.use({ ownService: true });

	test("health is judged over a window, and an outage is one incident", async ({ dashboard, page, context }) => {
		const faults = watch(context);
		await dashboard.setUp();
		const { accounting, shipping, chat } = await furnishOutages(dashboard);
		await dashboard.signIn(page);

		await page.goto(dashboard.project());
		await expect(
			page.getByText(timed`^1 of 3 webhooks is failing: Shipping has returned 500 since ${TIME}\.`),
		).toBeVisible();
		await expect(page.getByRole("heading", { name: "Failing and unstable webhooks" })).toBeVisible();
		await expect(page.getByText("Failing", { exact: true })).toBeVisible();
		await expect(page.getByText("Unstable", { exact: true })).toBeVisible();
		const incidents = page.getByRole("list", { name: "Incidents" });
		// While it lasts, an outage is shown once: in its webhook's row.
		await expect(page.getByRole("listitem").filter({ hasText: "Shipping" }).first()).toContainText(
			timed`^ShippingFailingReturning 500 since ${TIME}\. \d+ deliveries held up, all waiting\. The next retry is (in \d+ (s|min|h)|being sent)\.`,
		);
		await expect(incidents.getByRole("listitem")).toHaveCount(1);
		await expectAccessible(page);

		await page.goto(dashboard.project("/webhooks"));
		await expect(page.getByText("3 webhooks, 1 is failing, 1 is unstable.")).toBeVisible();
		for (const state of ["Failing", "Unstable", "Healthy"])
			await expect(page.getByRole("table").getByText(state, { exact: true })).toHaveCount(1);
		await expectAccessible(page);

		await page.goto(dashboard.project(`/webhooks/${accounting.id}`));
		await expect(page.getByText("Healthy", { exact: true })).toBeVisible();
		await expect(incidents.getByRole("listitem")).toHaveCount(1);
		await expect(incidents).toContainText(timed`${TIME}–${TIME}`);
		await expect(incidents).toContainText(timed`Returned 500\. \d+ deliveries held up, all delivered by ${TIME}\.`);
		await expect(incidents).toContainText("Nothing to do");
		await incidents.getByRole("link").click();
		await expect(page).toHaveURL(/since=.*until=|until=.*since=/);
		await expect(page.getByRole("table", { name: "Attempts" }).getByText(/500/).first()).toBeVisible();

		await page.goto(dashboard.project(`/webhooks/${chat.id}`));
		await expect(page.getByText("Unstable", { exact: true })).toBeVisible();
		await expect(page.getByText(/^\d of \d+ attempts have failed in the last 15 minutes/)).toBeVisible();
		await expectAccessible(page);

		// Ongoing: there is nothing to close yet.
		await page.goto(dashboard.project(`/webhooks/${shipping.id}`));
		await expect(page.getByText(/^Returning 500 since/)).toBeVisible();
		await expect(incidents).toContainText(/Returning 500\. \d+ deliveries held up, all waiting/);
		await expect(incidents.getByRole("button")).toHaveCount(0);
		await expectAccessible(page);
		await page.setViewportSize({ width: 390, height: 844 });
		await expectAccessible(page);

		const { shop } = dashboard;
		await shop.patch(shop.path(`/webhooks/${shipping.id}`), { status: "paused" });
		await expect(incidents).toContainText(timed`From ${TIME}Returned 500 until it was paused\.`);
		expect(faults).toEqual([]);
	});
});

test.describe("with an outage of many webhooks", () => {
	test.use({ ownService: true });

	test("the overview also shows earlier incidents", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		await dashboard.setUp();
		const { accounting } = await furnishOutages(dashboard, 5);
		await dashboard.signIn(page);
		await page.goto(dashboard.project());
		const more = page.getByRole("button", { name: "Show 4 more" });
		await expect(more).toBeVisible();
		// On small phones it's below the title, and began further right.
		await page.setViewportSize({ width: 320, height: 844 });
		const left = (part: Locator) =>
			part.evaluate((element) => {
				const range = element.ownerDocument.createRange();
				range.selectNodeContents(element);
				return Math.round(range.getBoundingClientRect().left);
			});
		const title = page.getByRole("heading", { name: "Failing and unstable webhooks" });
		await expect.poll(() => left(more.getByText("Show 4 more"))).toBe(await left(title));
		await page.setViewportSize({ width: 1280, height: 900 });
		// The overview asked for five incidents, all of them of webhooks that it lists as failing.
		const incidents = page.getByRole("list", { name: "Incidents" }).getByRole("listitem");
		await expect(incidents).toHaveCount(1);
		await expect(incidents).toContainText("Accounting");
		// A name without spaces widened the page.
		const name = "W".repeat(200);
		await shop.patch(shop.path(`/webhooks/${accounting.id}`), { description: name });
		await expect(incidents).toContainText(name);
		await expectToFit(page.locator("html"));
		// A button took the place of a single row.
		const fix = page.getByRole("link", { name: /^(How to fix it|See what happened): / });
		await expect(fix).toHaveCount(3);
		const others = (await shop.get(shop.path("/webhooks"))).body.data.filter((webhook: { description: string }) =>
			/^Other[123]$/.test(webhook.description),
		);
		for (const other of others) await shop.patch(shop.path(`/webhooks/${other.id}`), { status: "paused" });
		await expect(fix).toHaveCount(4);
		await expect(page.getByRole("button", { name: /^Show \d more$/ })).toHaveCount(0);
	});
});

test("facts are in columns: those of an attempt on phones, and those of pending retries on wide screens", async ({
	dashboard,
	page,
}) => {
	const { shop } = dashboard;
	await dashboard.failing("Accounting", 2);
	const receiver = await shop.receiver();
	receiver.respondWith(() => ({ status: 500 }));
	await shop.webhook(receiver.url("/hooks"), { description: "Warehouse of the northern region" });
	await shop.post(shop.path("/events"), purchase(3));
	await receiver.count(1);
	await dashboard.enter(page);
	await page.goto(dashboard.project());
	const rows = page.getByRole("listitem").filter({ hasText: "attempt 2 of" });
	await expect(rows).toHaveCount(4);
	// Behind names of different lengths.
	const lefts = await rows
		.getByRole("button", { name: "Copy id" })
		.evaluateAll((buttons) => buttons.map((button) => Math.round(button.getBoundingClientRect().left)));
	expect(new Set(lefts).size, lefts.join(", ")).toBe(1);
	await expectAccessible(page);

	const [attempt] = (await shop.get(shop.path("/attempts/summaries"))).body.data;
	await page.setViewportSize({ width: 390, height: 844 });
	await page.goto(dashboard.project(`/logs/${attempt.id}`));
	const top = async (name: string) =>
		Math.round((await page.getByRole("term").getByText(name, { exact: true }).boundingBox())!.y);
	expect(await top("Response")).toBe(await top("Outcome"));
	expect(await top("Attempt id")).toBe(await top("Duration"));
	await expectAccessible(page);
});

test.describe("with retries that come fast", () => {
	test.use({ settings: { POSTHORN_RETRY_DELAYS: "0.2,0.2" } });

	test("a webhook that has recovered says since when it delivers, and when it will be healthy", async ({
		dashboard,
		page,
	}) => {
		const { shop } = dashboard;
		const receiver = await shop.receiver();
		receiver.respondWith(() => ({ status: 500 }));
		const { id } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
		await dashboard.enter(page);
		await shop.post(shop.path("/events"), purchase(1));
		await receiver.count(3);
		receiver.respondWith(() => ({ status: 200 }));
		await shop.post(shop.path("/events"), purchase(2));
		await receiver.count(4);

		await page.goto(dashboard.project());
		const row = page.getByRole("listitem").filter({ hasText: "Accounting" }).first();
		await expect(row).toContainText(
			timed`Unstable3 of 4 attempts have failed in the last 15 minutes\. It has been delivering since ${TIME}\.`,
		);
		await expect(row.getByRole("link")).toHaveText("See what happened");
		await expectAccessible(page);

		await page.goto(dashboard.project(`/webhooks/${id}`));
		const banner = page.getByRole("region", { name: "What happened" });
		await expect(banner).toContainText(
			timed`It has been delivering since ${TIME}\. Unless attempts fail again, it will be healthy within 15 minutes\.`,
		);
		await expect(banner.getByRole("button", { name: "Replay 1 failed delivery" })).toBeVisible();
		await expectAccessible(page);
	});

	test("the banner of a webhook that is still failing after its first success says when it will be healthy", async ({
		dashboard,
		page,
	}) => {
		const { shop } = dashboard;
		const receiver = await shop.receiver();
		receiver.respondWith(() => ({ status: 500 }));
		const { id } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
		await dashboard.enter(page);
		for (let n = 1; n <= 7; n++) await shop.post(shop.path("/events"), purchase(n));
		await receiver.count(21);
		receiver.respondWith(() => ({ status: 200 }));
		await shop.post(shop.path("/events"), purchase(8));
		await receiver.count(22);

		await page.goto(dashboard.project(`/webhooks/${id}`));
		const banner = page.getByRole("region", { name: "What happened" });
		await expect(banner).toContainText("21 of 22 attempts have failed in the last 15 minutes");
		await expect(banner).toContainText(
			timed`It has been delivering since ${TIME}\. Unless attempts fail again, it will be healthy within 15 minutes\.`,
		);
		await expect(banner).not.toContainText("nothing to fix");
		await expectAccessible(page);
		await page.goto(dashboard.project());
		await expect(page.getByRole("listitem").filter({ hasText: "Accounting" }).first()).toContainText(
			timed`Failing21 of 22 attempts have failed in the last 15 minutes\. It has been delivering since ${TIME}\.`,
		);
	});

	test("the drawer shows headers that explain a response, as text, and advice that follows from it", async ({
		dashboard,
		page,
		context,
	}) => {
		const faults = watch(context);
		const { shop } = dashboard;
		const receiver = await shop.receiver();
		receiver.respondWith(() => ({
			status: 302,
			headers: { location: "/login?next=%2Fhooks", server: "<b>nginx</b>", "set-cookie": "session=hidden" },
			body: "moved",
		}));
		await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
		await dashboard.enter(page);
		await shop.post(shop.path("/events"), purchase(1));
		await receiver.count(3);
		await page.goto(dashboard.project("/logs"));
		await page.getByRole("table", { name: "Deliveries" }).getByRole("link", { name: "purchase.completed" }).click();
		const drawer = page.getByRole("dialog");
		const headers = drawer.getByRole("table", { name: "Response headers" });
		await expect(headers.getByRole("row", { name: "location /login?next=%2Fhooks" })).toBeVisible();
		await expect(headers.getByRole("row", { name: "server <b>nginx</b>" })).toBeVisible();
		await expect(drawer).not.toContainText("hidden");
		await expect(drawer).toContainText("redirects to a login page (/login)");
		await expectAccessible(page);
		await page.setViewportSize({ width: 390, height: 844 });
		await expectAccessible(page);
		expect(faults).toEqual([]);
	});

	test("the drawer shows a rejected certificate", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		const receiver = await shop.receiver({ hosts: ["elsewhere.example"] });
		await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
		await dashboard.enter(page);
		await shop.post(shop.path("/events"), purchase(1));
		await page.goto(dashboard.project("/logs"));
		const deliveries = page.getByRole("table", { name: "Deliveries" });
		await expect(deliveries.getByText("Failed")).toHaveCount(1);
		await deliveries.getByRole("link", { name: "purchase.completed" }).click();
		const drawer = page.getByRole("dialog");
		await expect(drawer.getByRole("table", { name: "Certificate" })).toContainText("elsewhere.example");
		await expect(drawer).toContainText("but for elsewhere.example");
		await expectAccessible(page);
	});
});

// A webhook's page and row counted them until the next event was published, however long ago they were sent.
test("events that waited for a slow receiver are gone once they are sent", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	const { promise, resolve } = Promise.withResolvers<void>();
	receiver.respondWith(async () => {
		await promise;
		return { status: 200 };
	});
	const { id } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
	await dashboard.enter(page);
	const list = await page.context().newPage();
	await list.goto(dashboard.project("/webhooks"));
	await page.goto(dashboard.project(`/webhooks/${id}`));
	await expect(page.getByText("Nothing is waiting.")).toBeVisible();
	for (let n = 1; n <= 2; n++) await shop.post(shop.path("/events"), purchase(n));
	// By then, the hints of their publishing have come.
	await expect(page.getByText(/^2 events wait for their first attempt, the oldest for [4-9] s\.$/)).toBeVisible();
	const row = list.getByRole("row", { name: /Accounting/ });
	await expect(row).toContainText("2, for ");
	resolve();
	await receiver.count(2);
	await expect(page.getByText("Nothing is waiting.")).toBeVisible();
	await expect(row).toContainText("None");
});

// The overview said so up to a minute later.
test("a webhook is behind once its oldest event has waited for a minute, on every page", async ({
	dashboard,
	page,
}) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	const { id } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
	await shop.post(shop.path("/events"), purchase(1));
	await receiver.count(1);
	await expect.poll(async () => (await shop.get(shop.path("/attempts/count"))).body.count).toBe(1);
	await dashboard.enter(page);
	await page.clock.install();
	const backlog = { events: 3, oldest_at: "" };
	const withBacklog = (one: object) => ({ ...one, backlog });
	// How far the page's clock is ahead: with another time in its responses, the dashboard would correct it.
	let ahead = 0;
	await page.route(/\/v1\/(?!.*\/changes)/, async (route) => {
		const response = await route.fetch();
		const date = new Date(Date.parse(response.headers().date!) + ahead).toUTCString();
		const headers = { ...response.headers(), date };
		const isOfWebhooks = /\/webhooks(\/health)?\?|\/webhooks\/wh_\w+$/.test(route.request().url());
		if (!isOfWebhooks) return route.fulfill({ response, headers });
		const json = await response.json();
		const changed = json.data ? { ...json, data: json.data.map(withBacklog) } : withBacklog(json);
		await route.fulfill({ response, headers, json: changed });
	});
	for (const [path, before, behind] of [
		["", "Your webhook is healthy.", "Accounting is behind: 3 events wait for their first attempt"],
		[`/webhooks/${id}`, "Healthy. 1 delivery accepted", "Accepting events, but behind: 3 events wait"],
		["/logs", "Every delivery, newest first.", "3 events for Accounting wait for their first attempt"],
	] as const) {
		ahead = (await page.evaluate(() => Date.now())) - Date.now();
		backlog.oldest_at = new Date(Date.now() + ahead - 30_000).toISOString();
		// The log asks for the health once events may wait too long: on a slow machine, before the clock is moved.
		const asked = path === "/logs" ? page.waitForResponse(/\/webhooks\/health/) : null;
		await page.goto(dashboard.project(path));
		await expect(page.getByText(before)).toBeVisible();
		await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
		await expect(page.getByText(behind)).toHaveCount(0);
		ahead += 35_000;
		await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 35_000);
		if (asked !== null) {
			await asked;
			await page.clock.resume();
		}
		await expect(page.getByText(behind)).toBeVisible();
		await page.clock.resume();
	}
});

test.describe("with retries an hour apart", () => {
	test.use({ settings: { POSTHORN_RETRY_DELAYS: "3600" } });

	test("the time until a retry is in seconds as soon as the last minute begins", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		await dashboard.failing("Accounting", 1);
		const [delivery] = (await shop.get(shop.path("/deliveries"))).body.data;
		await dashboard.enter(page);
		await page.clock.install();
		// Responses have the service's time, by which the page would correct its own. So none arrives once that is moved.
		let isMoved = false;
		let pending = 0;
		await page.route(/\/v1\/(?!.*\/changes)/, async (route) => {
			if (isMoved) return;
			pending++;
			await route.fulfill({ response: await route.fetch() });
			pending--;
		});
		await page.goto(dashboard.project());
		const next = page.getByText(/^1 delivery waits; the next attempt is /);
		await expect(next).toHaveText(/ in (1 h|\d\d min)$/);
		await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
		isMoved = true;
		await expect.poll(() => pending).toBe(0);
		await page.clock.pauseAt(Date.parse(delivery.next_retry_at) - 70_000);
		await expect(next).toHaveText(/ in 1 min$/);
		await page.clock.runFor(14_000);
		// It went on to say so for up to 15 s, while rows that were shown later counted down.
		await expect(next).toHaveText(/ in 5\d s$/);
	});
});

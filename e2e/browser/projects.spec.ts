import type { Page } from "@playwright/test";
import { purchase, type Shop } from "../shop.ts";
import { type Dashboard, expect, expectAccessible, expectToFit, test, watch, watchShifts } from "./dashboard.ts";

// The list has the projects of all tests on a service.
test.use({ ownService: true, settings: { POSTHORN_RETRY_DELAYS: "0" } });

const HEALTH = "**/v1/projects/health?*";

const table = (page: Page) => page.getByRole("table", { name: "Projects" });
const row = (page: Page, name: string) => table(page).getByRole("row").filter({ hasText: name });
const cell = (page: Page, name: string) => row(page, name).locator("td[data-label='Webhooks']");

async function rename(shop: Shop, name: string): Promise<void> {
	expect((await shop.patch(shop.path(""), { name })).status).toBe(200);
}

/** Publishes events, and waits until the project's health is as expected. */
async function publish(shop: Shop, count: number, health: Record<string, unknown>): Promise<void> {
	for (let n = 1; n <= count; n++) await shop.post(shop.path("/events"), purchase(n));
	const read = async () => (await shop.get(`/v1/projects/health?project_id=${shop.projectId}`)).body.data[0];
	await expect.poll(read).toMatchObject(health);
}

/** A store with a failing webhook and three failed deliveries, among others. */
async function fail({ shop }: Dashboard): Promise<void> {
	await rename(shop, "Garden shop");
	const [good, bad] = [await shop.receiver(), await shop.receiver()];
	bad.respondWith(() => ({ status: 500 }));
	await shop.webhook(good.url("/hooks"), { description: "Shipping" });
	await shop.webhook(bad.url("/hooks"), { description: "Accounting" });
	await publish(shop, 3, { webhooks: { failing: 1, healthy: 1 }, dead_letters: 3 });
}

// Someone in several stores had to open each of them to see which had a failing webhook.
test("the list of projects shows which store has a problem, and links to where it is fixed", async ({
	dashboard,
	page,
	context,
}) => {
	const faults = watch(context);
	const { shop } = dashboard;
	await fail(dashboard);
	await using healthy = await shop.another();
	await rename(healthy, "Book shop");
	await healthy.webhook((await healthy.receiver()).url("/hooks"));
	await publish(healthy, 1, { webhooks: { healthy: 1 } });
	await using empty = await shop.another();
	await rename(empty, "New shop");
	await shop.post("/v1/projects", { name: "Plain shop", apps: [] });
	await using unused = await shop.another();
	await rename(unused, "Quiet shop");
	await unused.webhook("https://example.com/hooks");

	await dashboard.enter(page);
	await page.goto(`${dashboard.url}/projects`);
	await expect(cell(page, "Garden shop")).toHaveText("1 failing3 to decide");
	await expect(cell(page, "Book shop")).toHaveText("Healthy");
	await expect(cell(page, "New shop")).toHaveText("No webhooks");
	await expect(cell(page, "Plain shop")).toHaveText("");
	await expect(cell(page, "Quiet shop")).toHaveText("No deliveries");
	await expectAccessible(page);
	const failing = page.getByRole("link", { name: "Webhooks: 1 failing, 1 healthy; Garden shop" });
	await failing.hover();
	await expect(page.getByRole("tooltip", { name: "1 failing, 1 healthy" })).toBeVisible();
	await page.mouse.move(0, 0);
	for (const [width, scheme] of [
		[1280, "dark"],
		[1280, "light"],
		[1200, "light"],
		[992, "light"],
		[800, "light"],
		[390, "dark"],
		[390, "light"],
	] as const) {
		await page.setViewportSize({ width, height: 900 });
		await page.emulateMedia({ colorScheme: scheme });
		await expectAccessible(page);
		await expectToFit(page.locator("html"), `${width} px`);
		for (const name of ["Garden shop", "Book shop", "New shop"])
			await expectToFit(cell(page, name), `${name} at ${width} px`);
		// With more columns than there is room for, names were broken into single letters.
		const name = await row(page, "Garden shop").getByRole("link", { name: "Garden shop", exact: true }).boundingBox();
		expect(name!.height, `the name at ${width} px`).toBeLessThan(30);
	}

	await failing.click();
	await expect(page).toHaveURL(dashboard.project("/webhooks?state=failing"));
	await expect(page.getByRole("link", { name: "Accounting" })).toBeVisible();
	await expect(page.getByRole("link", { name: "Shipping" })).toHaveCount(0);
	await page.goBack();
	await page.setViewportSize({ width: 1280, height: 900 });
	await page.getByRole("link", { name: "Failed deliveries: 3 to decide; Garden shop" }).click();
	await expect(page).toHaveURL(dashboard.project("/logs?state=failed&unhandled=true"));
	await expect(page.getByRole("table", { name: "Deliveries" }).locator("tbody tr")).toHaveCount(3);
	expect(faults).toEqual([]);
});

test("the list of projects doesn't wait for the health, nor move when it arrives, and never guesses it", async ({
	dashboard,
	page,
}) => {
	await fail(dashboard);
	await dashboard.enter(page);
	await page.clock.install();
	const height = () => row(page, "Garden shop").evaluate((element) => element.getBoundingClientRect().height);
	const expectStill = await watchShifts(page);
	let before = 0;
	for (const width of [390, 1280]) {
		const { promise: held, resolve: release } = Promise.withResolvers<void>();
		await page.route(HEALTH, async (route) => {
			await held;
			await route.continue();
		});
		await page.setViewportSize({ width, height: 900 });
		await page.goto(`${dashboard.url}/projects`);
		await expect(row(page, "Garden shop")).toBeVisible();
		await expect(cell(page, "Garden shop")).toHaveText("");
		await expectAccessible(page);
		before = await height();
		release();
		await expect(cell(page, "Garden shop")).toHaveText("1 failing3 to decide");
		expect(await height(), `at ${width} px`).toBe(before);
		await expectStill();
		await page.unroute(HEALTH);
	}

	await page.route(HEALTH, (route) => route.fulfill({ status: 500, json: {} }));
	await page.clock.runFor(61_000);
	await expect(cell(page, "Garden shop")).toHaveText(/^–Not known\./);
	await expectAccessible(page);
	await cell(page, "Garden shop").getByText("–").hover();
	await page.clock.runFor(1_000);
	await expect(page.getByRole("tooltip")).toContainText("The service returned 500");
	expect(await height()).toBe(before);
	await page.unroute(HEALTH);
	// A damaged project is left out: its cell stayed empty, as if it were still loading.
	await page.route(HEALTH, (route) => route.fulfill({ json: { data: [], next_project_id: null } }));
	await page.clock.runFor(61_000);
	await expect(cell(page, "Garden shop")).toHaveText(/^–Not known\. Its webhooks' health can't be read/);
	await page.unroute(HEALTH);
	await page.clock.runFor(61_000);
	await expect(cell(page, "Garden shop")).toContainText("1 failing");
});

// The counts took two lines once a store had a hundred failed deliveries.
test("large counts don't move the list on a wide window either", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	await rename(shop, "Garden shop");
	await dashboard.enter(page);
	const webhooks = { failing: 123, unstable: 0, healthy: 1, idle: 0, paused: 0 };
	const json = { data: [{ project_id: shop.projectId, webhooks, dead_letters: 9_999 }] };
	const height = () => row(page, "Garden shop").evaluate((element) => element.getBoundingClientRect().height);
	for (const width of [1200, 1280]) {
		const { promise: held, resolve: release } = Promise.withResolvers<void>();
		await page.route(HEALTH, async (route) => {
			await held;
			await route.fulfill({ json });
		});
		await page.setViewportSize({ width, height: 900 });
		await page.goto(`${dashboard.url}/projects`);
		await expect(row(page, "Garden shop")).toBeVisible();
		const before = await height();
		release();
		await expect(cell(page, "Garden shop")).toHaveText("123 failing9,999 to decide");
		expect(await height(), `at ${width} px`).toBe(before);
		await expectToFit(page.locator("html"), `${width} px`);
		const name = await row(page, "Garden shop").getByRole("link", { name: "Garden shop", exact: true }).boundingBox();
		expect(name!.height, `the name at ${width} px`).toBeLessThan(30);
		await page.unroute(HEALTH);
	}
});

test("health that the service counts in several calls is shown completely", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	for (const name of ["Second shop", "Third shop"]) await shop.post("/v1/projects", { name });
	await dashboard.enter(page);
	await page.route(HEALTH, async (route) => {
		const [, next = null] = new URL(route.request().url()).searchParams.getAll("project_id");
		const response = await route.fetch();
		const { data } = await response.json();
		await route.fulfill({ response, json: { data: data.slice(0, 1), next_project_id: next } });
	});
	await page.goto(`${dashboard.url}/projects`);
	for (const name of ["A store", "Second shop", "Third shop"]) await expect(cell(page, name)).toHaveText("No webhooks");
});

test("a long list reads the health of the projects in sight, twenty at a time", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const ids = [shop.projectId];
	for (let n = 1; n < 70; n++) ids.push((await shop.post("/v1/projects", { name: `Shop ${n}` })).body.id);
	await dashboard.enter(page);
	const asked: string[][] = [];
	page.on("request", (request) => {
		const { pathname, searchParams } = new URL(request.url());
		if (pathname === "/v1/projects/health") asked.push(searchParams.getAll("project_id"));
	});
	await page.clock.install();
	await page.setViewportSize({ width: 1280, height: 600 });
	await page.goto(`${dashboard.url}/projects`);
	await expect(cell(page, "A store")).toHaveText("No webhooks");
	expect(asked).toEqual([ids.slice(0, 20)]);
	await row(page, "Shop 69").scrollIntoViewIfNeeded();
	await expect(cell(page, "Shop 69")).toHaveText("No webhooks");
	expect(asked).toContainEqual(ids.slice(60));
	// Those that were scrolled past are read only while they are in sight.
	asked.length = 0;
	await page.clock.runFor(61_000);
	await expect.poll(() => asked).toContainEqual(ids.slice(60));
	expect(asked).not.toContainEqual(ids.slice(0, 20));

	// Known ones stay while others are read together.
	await page.evaluate("scrollTo(0, 0)");
	const { promise: held, resolve: release } = Promise.withResolvers<void>();
	await page.route(HEALTH, async (route) => {
		await held;
		await route.continue();
	});
	await page.getByRole("textbox", { name: "Find a project" }).fill("Shop 6");
	await expect(table(page).getByRole("row")).toHaveCount(1 + 11);
	await expect(cell(page, "Shop 69")).toHaveText("No webhooks");
	release();
	await page.unrouteAll({ behavior: "wait" });

	// Someone with many stores had to scroll past all that are fine.
	const webhooks = { failing: 0, unstable: 0, healthy: 1, idle: 0, paused: 0 };
	const troubled = new Map<string, object>([
		[ids[7]!, { webhooks, dead_letters: 2 }],
		[ids[42]!, { webhooks: { ...webhooks, failing: 1 } }],
		[ids[60]!, { webhooks: { ...webhooks, unstable: 1 } }],
	]);
	await page.route(HEALTH, async (route) => {
		const response = await route.fetch();
		const { data, ...rest } = await response.json();
		const changed = (one: { project_id: string }) => ({ ...one, ...troubled.get(one.project_id) });
		await route.fulfill({ response, json: { data: data.map(changed), ...rest } });
	});
	await page.goto(`${dashboard.url}/projects`);
	const only = page.getByRole("checkbox", { name: "Only what needs attention" });
	await only.check();
	await expect(page.getByText("3 of 70 projects match.")).toBeVisible();
	await expect(table(page).locator("tbody tr")).toHaveText([
		/^Shop 7.*2 to decide/,
		/^Shop 42.*1 failing/,
		/^Shop 60.*1 unstable/,
	]);
	await page.reload();
	await expect(only).toBeChecked();
	await expect(page.getByText("3 of 70 projects match.")).toBeVisible();
	await expectAccessible(page);

	// All were read, so typing reads nothing.
	asked.length = 0;
	const find = page.getByRole("textbox", { name: "Find a project" });
	await find.fill("Shop 4");
	await expect(page.getByText("1 of 70 projects matches.")).toBeVisible();
	await find.fill("");
	await expect(page.getByText("3 of 70 projects match.")).toBeVisible();
	expect(asked).toEqual([]);

	// While the service restarted, all 70 were shown.
	await page.unrouteAll({ behavior: "wait" });
	await page.route(HEALTH, (route) => route.fulfill({ status: 500, json: {} }));
	await page.clock.runFor(61_000);
	await expect(cell(page, "Shop 42")).toHaveText(/^–Not known\./);
	await expect(page.getByText("3 of 70 projects match.")).toBeVisible();
	// What was never read may need attention.
	await page.reload();
	await expect(page.getByText("70 of 70 projects match.")).toBeVisible();
	await page.unrouteAll({ behavior: "wait" });
	await page.reload();
	await expect(page.getByRole("heading", { name: "No project needs attention" })).toBeVisible();
	await page.getByRole("button", { name: "Show all projects" }).click();
	await expect(only).not.toBeChecked();
	await expect(row(page, "Shop 69")).toBeVisible();
});

// An operator with 2,000 stores made 100 requests at once, and again at each return to the page. Saving a new name then
// waited for all of them. Behind a proxy with HTTP/2, the service refused some.
test("the filter reads thousands of projects two requests at a time, and refreshes them less often", async ({
	dashboard,
	page,
}) => {
	const data = Array.from({ length: 2_400 }, (_, n) => ({
		id: `proj_01kbjh6mrxe3q8z1v2t4w${String(n).padStart(5, "0")}`,
		name: `Shop ${n}`,
		apps: ["developer"],
		created_at: "2026-11-30T10:00:00.000Z",
	}));
	await dashboard.enter(page);
	let [listed, asked, inFlight, most] = [0, 0, 0, 0];
	await page.route("**/v1/projects?*", (route) => {
		const from = Number(new URL(route.request().url()).searchParams.get("cursor") ?? 0);
		listed = from + 100;
		const next_cursor = listed < data.length ? String(listed) : null;
		return route.fulfill({ json: { data: data.slice(from, listed), next_cursor } });
	});
	const { promise: held, resolve: release } = Promise.withResolvers<void>();
	await page.route(HEALTH, async (route) => {
		asked++;
		most = Math.max(most, ++inFlight);
		await held;
		const projects = new URL(route.request().url()).searchParams.getAll("project_id");
		const of = (id: string) => ({
			project_id: id,
			webhooks: { failing: Number(id === data[2_399]!.id), unstable: 0, healthy: 1, idle: 0, paused: 0 },
			dead_letters: 0,
		});
		inFlight--;
		await route.fulfill({ json: { data: projects.map(of), next_project_id: null } });
	});
	await page.clock.install();
	await page.goto(`${dashboard.url}/projects?attention=true`);
	await expect(page.getByText("Searching …")).toBeVisible();
	await expect.poll(() => [listed, inFlight]).toEqual([2_400, 2]);
	release();
	await expect(page.getByText("1 of 2,400 projects matches.")).toBeVisible();
	expect([asked, most]).toEqual([120, 2]);

	// Only the project in sight.
	await page.clock.runFor(61_000);
	await expect.poll(() => asked).toBe(121);
	await page.clock.runFor(12_000);
	await expect.poll(() => asked).toBeGreaterThanOrEqual(240);
	expect(most).toBe(2);
});

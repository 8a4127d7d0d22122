import type { Locator, Page, Request } from "@playwright/test";
import { EVENT_TYPES } from "@posthorn/protocol";
import { choose, type Dashboard, expect, expectAccessible, expectToFit, PASSWORD, test } from "./dashboard.ts";

test.use({ settings: { POSTHORN_RETRY_DELAYS: "3600" } });

const WORDS = [...new Set(EVENT_TYPES.flatMap(({ type }) => type.split(/(?<=\.)/)))]
	.map((word) => word.replace(".", "\\."))
	.join("|");

const order = (order_id: string) => ({
	type: "purchase.completed",
	data: { order_id, customer_email: `${order_id}@example.com`, amount_cents: 999, currency: "EUR", items: [] },
});

/** Returns a wait for all calls of a page, and those that their responses lead to, to end and to be shown. */
function calls(page: Page) {
	const open = new Set<Request>();
	page.on("request", (request) => /\/v1\/(?!.*\/changes)/.test(request.url()) && open.add(request));
	for (const end of ["requestfinished", "requestfailed"] as const)
		page.on(end as "requestfinished", (request) => open.delete(request));
	return async () => {
		for (let round = 0; round < 3; round++) {
			await expect.poll(() => open.size).toBe(0);
			await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))");
		}
	};
}

/** A failing webhook, and a path for its page. */
async function failing({ shop }: Dashboard, description: string, orders: readonly string[]): Promise<string> {
	const receiver = await shop.receiver();
	receiver.respondWith(() => ({ status: 500, body: "x".repeat(2_000) }));
	const { id } = await shop.webhook(receiver.url(`/${"p".repeat(300)}`), { description });
	for (const one of orders) await shop.post(shop.path("/events"), order(one));
	await receiver.count(orders.length);
	await expect
		.poll(async () => (await shop.get(shop.path("/attempts/count"))).body.count)
		.toBeGreaterThanOrEqual(orders.length);
	return `/webhooks/${id}`;
}

async function expectNoSidewaysScroll(page: Page): Promise<void> {
	await page.getByRole("heading", { level: 1 }).first().waitFor();
	await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
	await expectToFit(page.locator("html"), page.url());
}

test("names, URLs, order ids and responses without spaces widen no page", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	await shop.patch(`/v1/projects/${shop.projectId}`, { name: `${"Süßwarenfabrik".repeat(8)} 🎮 متجر` });
	const webhook = await failing(dashboard, "W".repeat(200), ["9".repeat(190), "🧾-42", "طلب-٤٥٦"]);
	await dashboard.enter(page);
	const { body } = await shop.get(shop.path("/attempts/summaries"));
	const paths = ["", "/webhooks", webhook, `${webhook}?tab=settings`, "/logs", "/logs?view=attempts", "/audit"];
	for (const width of [320, 640, 1280]) {
		await page.setViewportSize({ width, height: 800 });
		for (const path of [...paths, `/logs/${body.data[0].id}`]) {
			await page.goto(dashboard.project(path));
			await expectNoSidewaysScroll(page);
		}
	}
});

// Its border crossed the text, and its cross had no width.
test("a filter by a long order id fits its chip", async ({ dashboard, page }) => {
	await dashboard.enter(page);
	await page.setViewportSize({ width: 320, height: 800 });
	await page.goto(dashboard.project(`/logs?order_id=${"9".repeat(300)}`));
	const chip = page.getByRole("button", { name: /^Remove the filter Order 9/ });
	await expect(chip).toBeVisible();
	expect((await chip.locator("svg").boundingBox())!.width).toBe(13);
	const radius = await chip.evaluate((button) => {
		return Number.parseFloat(button.ownerDocument.defaultView!.getComputedStyle(button).borderRadius);
	});
	expect(radius).toBeLessThan(20);
});

/** Words of event types' names that begin on one line and end on the next. */
const brokenWords = (page: Page): Promise<string[]> =>
	page.locator("body").evaluate((body, words) => {
		const broken: string[] = [];
		// 4 is NodeFilter.SHOW_TEXT.
		const texts = body.ownerDocument.createTreeWalker(body, 4);
		for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
			for (const { 0: word, index } of text.nodeValue!.matchAll(new RegExp(words, "g"))) {
				const range = body.ownerDocument.createRange();
				range.setStart(text, index);
				range.setEnd(text, index + word.length);
				const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
				if (lines.size > 1) broken.push(`${word} in ${text.nodeValue}`);
			}
		return broken;
	}, WORDS);

// "subscription.cance", and on the next line "led".
test("in narrow columns, names of event types break after their dot", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	receiver.respondWith(() => ({ status: 500, body: "no" }));
	const { id } = await shop.webhook(receiver.url("/hooks"), {
		description: "ERP",
		events: EVENT_TYPES.map(({ type }) => type),
	});
	for (const { type, sample } of EVENT_TYPES) await shop.post(shop.path("/events"), { type, data: sample });
	await receiver.count(EVENT_TYPES.length);
	const count = async () => (await shop.get(shop.path("/attempts/count"))).body.count;
	await expect.poll(count).toBeGreaterThanOrEqual(EVENT_TYPES.length);
	const { body } = await shop.get(shop.path("/attempts/summaries?type=subscription.canceled"));
	await dashboard.enter(page);
	const paths = [`/webhooks/${id}`, `/webhooks/${id}?tab=settings`, "/logs?text=ord", `/logs/${body.data[0].id}`];
	for (const width of [320, 360])
		for (const path of paths) {
			await page.setViewportSize({ width, height: 800 });
			await page.goto(dashboard.project(path));
			await expectNoSidewaysScroll(page);
			expect(await brokenWords(page), `${path} at ${width} px`).toEqual([]);
		}
});

// Titles and sentences were cut off at the edge of the dialog.
test("a dialog shows all of a name without spaces", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const name = "Buchhaltungssynchronisierung".repeat(3);
	await shop.post(shop.path("/api-keys"), { name });
	await dashboard.enter(page);
	const dialog = page.getByRole("dialog");
	for (const width of [320, 1280]) {
		await page.setViewportSize({ width, height: 800 });
		await page.goto(dashboard.project("/api-keys"));
		await page.getByRole("button", { name: "Revoke" }).click();
		await expect(dialog.getByRole("heading")).toContainText(name);
		await expectToFit(dialog);
	}
});

// The buttons at the ends of the rows were out of sight, and a person's name overflowed the card of an invitation.
test("a name without spaces leaves room for the buttons next to it", async ({ dashboard, page, browser }) => {
	const { shop } = dashboard;
	const name = "Buchhaltungssynchronisierung".repeat(3);
	await shop.post(shop.path("/api-keys"), { name });
	await shop.patch(`/v1/projects/${shop.projectId}`, { name });
	await dashboard.enter(page);
	for (const [path, button] of [
		["/projects", `Rename ${name}`],
		[`/p/${shop.projectId}/api-keys`, `Revoke ${name}`],
	] as const) {
		await page.goto(dashboard.url + path);
		await expect(page.getByRole("button", { name: button })).toBeInViewport({ ratio: 1 });
	}

	const invite = async () => (await shop.post(shop.path("/invitations"), { role: "owner" })).body.url;
	const theirs = await (await browser.newContext({ viewport: { width: 320, height: 800 } })).newPage();
	await theirs.goto(await invite());
	await theirs.getByLabel("Your name").fill(name);
	await theirs.getByLabel("E-mail").fill(dashboard.address("long"));
	await theirs.getByLabel(/^Password/).fill(PASSWORD);
	await theirs.getByRole("button", { name: "Create account and join" }).click();
	await expect(theirs).toHaveURL(/\/p\//);
	await theirs.goto(await invite());
	const join = theirs.getByRole("button", { name: `Join as ${name}` });
	await expect(join).toBeInViewport({ ratio: 1 });
	// Only the middle of its lines was in sight.
	const hidden = await join.getByText(name).evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight);
	expect(hidden).toBe(0);
	await expect(theirs.getByText(name, { exact: true })).toBeInViewport({ ratio: 1 });

	// Lists of what they created have their name, too.
	const { csrf_token } = await (await theirs.request.get(`${dashboard.url}/v1/session`)).json();
	const headers = { "x-csrf-token": csrf_token, origin: dashboard.url };
	const create = (path: string, data: object) =>
		theirs.request.post(dashboard.url + shop.path(path), { headers, data });
	expect((await create("/api-keys", { name: "ERP" })).status()).toBe(201);
	expect((await create("/invitations", { role: "viewer", email: "vera@example.com" })).status()).toBe(201);
	await page.goto(dashboard.project("/api-keys"));
	await expect(page.getByRole("button", { name: "Revoke ERP" })).toBeInViewport({ ratio: 1 });
	await page.goto(dashboard.project("/members"));
	await expect(page.getByRole("button", { name: `Remove ${name}` })).toBeInViewport({ ratio: 1 });
	const invitation = page.getByRole("row", { name: /vera@example.com/ });
	await expect(invitation.getByRole("button", { name: "Revoke" })).toBeInViewport({ ratio: 1 });
});

test("with forced colors, what is chosen can be seen", async ({ dashboard, page }) => {
	const webhook = await failing(dashboard, "ERP", ["1001"]);
	await page.emulateMedia({ forcedColors: "active" });
	await dashboard.enter(page);
	const colorOf = (name: string) =>
		page
			.getByText(name, { exact: true })
			.last()
			.evaluate((element) => {
				const marked = element.closest("[aria-current], [role=tab], label, tr") ?? element;
				return marked.ownerDocument.defaultView?.getComputedStyle(marked).backgroundColor;
			});
	await page.goto(dashboard.project(webhook));
	await expect(page.getByRole("table", { name: "Recent attempts" })).toContainText("1001");
	expect(await colorOf("Webhooks")).not.toBe(await colorOf("Logs"));
	expect(await colorOf("Activity")).not.toBe(await colorOf("Settings"));
	expect(await colorOf("Day")).not.toBe(await colorOf("Month"));
});

// The switch was invisible, so were the signs in checked boxes, and the option that Enter chooses was like others.
test("with forced colors, switches, checked boxes and the current option can be seen", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	const { id } = await shop.webhook(receiver.url("/hooks"));
	await dashboard.enter(page);
	await page.emulateMedia({ forcedColors: "active", colorScheme: "light", reducedMotion: "reduce" });
	await page.goto(dashboard.project(`/webhooks/${id}?tab=settings`));
	const styleOf = (selector: string, name: string) =>
		page
			.locator(selector)
			.first()
			.evaluate(
				(one, property) => one.ownerDocument.defaultView?.getComputedStyle(one).getPropertyValue(property),
				name,
			);
	const canvas = await styleOf("body", "background-color");
	expect(await styleOf(".mantine-Switch-track", "border-top-width")).toBe("1px");
	expect(await styleOf(".mantine-Switch-thumb", "background-color")).not.toBe(canvas);
	const off = await styleOf(".mantine-Switch-track", "background-color");
	await page.getByRole("switch").press("Space");
	await expect.poll(() => styleOf(".mantine-Switch-track", "background-color")).not.toBe(off);
	expect(await styleOf("input:checked ~ .mantine-Checkbox-icon", "color")).not.toBe(canvas);
	await page.goto(dashboard.project("/logs?span=hour"));
	await page.getByRole("combobox", { name: "States" }).click();
	await page.keyboard.press("ArrowDown");
	expect(await styleOf("[data-combobox-selected]", "outline-style")).toBe("solid");
	// On phones, a full dot is all that says that pages update live.
	expect(await styleOf("button [data-state=live]", "background-color")).not.toBe(canvas);
});

test("the log says which events it doesn't list because a webhook is paused", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await shop.webhook(receiver.url("/erp"), { description: "ERP" });
	const events = ["purchase.completed", "purchase.refunded"];
	const { id } = await shop.webhook(receiver.url("/news"), { description: "Newsletter", events });
	await shop.patch(shop.path(`/webhooks/${id}`), { status: "paused" });
	// The note left out events to which their publisher gave an earlier time than that of the oldest one.
	const created_at = new Date(Date.now() - 3_600_000).toISOString();
	const { body: event } = await shop.post(shop.path("/events"), { ...order("1005"), created_at });
	await receiver.count(1);
	await dashboard.enter(page);
	await page.goto(dashboard.project());
	await expect(page.getByText("1 event waits for Newsletter, which is paused.")).toBeVisible();
	await page.goto(dashboard.project("/logs?order_id=1005"));
	await expect(page.getByRole("table", { name: "Deliveries" }).getByRole("row")).toHaveCount(1 + 1);
	const note = page.getByText("1 event for Newsletter (paused) waits for its first attempt and isn't listed yet.");
	await expect(note).toBeVisible();
	// Only its color told the link from the words around it.
	await expectAccessible(page);
	await page.goto(dashboard.project(`/logs?event_id=${event.id}`));
	await expect(note).toBeVisible();
	// It was also shown for an order, a type and an order's other types, of which nothing waits there.
	await shop.post(shop.path("/events"), { type: "chargeback.created", data: { order_id: "1006" } });
	const settled = calls(page);
	for (const filter of ["order_id=1006", "type=chargeback.created", "order_id=1005&type=purchase.refunded"]) {
		await page.goto(dashboard.project(`/logs?${filter}`));
		await expect(page.getByRole("heading", { name: /^(Published, but not sent|Nothing matches)$/ })).toBeVisible();
		await settled();
		await expect(note, filter).toHaveCount(0);
	}
	await page.goto(dashboard.project("/logs?state=delivered"));
	await expect(page.getByRole("table", { name: "Deliveries" }).getByRole("row")).toHaveCount(1 + 1);
	await expect(note).toHaveCount(0);
	await page.goto(dashboard.project("/logs?type=purchase.completed"));
	await expect(page.getByText("Across all types, 1 event for Newsletter (paused) waits")).toBeVisible();
	// With nothing in the list, too.
	await page.goto(dashboard.project(`/logs?webhook_id=${id}`));
	await expect(page.getByText("Nothing matches")).toBeVisible();
	await note.getByRole("link", { name: "Newsletter" }).click();
	await expect(page.getByText("Paused. Nothing is sent. 1 new event is waiting.")).toBeVisible();
});

test("the log doesn't say that events wait that were published before their type was added", async ({
	dashboard,
	page,
}) => {
	const { shop } = dashboard;
	const { id } = await shop.webhook("https://example.com/erp", { description: "ERP", events: ["purchase.completed"] });
	const webhook = shop.path(`/webhooks/${id}`);
	await shop.patch(webhook, { status: "paused" });
	await shop.post(shop.path("/events"), order("1005"));
	await shop.post(shop.path("/events"), { type: "chargeback.created", data: { order_id: "1005" } });
	await shop.patch(webhook, { events: ["purchase.completed", "chargeback.created"] });
	await dashboard.enter(page);
	await page.goto(dashboard.project("/logs?order_id=1005"));
	const note = (what: string) => page.getByText(`${what} for ERP (paused)`);
	await expect(note("1 event")).toBeVisible();
	await shop.post(shop.path("/events"), { type: "chargeback.created", data: { order_id: "1005" } });
	await page.reload();
	await expect(note("2 events")).toBeVisible();
});

test.describe("with a long timeout", () => {
	test.use({ settings: { POSTHORN_RETRY_DELAYS: "3600", POSTHORN_ATTEMPT_TIMEOUT: "300" } });

	// Everything after the oldest event that waits counted as waiting.
	test("the log doesn't say that an event waits that was sent while an earlier one hangs", async ({
		dashboard,
		page,
	}) => {
		const { shop } = dashboard;
		const receiver = await shop.receiver({ respond: (_, n) => (n === 1 ? "hang" : {}) });
		const { id } = await shop.webhook(receiver.url("/erp"), { description: "ERP", max_in_flight: 2 });
		await shop.post(shop.path("/events"), order("1005"));
		await receiver.count(1);
		await shop.post(shop.path("/events"), order("1006"));
		await receiver.count(2);
		await shop.patch(shop.path(`/webhooks/${id}`), { status: "paused" });
		await dashboard.enter(page);
		await page.goto(dashboard.project("/logs"));
		const note = page.getByText("1 event for ERP (paused) waits for its first attempt and isn't listed yet.");
		await expect(note).toBeVisible();
		const settled = calls(page);
		await page.goto(dashboard.project("/logs?order_id=1006"));
		await expect(page.getByRole("table", { name: "Deliveries" }).getByRole("row")).toHaveCount(1 + 1);
		await settled();
		await expect(note).toHaveCount(0);
		// The list left it out, so it counted as waiting.
		await page.goto(dashboard.project("/logs?order_id=1006&state=waiting"));
		await expect(page.getByRole("heading", { name: "Nothing matches" })).toBeVisible();
		await settled();
		await expect(note).toHaveCount(0);
		await page.goto(dashboard.project("/logs?order_id=1005"));
		await expect(note).toBeVisible();
	});
});

test("a delivery of a deleted webhook offers no replay, and says why", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	const { id } = await shop.webhook(receiver.url("/erp"), { description: "ERP" });
	await shop.post(shop.path("/events"), order("1005"));
	await receiver.count(1);
	await expect.poll(async () => (await shop.get(shop.path("/attempts/count"))).body.count).toBe(1);
	await shop.delete(shop.path(`/webhooks/${id}`));
	await dashboard.enter(page);
	await page.goto(dashboard.project("/logs"));
	await page.getByRole("row", { name: /1005/ }).click();
	const drawer = page.getByRole("dialog");
	await expect(drawer.getByText("It can't be replayed, because its webhook was deleted")).toBeVisible();
	await expect(drawer.getByRole("button", { name: "Replay" })).toHaveCount(0);
	// An old link to the webhook leads to what it has left.
	await page.goto(dashboard.project(`/webhooks/${id}`));
	await page.getByRole("link", { name: "Its deliveries" }).click();
	await expect(page.getByRole("row", { name: /1005/ })).toBeVisible();
});

test("a failed row of a deleted webhook offers no replay, and the filter knows the webhook by its name", async ({
	dashboard,
	page,
}) => {
	const { shop } = dashboard;
	await failing(dashboard, "ERP", ["1005"]);
	await failing(dashboard, "Chat", ["1005"]);
	const webhooks: { id: string; description: string }[] = (await shop.get(shop.path("/webhooks"))).body.data;
	const erp = webhooks.find(({ description }) => description === "ERP")!;
	await shop.delete(shop.path(`/webhooks/${erp.id}`));
	await dashboard.enter(page);
	await page.goto(dashboard.project("/logs"));
	const row = page.getByRole("row", { name: /ERP \(deleted\)/ }).first();
	await expect(row).toContainText("Failed");
	// It was offered, and then said that the delivery was still being attempted or no longer existed.
	await expect(row.getByRole("button", { name: /Replay/ })).toHaveCount(0);
	await expect(
		page.getByRole("button", { name: /(Replay|Retry now): purchase\.completed .* to Chat/ }).first(),
	).toBeVisible();
	await row.press("r");
	await expect(page.getByText("It can't be sent again, because its webhook was deleted.")).toBeVisible();
	await page.setViewportSize({ width: 390, height: 844 });
	const card = page.getByRole("listitem").filter({ hasText: "ERP (deleted)" }).first();
	await expect(card).toContainText("Failed");
	await expect(card.getByRole("button", { name: /Replay/ })).toHaveCount(0);
	await page.setViewportSize({ width: 1280, height: 900 });
	await page
		.getByRole("combobox", { name: "Webhooks" })
		.or(page.getByRole("textbox", { name: "Webhooks" }))
		.click();
	await choose(page.getByRole("option", { name: "ERP (deleted)" }));
	await expect(page).toHaveURL(new RegExp(erp.id));
});

// The menu was printed in place of the page, and nothing once the window was wider.
test("a page prints while the menu of small screens is open", async ({ dashboard, page }) => {
	await dashboard.enter(page);
	await page.setViewportSize({ width: 390, height: 844 });
	await page.goto(dashboard.project("/webhooks"));
	await page.getByRole("button", { name: "Open the menu" }).click();
	const menu = page.getByRole("dialog", { name: "Menu" });
	await expect(menu).toBeVisible();
	await page.emulateMedia({ media: "print" });
	for (const width of [390, 1_280]) {
		await page.setViewportSize({ width, height: 844 });
		await expect(menu).toBeHidden();
		// While a dialog is open, the page has no roles.
		await expect(page.locator("main h1")).toBeVisible();
	}
});

test("pages print without the menu, and a log in full width", async ({ dashboard, page }) => {
	const webhook = await failing(dashboard, "ERP", ["1005"]);
	await dashboard.enter(page);
	await page.setViewportSize({ width: 794, height: 1123 });
	await page.emulateMedia({ media: "print" });
	await page.goto(dashboard.project("/logs"));
	const table = page.getByRole("table", { name: "Deliveries" });
	await expect(table).toContainText("1005");
	await expect(page.getByRole("navigation", { name: "Pages" })).toBeHidden();
	expect(await table.evaluate(({ parentElement: box }) => box!.scrollWidth - box!.clientWidth)).toBe(0);

	// Only what is in sight on a screen was printed.
	const heightCut = (element: Locator) => element.evaluate((box) => box.scrollHeight - box.clientHeight);
	await page.goto(dashboard.project(`${webhook}?tab=verify`));
	expect(await heightCut(page.getByLabel("TypeScript receiver", { exact: true }))).toBe(0);
	await page.goto(dashboard.project(webhook));
	await page.getByText("Show the data").first().click();
	expect(await heightCut(page.getByLabel("Data of the chart").first())).toBe(0);

	// An open delivery covered the list, and was cut at the end of the first sheet.
	const { body } = await dashboard.shop.get(dashboard.shop.path("/attempts/summaries"));
	await page.goto(dashboard.project(`/logs/${body.data[0].id}`));
	const response = page.getByRole("region", { name: "response body" });
	await expect(response).toBeVisible();
	await expect(table).toBeHidden();
	expect(await heightCut(response)).toBe(0);
	expect(await heightCut(page.getByRole("dialog"))).toBe(0);
});

test("the overview stays when someone deletes the last webhook with attempts", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	const { id } = await shop.webhook(receiver.url("/erp"), { description: "ERP" });
	await shop.webhook("https://example.com/hooks", { description: "Chat", events: ["chargeback.created"] });
	await shop.post(shop.path("/events"), order("1005"));
	await receiver.count(1);
	await dashboard.enter(page);
	await page.goto(dashboard.project());
	await expect(page.getByRole("button", { name: "Live updates: live" })).toBeVisible();
	await expect(page.getByText("Attempts by outcome")).toBeVisible();
	const asked = Promise.withResolvers<void>();
	const held = Promise.withResolvers<void>();
	await page.route("**/stats?range=month*", async (route) => {
		asked.resolve();
		await held.promise;
		await route.continue();
	});
	await shop.delete(shop.path(`/webhooks/${id}`));
	await asked.promise;
	await expect(page.getByText("No webhook is failing: 1 has not been sent anything yet.")).toBeVisible();
	await expect(page.getByText("Attempts by outcome")).toBeVisible();
	held.resolve();
});

test.describe("with 50 retries, two days apart", () => {
	test.use({ settings: { POSTHORN_RETRY_DELAYS: Array(50).fill(172_800).join() } });

	// The log cut off which attempt it was, and in the drawer numbers and times were on top of each other.
	test("an attempt's number and the times of all stations can be read", async ({ dashboard, page }) => {
		await failing(dashboard, "ERP", ["1005"]);
		await dashboard.enter(page);
		const [attempt] = (await dashboard.shop.get(dashboard.shop.path("/attempts/summaries"))).body.data;
		const number = page.getByText("1/51", { exact: true });
		for (const width of [320, 1280]) {
			await page.setViewportSize({ width, height: 800 });
			await page.goto(dashboard.project("/logs"));
			await expect(number).toBeInViewport({ ratio: 1 });
			await page.goto(dashboard.project(`/logs/${attempt.id}`));
			const stations = page.getByRole("region", { name: "Original delivery" }).getByRole("listitem");
			await expect(stations).toHaveCount(51);
			await expect(stations.nth(50)).toContainText(/\d+ [A-Z][a-z]{2}( \d{4})?, ~\d\d:\d\d/);
			// The boxes of each station's delay, number and time.
			const boxes = await stations.evaluateAll((all) =>
				all.flatMap((station) =>
					[...station.querySelectorAll("[aria-hidden]")].flatMap((part) => {
						const words = part.ownerDocument.createRange();
						words.selectNodeContents(part);
						return [...words.getClientRects()].filter((box) => box.width > 0).map((box) => box.toJSON());
					}),
				),
			);
			expect(boxes.length).toBeGreaterThan(3 * 50);
			const overlap = boxes.filter((one, i) =>
				boxes.some(
					(other, j) =>
						j < i &&
						one.left < other.right &&
						other.left < one.right &&
						one.top < other.bottom &&
						other.top < one.bottom,
				),
			);
			expect(overlap, `at ${width} px`).toEqual([]);
		}
	});
});

// Text stayed as it was, in boxes that grew.
test("text is as large as the browser's settings say, and fits", async ({ dashboard, page }) => {
	const devtools = await page.context().newCDPSession(page);
	await devtools.send("Page.setFontSizes", { fontSizes: { standard: 20, fixed: 16 } });
	const rows = await dashboard.openLog(page);
	const text = (part: Locator) =>
		part.evaluate((element) => element.ownerDocument.defaultView?.getComputedStyle(element).fontSize);
	expect(await text(page.getByRole("heading", { level: 1 }))).toBe("28.75px");
	const cells = rows.first().locator("td");
	expect(await text(cells.nth(1))).toBe("16.875px");
	expect((await rows.first().boundingBox())?.height).toBe(55);
	for (const cell of [...(await page.getByRole("columnheader").all()), ...(await cells.all())]) await expectToFit(cell);
});

// A long button, a field of a fixed width and a legend were wider than the page.
test("on a phone with text twice as large, a webhook's page doesn't scroll sideways", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	await dashboard.failing("Accounting", 3);
	const [{ id }] = (await shop.get(shop.path("/webhooks"))).body.data;
	await dashboard.enter(page);
	await page.route(/\/stats\?/, async (route) => {
		const response = await route.fetch();
		const body = (await response.text()).replaceAll(/("p(50|95)_ms":)\d+/g, "$1700");
		await route.fulfill({ response, body });
	});
	const devtools = await page.context().newCDPSession(page);
	await devtools.send("Page.setFontSizes", { fontSizes: { standard: 32, fixed: 26 } });
	await page.setViewportSize({ width: 390, height: 844 });
	for (const [tab, part] of [
		["activity", page.getByRole("button", { name: "Retry all 3 deliveries now" })],
		["settings", page.getByLabel("Events in flight")],
	] as const) {
		await page.goto(dashboard.project(`/webhooks/${id}?tab=${tab}`));
		await expect(part).toBeVisible();
		if (tab === "activity") await expect(page.getByText("~700 ms").first()).toBeVisible();
		await expectToFit(page.locator("html"), tab);
	}
	// Its words take two lines, and aren't cut off.
	const button = page.getByRole("button", { name: "Retry all 3 deliveries now" });
	await expectToFit(button);
	expect(await button.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)).toBe(0);
});

/** The text spacing that WCAG 1.4.12 asks pages to bear. */
const SPACING = `* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }
	p { margin-bottom: 2em !important; }`;

/** The texts that a cell cuts. */
const cutTexts = (part: Locator) =>
	part.evaluate((cell) => {
		const { left, right } = cell.getBoundingClientRect();
		const texts = cell.ownerDocument.createTreeWalker(cell, 4 /* Text */);
		const cut: (string | null)[] = [];
		for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
			const range = cell.ownerDocument.createRange();
			range.selectNodeContents(text);
			const fits = [...range.getClientRects()].every((rect) => rect.left >= left && rect.right <= right);
			if (!fits) cut.push(text.nodeValue);
		}
		return cut;
	});

// Tables cut figures and event types, and tiles on the overview their names and values.
test("with more space between letters and words, tables and tiles show all of their text", async ({
	dashboard,
	page,
}) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await shop.webhook(receiver.url("/hooks"), { description: "ERP", events: EVENT_TYPES.map(({ type }) => type) });
	await shop.post(shop.path("/events"), order("1042"));
	await receiver.count(1);
	await dashboard.enter(page);
	const open = async (path: string, width: number) => {
		await page.setViewportSize({ width, height: 800 });
		await page.goto(dashboard.project(path));
		await expectNoSidewaysScroll(page);
		await page.evaluate(`{
			const sheet = new CSSStyleSheet();
			sheet.replaceSync(${JSON.stringify(SPACING)});
			document.adoptedStyleSheets.push(sheet);
		}`);
	};
	await open("", 320);
	await expect(page.getByRole("link", { name: /^Delivered/ })).toBeVisible();
	await expectToFit(page.locator("dl").first());
	for (const path of ["/webhooks", "/logs", "/logs?view=attempts"]) {
		await open(path, 1280);
		const cells = page.getByRole("row").nth(1).getByRole("cell");
		await expect(cells.filter({ hasText: "ERP" })).toBeVisible();
		for (const cell of await cells.all()) expect(await cutTexts(cell), path).toEqual([]);
		if (path === "/webhooks") await expectToFit(cells.filter({ hasText: "9 types" }));
		else await expectToFit(cells.getByText("purchase.completed"));
	}
});

// It was cut at its beginning.
test("a long name that is read from right to left is cut at its end", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const name = "مرحبا بالعالم — خطاف الويب الطويل جدا";
	await shop.webhook("https://example.com/hooks", { description: name });
	await dashboard.enter(page);
	await page.goto(dashboard.project("/webhooks"));
	const link = page.getByRole("table", { name: "Webhooks" }).getByRole("link", { name });
	await expect(link).toBeVisible();
	const { start, cell } = await link.evaluate((element) => {
		const range = element.ownerDocument.createRange();
		range.setStart(element.firstChild!, 0);
		range.setEnd(element.firstChild!, 1);
		const [start, cell] = [range.getBoundingClientRect(), element.closest("td")!.getBoundingClientRect()];
		return {
			start: { left: start.left, right: start.right },
			cell: { left: cell.left, right: cell.right },
		};
	});
	expect(start.left).toBeGreaterThanOrEqual(cell.left);
	expect(start.right).toBeLessThanOrEqual(cell.right);
});

import type { Locator, Request } from "@playwright/test";
import { unusedPort } from "@posthorn/testkit";
import { purchase } from "../shop.ts";
import { choose, expect, expectAccessible, expectToFit, test, watch } from "./dashboard.ts";

test.use({ settings: { POSTHORN_RETRY_DELAYS: "0.2,0.2" } });

/** The table cell that something is in. */
const cellOf = (part: Locator) => part.locator("xpath=ancestor::td");

test("a failing delivery can be followed to Failed, understood, and replayed", async ({ dashboard, page, context }) => {
	const faults = watch(context);
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	receiver.respondWith(() => ({ status: 500, body: "the database is read-only" }));
	const { id } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
	await dashboard.enter(page);
	await page.goto(dashboard.project("/logs?view=attempts"));
	await expectAccessible(page);
	const { body: event } = await shop.post(shop.path("/events"), purchase(1));

	// The page updates live.
	const table = page.getByRole("table", { name: "Attempts" });
	await expect(table.getByText("Failed")).toHaveCount(1);
	// They once said "Retrying, was due" for good.
	await expect(table.getByText("Retried", { exact: true })).toHaveCount(2);
	await expect(table.getByText("Retrying", { exact: true })).toHaveCount(0);
	// It once mentioned eight attempts, no matter how many the service was configured for.
	for (const attempt of [1, 2, 3])
		await expect(table.getByRole("img", { name: `Attempt ${attempt} of 3`, exact: true })).toBeVisible();
	await expectAccessible(page);
	await table.getByRole("link", { name: "purchase.completed" }).first().click();
	const drawer = page.getByRole("dialog");
	await expect(drawer).toContainText("The receiver returned 500");
	await expect(drawer).toContainText("the database is read-only");
	await expect(drawer).toContainText("X-Service-Signature");
	await expect(drawer).toContainText(event.id);
	await expect(drawer).toContainText("3 of 3");
	await expectAccessible(page);
	await page.keyboard.press("Escape");
	await expect(drawer).toHaveCount(0);
	// The filter was named "Retrying", although its rows and the charts say "Retried".
	await page.getByRole("combobox", { name: "Outcomes" }).click();
	await choose(page.getByRole("option", { name: "Retried", exact: true }));
	await page.keyboard.press("Escape");
	await expect(page.getByText("2 attempts that failed and were due for a retry.")).toBeVisible();
	await expect(table.getByText("Retried", { exact: true })).toHaveCount(2);

	await page.goto(dashboard.project(`/webhooks/${id}`));
	await expect(page.getByText(/Returning 500 since/)).toBeVisible();
	await expectAccessible(page);
	receiver.respondWith(() => ({ status: 200 }));
	await page.getByRole("button", { name: "Replay 1 failed delivery" }).click();
	await expect(drawer).toContainText("This sends 1 delivery again");
	await drawer.getByRole("button", { name: /^Replay/ }).click();
	await expect(page.getByText("Unstable", { exact: true })).toBeVisible();
	await page.goto(dashboard.project(`/logs?event_id=${event.id}&status=delivered`));
	await table.getByRole("link", { name: "purchase.completed" }).click();
	await expect(drawer).toContainText("Delivered");
	await expectAccessible(page);
	expect(faults).toEqual([]);
});

// The placeholder touched the key next to it.
test("the log has room for its search field's placeholder", async ({ dashboard, page }) => {
	await dashboard.shop.webhook("https://nowhere.invalid/hooks", { description: "Accounting" });
	await dashboard.enter(page);
	await dashboard.shop.post(dashboard.shop.path("/events"), purchase(1));
	await page.goto(dashboard.project("/logs?view=attempts"));
	await expect(page.getByText("host not found").first()).toBeVisible();
	const spare = await page.getByRole("combobox", { name: "Search" }).evaluate((field) => {
		const { font, paddingLeft, paddingRight } = field.ownerDocument.defaultView!.getComputedStyle(field);
		const context = field.ownerDocument.createElement("canvas").getContext("2d")!;
		context.font = font;
		const { width } = context.measureText(field.getAttribute("placeholder")!);
		return field.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight) - width;
	});
	expect(spare).toBeGreaterThan(12);
});

// It was next to the labels above them.
test("the button that applies a time range is in line with its fields", async ({ dashboard, page }) => {
	await dashboard.openLog(page, "?since=2026-01-01T00:00:00Z");
	const apply = page.getByRole("button", { name: "Apply" });
	for (const width of [640, 1280]) {
		await page.setViewportSize({ width, height: 800 });
		const field = page.getByLabel("To", { exact: true });
		// The page may still be adapting to its new width.
		const difference = async () => {
			const [a, b] = [(await field.boundingBox())!, (await apply.boundingBox())!];
			return Math.abs(a.y + a.height - b.y - b.height);
		};
		await expect.poll(difference, `at ${width} px`).toBeLessThan(2);
	}
});

// A range to 23:59 left out what was sent in the last minute of the day.
test("a time range includes the minute that it ends with", async ({ dashboard, page }) => {
	const rows = await dashboard.openLog(page);
	const { shop } = dashboard;
	const [newest] = (await shop.get(shop.path("/deliveries?limit=1"))).body.data;
	const minute = await page.evaluate((iso) => {
		const at = new Date(iso);
		return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
	}, newest.last_attempt.started_at as string);
	await page.getByRole("combobox", { name: "Time" }).click();
	await choose(page.getByRole("option", { name: "From … to …" }));
	await page.getByLabel("From", { exact: true }).fill(minute);
	await page.getByLabel("To", { exact: true }).fill(minute);
	await page.getByRole("button", { name: "Apply" }).click();
	await expect(page).toHaveURL(/until=/);
	await expect(rows.filter({ hasText: "ord_3" })).toBeVisible();
	await expect(page.getByLabel("To", { exact: true })).toHaveValue(minute);
});

// The list of webhooks cut "connection refused". The log broke a port's digits: "localhost:4379" and "3", and later it
// moved a port to a line of its own.
test("lists show all of a response, and a port next to its host", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const host = `127.0.0.1:${await unusedPort()}`;
	await shop.webhook(`https://${host}/hooks`);
	await dashboard.enter(page);
	await shop.post(shop.path("/events"), purchase(1));
	/** What each line of an element says. */
	const linesOf = (element: Locator) =>
		element.evaluate((root) => {
			const walker = root.ownerDocument.createTreeWalker(root, 4 /* Text */);
			const lines = new Map<number, string>();
			for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
				for (const [index, letter] of [...node.textContent!].entries()) {
					const range = root.ownerDocument.createRange();
					range.setStart(node, index);
					range.setEnd(node, index + 1);
					const top = Math.round(range.getBoundingClientRect().top);
					lines.set(top, (lines.get(top) ?? "") + letter);
				}
			}
			return [...lines.values()];
		});
	for (const [path, list] of [
		["/webhooks", "Webhooks"],
		["/logs", "Deliveries"],
		["/logs?view=attempts", "Attempts"],
	] as const) {
		await page.goto(dashboard.project(path));
		const row = page.getByRole("table", { name: list }).getByRole("row", { name: host }).first();
		const response = row.getByText("connection refused", { exact: true });
		await expect(response).toBeVisible();
		await expectToFit(response, list);
		expect(await cellOf(response).evaluate((cell) => cell.scrollHeight - cell.clientHeight), list).toBe(0);
		const lines = await linesOf(row.getByTitle(host, { exact: true }));
		expect(lines.at(-1), list).toMatch(/\w:\d+$/);
	}
});

test("an attempt that reached no receiver is not shown as sent", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const { id } = await shop.webhook(`https://localhost:${await unusedPort()}/hooks`, { description: "Accounting" });
	await dashboard.enter(page);
	await shop.post(shop.path("/events"), purchase(1));
	await page.goto(dashboard.project("/logs?view=attempts"));
	const table = page.getByRole("table", { name: "Attempts" });
	await expect(table.getByText("Failed")).toHaveCount(1);
	await table.getByRole("link", { name: "purchase.completed" }).first().click();
	const drawer = page.getByRole("dialog");
	await expect(drawer).toContainText("The receiver refused the connection");
	await expect(drawer).toContainText("Nothing was sent: no connection was established");
	await expect(drawer.getByRole("table", { name: "Request headers" })).toHaveCount(0);
	await expect(drawer.getByRole("button", { name: "Copy as curl" })).toHaveCount(0);
	await expectAccessible(page);

	await page.goto(dashboard.project(`/webhooks/${id}`));
	await expect(page.getByRole("table", { name: "Recent attempts" })).toContainText("1 of 3");
	// Without a response there is no response time.
	await expect(page.getByText("No responses in this period")).toBeVisible();
	await page.getByRole("button", { name: "Replay 1 failed delivery" }).click();
	await expect(page.getByRole("dialog")).toContainText("gets up to 3 attempts");
});

test("filters are part of the URL, and matching deliveries are counted, then replayed", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const [sound, broken] = [await shop.receiver(), await shop.receiver()];
	broken.respondWith(() => ({ status: 410 }));
	const events = ["purchase.completed", "purchase.refunded"];
	await shop.webhook(sound.url("/hooks"), { description: "Sound", events });
	const { id } = await shop.webhook(broken.url("/hooks"), { description: "Broken", events });
	await dashboard.enter(page);
	await page.goto(dashboard.project("/logs?view=attempts"));
	for (let n = 1; n <= 5; n++) await shop.post(shop.path("/events"), purchase(n));
	await broken.count(15);
	const table = page.getByRole("table", { name: "Attempts" });
	await expect(table.getByText("Failed")).toHaveCount(5);

	const chooseFrom = async (label: string, option: string): Promise<void> => {
		await page
			.getByRole("combobox", { name: label })
			.or(page.getByRole("textbox", { name: label }))
			.click();
		const choice = page.getByRole("option", { name: option, exact: true });
		await choose(choice);
		// It shows what the page now filters by, and stays open for more values.
		await expect(choice).toHaveAttribute("aria-selected", "true");
		await page.keyboard.press("Escape");
	};
	await chooseFrom("Webhooks", "Broken");
	await chooseFrom("Outcomes", "Failed");
	const asked = Promise.withResolvers<void>();
	await page.route(/attempts\/summaries.*type=/, async (route) => {
		await asked.promise;
		await route.continue();
	});
	await chooseFrom("Event types", "purchase.completed");
	// The rows of the filters before stay, dimmed.
	await expect(page.locator("[aria-busy=true]")).toHaveCount(1);
	asked.resolve();
	await expect(page).toHaveURL(new RegExp(`webhook_id=${id}`));
	await expect(page).toHaveURL(/status=failed/);
	await expect(table.getByRole("row")).toHaveCount(1 + 5);
	await expectAccessible(page);
	// The address contains everything: a colleague sees the same.
	await page.reload();
	await expect(table.getByRole("row")).toHaveCount(1 + 5);

	broken.respondWith(() => ({ status: 200 }));
	await table
		.getByRole("checkbox", { name: /Select purchase/ })
		.first()
		.check();
	await table
		.getByRole("checkbox", { name: /Select purchase/ })
		.nth(1)
		.check();
	await page.getByRole("button", { name: "Replay 2", exact: true }).click();
	const dialog = page.getByRole("dialog");
	await expect(dialog).toContainText("2 deliveries");
	await dialog.getByRole("button", { name: /^Replay/ }).click();
	await broken.count(17);
	const delivered = shop.path(`/attempts/count?webhook_id=${id}&status=delivered`);
	await expect.poll(async () => (await shop.get(delivered)).body.count).toBe(2);

	await page.getByRole("button", { name: "Replay all matching" }).click();
	await expect(dialog).toContainText("3 deliveries");
	await expectAccessible(page);
	await dialog.getByRole("button", { name: /^Replay/ }).click();
	await broken.count(20);
	await expect
		.poll(async () =>
			(await shop.get(shop.path("/webhooks/health"))).body.data.map(
				(one: { dead_letters: number }) => one.dead_letters,
			),
		)
		.toEqual([0, 0]);
});

test("receivers' responses are inert", async ({ dashboard, page, context }) => {
	const faults = watch(context);
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	const bodies = [
		'<script>document.title = "owned"</script><img src=x onerror="document.title = \'owned\'">',
		"\u001b[2J\u001b]0;owned\u0007\u202Etxt.exe\u0000",
		"\u00ff\u00fe".repeat(2_000_000),
		'{"__proto__": {"owned": true}, "constructor": 1}',
	];
	receiver.respondWith((_request, n) => ({
		headers: { "content-type": "text/html" },
		body: bodies[(n - 1) % bodies.length]!,
	}));
	const { id } = await shop.webhook(receiver.url("/hooks"));
	await dashboard.enter(page);
	for (let n = 1; n <= bodies.length; n++) await shop.post(shop.path("/events"), purchase(n));
	await receiver.count(bodies.length);
	await expect.poll(async () => (await shop.get(shop.path("/attempts/count"))).body.count).toBe(bodies.length);
	for (const { id } of (await shop.get(shop.path("/attempts/summaries"))).body.data) {
		await page.goto(dashboard.project(`/logs/${id}`));
		await expect(page.getByRole("dialog")).toContainText("Response");
		await expectAccessible(page);
		expect(await page.title()).not.toContain("owned");
		expect(await page.evaluate(() => "owned" in {})).toBe(false);
	}
	// They changed the direction of text where a search or a test shows them.
	await page.goto(dashboard.project("/logs?text=txt.exe"));
	await expect(page.getByRole("list", { name: "Events" })).toContainText("␛]0;owned␇⟨U+202E⟩txt.exe␀");
	receiver.respondWith(() => ({ body: bodies[1]! }));
	await page.goto(dashboard.project(`/webhooks/${id}`));
	await page.getByRole("button", { name: "Send test event" }).click();
	await page.getByRole("dialog").getByRole("button", { name: "Send" }).click();
	await expect(page.getByLabel("response body", { exact: true })).toHaveText("␛[2J␛]0;owned␇⟨U+202E⟩txt.exe␀");
	expect(faults).toEqual([]);
});

test("the live tail can be paused, and continues where it was", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await shop.webhook(receiver.url("/hooks"));
	await dashboard.enter(page);
	await shop.post(shop.path("/events"), purchase(1));
	await page.goto(dashboard.project("/logs?view=attempts"));
	const rows = page.getByRole("table", { name: "Attempts" }).getByRole("row");
	await expect(rows).toHaveCount(1 + 1);
	await page.getByRole("main").getByRole("button", { name: "Pause" }).click();
	await shop.post(shop.path("/events"), purchase(2));
	await expect.poll(async () => (await shop.get(shop.path("/attempts/count"))).body.count).toBe(2);
	await expect(rows).toHaveCount(1 + 1);
	await page.getByRole("main").getByRole("button", { name: "Follow live" }).click();
	await expect(rows).toHaveCount(1 + 2);
});

// Without anything new, the list of the last hour kept the same rows for hours.
test("a list of the last hour moves with time", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await shop.webhook(receiver.url("/hooks"));
	await shop.post(shop.path("/events"), purchase(1));
	await receiver.count(1);
	await dashboard.enter(page);
	await page.clock.install();
	for (const [view, path] of [
		["deliveries", "/deliveries"],
		["attempts", "/attempts/summaries"],
	]) {
		const asked: string[] = [];
		const note = (request: Request) => {
			const { pathname, searchParams } = new URL(request.url());
			if (pathname.endsWith(path!)) asked.push(searchParams.get("since")!);
		};
		page.on("request", note);
		await page.goto(dashboard.project(`/logs?span=hour&view=${view}`));
		await expect(page.getByRole("link", { name: "purchase.completed" })).toBeVisible();
		await expect(page.getByRole("button", { name: "Live updates: live" })).toBeVisible();
		const before = asked.at(-1)!;
		await page.clock.runFor(60_000);
		await expect.poll(() => asked.at(-1)! > before).toBe(true);
		page.off("request", note);
	}
});

// A general rule was overridden by the row's own: the row faded in anyway, and was hardly readable meanwhile.
test("new rows are tinted for a moment, unless reduced motion is preferred", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await shop.webhook(receiver.url("/hooks"));
	await dashboard.enter(page);
	await page.goto(dashboard.project("/logs?view=attempts"));
	await page.getByRole("button", { name: "Live updates: live" }).waitFor();
	await shop.post(shop.path("/events"), purchase(1));
	const row = page.getByRole("table", { name: "Attempts" }).locator("[data-new]");
	await expect(row).toHaveCSS("animation-name", "none");
	await page.emulateMedia({ reducedMotion: "no-preference" });
	await expect(row).not.toHaveCSS("animation-name", "none");
});

test("shows changes from before the page started listening", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await shop.webhook(receiver.url("/hooks"));
	await dashboard.enter(page);
	const late = Promise.withResolvers<void>();
	await page.route("**/changes", async (route) => {
		await late.promise;
		await route.continue();
	});
	await shop.post(shop.path("/events"), purchase(1));
	await expect.poll(async () => (await shop.get(shop.path("/attempts/count"))).body.count).toBe(1);
	await page.goto(dashboard.project("/logs?view=attempts"));
	const rows = page.getByRole("table", { name: "Attempts" }).getByRole("row");
	await expect(rows).toHaveCount(1 + 1);
	await shop.post(shop.path("/events"), purchase(2));
	await expect.poll(async () => (await shop.get(shop.path("/attempts/count"))).body.count).toBe(2);
	late.resolve();
	await expect(rows).toHaveCount(1 + 2);
});

test("deliveries are listed once each, filtered by several values, retried, dismissed and opened", async ({
	dashboard,
	page,
	context,
}) => {
	const faults = watch(context);
	const { shop } = dashboard;
	const [sound, broken] = [await shop.receiver(), await shop.receiver()];
	broken.respondWith(() => ({ status: 503 }));
	await shop.webhook(sound.url("/hooks"), { description: "Sound" });
	await shop.webhook(broken.url("/hooks"), { description: "Broken" });
	await dashboard.enter(page);
	for (let n = 1; n <= 2; n++) await shop.post(shop.path("/events"), purchase(n));
	await broken.count(6);
	await page.goto(dashboard.project("/logs"));
	const table = page.getByRole("table", { name: "Deliveries" });
	await expect(table.getByRole("row")).toHaveCount(1 + 4);
	await expect(table.getByText("Failed")).toHaveCount(2);
	await expect(table.getByText("Delivered")).toHaveCount(2);
	await expect(table.getByRole("img", { name: "Attempt 3 of 3", exact: true })).toHaveCount(2);
	await expectAccessible(page);

	await page
		.getByRole("combobox", { name: "States" })
		.or(page.getByRole("textbox", { name: "States" }))
		.click();
	await choose(page.getByRole("option", { name: "Failed", exact: true }));
	await page.keyboard.press("Escape");
	await expect(page).toHaveURL(/state=failed/);
	await expect(table.getByRole("row")).toHaveCount(1 + 2);

	await table
		.getByRole("checkbox", { name: /Select purchase/ })
		.first()
		.check();
	// Dismissing a selection didn't ask, although dismissing all that match did.
	await page.getByRole("button", { name: "Dismiss 1", exact: true }).click();
	const question = page.getByRole("dialog");
	// It said "1 failed delivery", and afterwards only "Dismissed."
	const which = /purchase\.completed \(order \u2068?ord_\d\u2069?\) to \S+/;
	await expect(question).toContainText(new RegExp(`^DismissThis marks ${which.source} as needing no decision\\.`));
	await expectAccessible(page);
	await question.getByRole("button", { name: "Cancel" }).click();
	await expect(question).toHaveCount(0);
	const dismissed = table.getByText("Dismissed");
	await expect(dismissed).toHaveCount(0);
	await page.getByRole("button", { name: "Dismiss 1", exact: true }).click();
	await question.getByRole("button", { name: "Dismiss" }).click();
	await expect(dismissed).toHaveCount(1);
	await expect(question).toHaveCount(0);
	await expect(page.getByText(new RegExp(`^Dismissed ${which.source}\\. It stays in the log`))).toBeVisible();
	// It was cut off, with an ellipsis next to it.
	await expectToFit(cellOf(dismissed));
	await page.getByRole("button", { name: "Clear", exact: true }).click();
	await expect(table.getByRole("row")).toHaveCount(1 + 4);
	await page.getByLabel("Only what needs a decision").check();
	await expect(table.getByRole("row")).toHaveCount(1 + 1);
	await expectAccessible(page);
	const health = await shop.get(shop.path("/webhooks/health"));
	expect(health.body.data.map((one: { dead_letters: number }) => one.dead_letters).toSorted()).toEqual([0, 1]);

	await table.getByRole("link", { name: "purchase.completed" }).click();
	const drawer = page.getByRole("dialog", { name: /^purchase\.completed/ });
	await expect(drawer).toContainText("The receiver returned 503");
	// It didn't ask in the drawer.
	const dismiss = drawer.getByRole("button", { name: "Dismiss" });
	await dismiss.click();
	const dialog = page.getByRole("dialog", { name: "Dismiss", exact: true });
	await expect(dialog).toContainText(new RegExp(`This marks ${which.source} as needing no decision\\.`));
	await dialog.getByRole("button", { name: "Cancel" }).click();
	await expect(dismiss).toBeFocused();
	await dismiss.click();
	await dialog.getByRole("button", { name: "Dismiss" }).click();
	await expect(drawer.getByText("Dismissed", { exact: true }).first()).toBeVisible();
	await page.keyboard.press("Escape");
	await expect(page.getByRole("heading", { name: "Nothing needs a decision" })).toBeVisible();

	await page.getByRole("button", { name: "Clear", exact: true }).click();
	await page.getByRole("radiogroup", { name: "Show" }).getByText("Attempts").click();
	await expect(page).toHaveURL(/view=attempts/);
	await expect(page.getByRole("table", { name: "Attempts" }).getByRole("row")).toHaveCount(1 + 8);
	expect(faults).toEqual([]);
});

// People search by order id, but only the drawer showed it.
test("rows show their order, and are as high as others", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	const events = ["purchase.completed", "customer.created"];
	await shop.webhook(receiver.url("/hooks"), { description: "Community chat", events });
	await dashboard.enter(page);
	const long = `ord_${"0123456789".repeat(20)}`;
	const { data: sale } = purchase(1) as { readonly data: object };
	const hidden = "ord_\u202E1";
	for (const order_id of ["ord_1042", long, hidden])
		await shop.post(shop.path("/events"), { type: "purchase.completed", data: { ...sale, order_id } });
	await shop.post(shop.path("/events"), { type: "customer.created", data: { customer_email: "ada@example.com" } });
	await receiver.count(4);
	for (const [list, query] of [
		["Deliveries", ""],
		["Attempts", "?view=attempts"],
	] as const) {
		await page.setViewportSize({ width: 1280, height: 860 });
		await page.goto(dashboard.project(`/logs${query}`));
		const rows = page.getByRole("table", { name: list }).locator("tbody tr");
		await expect(rows).toHaveCount(4);
		await expect(rows.nth(0)).not.toContainText("Order");
		// The name had a narrow column next to a wide one that was mostly empty.
		const name = rows.nth(0).getByText("Community chat");
		expect(await name.evaluate((words) => words.getClientRects()[0]!.height)).toBe(20);
		await expect(rows.nth(1)).toContainText("Order ord_⟨U+202E⟩1");
		await expect(rows.nth(2)).toContainText("Order ord_012345…23456789");
		const order = rows.nth(2).getByTitle(`Order ${long}`);
		await expectToFit(order);
		await expect(rows.nth(3)).toContainText("Order ord_1042");
		const heights = await rows.evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height));
		expect(new Set(heights).size, heights.join()).toBe(1);
		await expectAccessible(page);
		await page.setViewportSize({ width: 390, height: 844 });
		const cards = page.getByRole("list", { name: list }).getByRole("listitem");
		await expect(cards.nth(3)).toContainText("Order ord_1042");
		expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
		await expectAccessible(page);
	}
});

test("test events are marked everywhere, and don't make a webhook failing", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	receiver.respondWith(() => ({ status: 503 }));
	const { id } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
	await dashboard.enter(page);
	await shop.post(shop.path(`/webhooks/${id}/test`), { type: "purchase.completed" });
	await receiver.count(3);
	await page.goto(dashboard.project("/logs"));
	const deliveries = page.getByRole("table", { name: "Deliveries" });
	await expect(deliveries.getByText("Failed")).toHaveCount(1);
	await expect(deliveries.getByText("Test", { exact: true })).toHaveCount(1);
	await deliveries.getByRole("link", { name: "purchase.completed" }).click();
	await expect(page.getByRole("dialog").getByText("Test", { exact: true })).toHaveCount(1);
	await expectAccessible(page);
	await page.goto(dashboard.project("/logs?view=attempts"));
	const attempts = page.getByRole("table", { name: "Attempts" });
	await expect(attempts.getByText("Test", { exact: true })).toHaveCount(3);
	await expectAccessible(page);
	await page.setViewportSize({ width: 390, height: 844 });
	await expect(page.getByRole("list", { name: "Attempts" }).getByText("Test", { exact: true })).toHaveCount(3);
	await page.goto(dashboard.project("/logs"));
	await expect(page.getByRole("list", { name: "Deliveries" }).getByText("Test", { exact: true })).toHaveCount(1);
	await page.goto(dashboard.project(`/webhooks/${id}`));
	await expect(page.getByText("No event has been sent to it yet")).toBeVisible();
	const recent = page.getByRole("list", { name: "Recent attempts" });
	await expect(recent.getByText("Test", { exact: true })).toHaveCount(3);
	// On phones it was a table, which had to be scrolled sideways to see a response.
	await recent.scrollIntoViewIfNeeded();
	for (const response of await recent.getByText(/^503, /).all()) await expect(response).toBeInViewport({ ratio: 1 });
	await expectAccessible(page);
	await recent.getByRole("link").first().click();
	await expect(page.getByRole("dialog").getByText("503").first()).toBeVisible();
	await page.goto(dashboard.project());
	await expect(page.getByText("No webhook is failing")).toBeVisible();
	// A real failure counts, unmarked.
	await shop.post(shop.path("/events"), purchase(1));
	await expect(page.getByText("Your webhook is failing")).toBeVisible();
});

// The last letter of the longest one was cut off.
test("every event type fits its column", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	const types: { type: string; sample: object }[] = (await shop.get("/v1/event-types")).body;
	await shop.webhook(receiver.url("/hooks"), { events: types.map(({ type }) => type) });
	for (const { type, sample } of types) await shop.post(shop.path("/events"), { type, data: sample });
	await receiver.count(types.length);
	await dashboard.enter(page);
	for (const [path, label] of [
		["/logs", "Deliveries"],
		["/logs?view=attempts", "Attempts"],
	] as const) {
		await page.goto(dashboard.project(path));
		for (const { type } of types) {
			const link = page.getByRole("table", { name: label }).getByText(type, { exact: true });
			await expect(link).toBeVisible();
			await expectToFit(link, type);
		}
	}
});

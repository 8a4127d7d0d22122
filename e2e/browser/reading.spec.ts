import { join } from "node:path";
import { writePast } from "../past.ts";
import { purchase } from "../shop.ts";
import { choose, expect, test } from "./dashboard.ts";

const EVENTS = 450;

test.describe("with a past", () => {
	test.use({ ownService: true });

	test("a long log only renders the rows in sight, by scrolling and by keyboard", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		const url = "https://example.com/hooks";
		const { id } = await shop.webhook(url, { events: ["purchase.completed"] });
		await dashboard.setUp();
		await shop.service.stop();
		const webhook = {
			id,
			url,
			events: ["purchase.completed"],
			attemptsOf: () => [{ statusCode: 200, responseMs: 20 }],
		};
		const now = Date.now();
		const times = Array.from({ length: EVENTS * 11 }, (_, n) => now - (EVENTS * 11 - n) * 1_000);
		await writePast({ path: join(shop.folder, "posthorn.db"), projectId: shop.projectId, webhooks: [webhook], times });
		await shop.start();
		const total = (await shop.get(shop.path("/attempts/count"))).body.count as number;
		expect(total).toBeGreaterThan(300);

		await dashboard.signIn(page);
		await page.goto(dashboard.project("/logs?view=attempts"));
		const table = page.getByRole("table", { name: "Attempts" });
		await page.getByRole("button", { name: "Show older attempts" }).click();
		// More pages load as one scrolls.
		await expect(async () => {
			await page.mouse.wheel(0, 20_000);
			await expect(table).toHaveAttribute("aria-rowcount", String(total + 1), { timeout: 500 });
		}).toPass();
		await expect(async () => {
			await page.mouse.wheel(0, 20_000);
			await expect(table.locator(`tr[aria-rowindex="${total + 1}"]`)).toBeInViewport({ timeout: 500 });
		}).toPass();
		expect(await table.locator("tbody tr").count()).toBeLessThan(120);

		// Rows come and go a few at a time, because each change makes the browser lay out the table.
		const changes = await page.evaluate(`new Promise((resolve) => {
			window.scrollTo(0, 2_000);
			const body = document.querySelector("tbody");
			const seen = new MutationObserver(() => changes++);
			let changes = 0;
			let steps = 0;
			const step = () => {
				if (steps === 3) seen.observe(body, { childList: true });
				if (steps++ === 43) return resolve(changes);
				window.scrollBy(0, 44);
				requestAnimationFrame(step);
			};
			requestAnimationFrame(step);
		})`);
		expect(changes).toBeGreaterThan(0);
		expect(changes).toBeLessThan(30);

		// The keyboard continues at the row it was on, however far away that is.
		const first = table.locator('tr[aria-rowindex="2"]');
		await first.focus();
		await page.mouse.wheel(0, 20_000);
		await expect(first).not.toBeInViewport();
		await page.keyboard.press("j");
		const second = table.locator('tr[aria-rowindex="3"]');
		await expect(second).toBeFocused();
		await expect(second).toBeInViewport();
	});
});

test("a busy log keeps still under the pointer", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await shop.webhook(receiver.url("/hooks"));
	await shop.post(shop.path("/events"), purchase(1));
	await receiver.count(1);
	await dashboard.enter(page);
	await page.goto(dashboard.project("/logs?view=attempts"));
	const rows = page.getByRole("table", { name: "Attempts" }).getByRole("row");
	await expect(rows).toHaveCount(1 + 1);
	await rows.nth(1).hover();
	await shop.post(shop.path("/events"), purchase(2));
	const newer = page.getByRole("button", { name: "1 newer attempt" });
	await expect(newer).toBeVisible();
	await expect(rows).toHaveCount(1 + 1);
	await page.mouse.move(0, 0);
	await expect(rows).toHaveCount(1 + 2);
	await expect(newer).toHaveCount(0);
	// The same with the keyboard.
	await page.keyboard.press("j");
	await shop.post(shop.path("/events"), purchase(3));
	await newer.click();
	await expect(rows).toHaveCount(1 + 3);
	// Of the newest page, every attempt is newer, so there may be more.
	await page.keyboard.press("j");
	for (let n = 4; n <= 54; n++) await shop.post(shop.path("/events"), purchase(n));
	await page.getByRole("button", { name: "50 or more newer attempts" }).click();
	await expect(rows).toHaveCount(1 + 50);
});

test("an empty log fills under the pointer", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await shop.webhook(receiver.url("/hooks"));
	await dashboard.enter(page);
	for (const view of ["deliveries", "attempts"] as const) {
		const event_id = `evt_${view}`;
		await page.goto(dashboard.project(`/logs?view=${view}&event_id=${event_id}`));
		await page.getByText("Nothing matches").hover();
		await shop.post(shop.path("/events"), { ...purchase(1), id: event_id });
		const table = page.getByRole("table", { name: view === "deliveries" ? "Deliveries" : "Attempts" });
		await expect(table.getByText("Delivered")).toBeVisible();
	}
});

test("rows that are on their way when the pointer comes don't move what it points at", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await shop.webhook(receiver.url("/hooks"));
	await shop.post(shop.path("/events"), purchase(1));
	await receiver.count(1);
	await dashboard.enter(page);
	await page.goto(dashboard.project("/logs?view=attempts"));
	const rows = page.getByRole("table", { name: "Attempts" }).getByRole("row");
	await expect(rows).toHaveCount(1 + 1);
	const held = Promise.withResolvers<void>();
	const pointed = Promise.withResolvers<void>();
	await page.route(/\/attempts\/summaries/, async (route) => {
		const response = await route.fetch();
		const { data } = await response.json();
		if (data.length === 2) held.resolve();
		await pointed.promise;
		// The page may have cancelled it.
		await route.fulfill({ response }).catch(() => {});
	});
	await shop.post(shop.path("/events"), purchase(2));
	await held.promise;
	await rows.nth(1).hover();
	pointed.resolve();
	await expect(page.getByRole("button", { name: "1 newer attempt" })).toBeVisible();
	await expect(rows).toHaveCount(1 + 1);
	await page.mouse.move(0, 0);
	await expect(rows).toHaveCount(1 + 2);
});

test("a row opens in another tab with Ctrl or the middle button", async ({ dashboard, page, context }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await shop.webhook(receiver.url("/hooks"));
	await shop.post(shop.path("/events"), purchase(1));
	await receiver.count(1);
	await dashboard.enter(page);
	await page.goto(dashboard.project("/logs?view=attempts"));
	const cell = page.getByRole("table", { name: "Attempts" }).getByRole("cell", { name: "Delivered" });
	for (const options of [{ modifiers: ["ControlOrMeta"] as "ControlOrMeta"[] }, { button: "middle" as const }]) {
		const opened = context.waitForEvent("page");
		await cell.click(options);
		const other = await opened;
		await expect(other).toHaveURL(/\/logs\/att_/);
		await expect(other.getByRole("dialog")).toContainText("Delivered on the first attempt");
		await other.close();
	}
	await expect(page).toHaveURL(/\/logs\?view=attempts$/);
});

test.describe("after one attempt", () => {
	test.use({ settings: { POSTHORN_RETRY_DELAYS: "600" } });

	test("resuming says everything that it drops, retries included", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		const receiver = await shop.receiver();
		receiver.respondWith(() => ({ status: 500 }));
		const { id } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
		await shop.post(shop.path("/events"), purchase(1));
		await expect.poll(async () => (await shop.get(shop.path("/waiting"))).body.data.length).toBe(1);
		await shop.patch(shop.path(`/webhooks/${id}`), { status: "paused" });
		for (const n of [2, 3]) await shop.post(shop.path("/events"), purchase(n));
		await dashboard.enter(page);
		await page.goto(dashboard.project("/webhooks"));
		await expect(page.getByRole("row", { name: /Accounting/ }).getByText(/^3, for/)).toBeVisible();
		await page.goto(dashboard.project(`/webhooks/${id}`));
		await expect(page.getByText("Paused. Nothing is sent. 2 new events and 1 retry are waiting.")).toBeVisible();
		await page.getByRole("button", { name: "Resume" }).click();
		const dialog = page.getByRole("dialog");
		await expect(dialog).toContainText("2 new events and 1 retry are waiting.");
		await expect(dialog).toContainText("2 new events and 1 retry won't be sent to this webhook");
		await dialog.getByLabel("Skip them").check();
		await dialog.getByRole("button", { name: "Resume" }).click();
		await expect(dialog).toHaveCount(0);
		expect((await shop.get(shop.path(`/webhooks/${id}`))).body).toMatchObject({
			status: "active",
			backlog: { events: 0 },
		});
	});
});

test.describe("after the last attempt", () => {
	test.use({ settings: { POSTHORN_RETRY_DELAYS: "0" } });

	test("after a replay, the drawer shows the replay's attempt", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		const receiver = await shop.receiver();
		receiver.respondWith(() => ({ status: 400, body: '{"error":"Invalid signature"}' }));
		await shop.webhook(receiver.url("/hooks"));
		await shop.post(shop.path("/events"), purchase(1));
		await expect.poll(async () => (await shop.get(shop.path("/attempts/count?status=failed"))).body.count).toBe(1);
		const [attempt] = (await shop.get(shop.path("/attempts/summaries"))).body.data;
		await dashboard.enter(page);
		await page.goto(dashboard.project(`/logs/${attempt.id}`));
		const drawer = page.getByRole("dialog", { name: /^purchase\.completed/ });
		await expect(drawer).toContainText("says that the signature is invalid");
		receiver.respondWith(() => ({ status: 200 }));
		await page.keyboard.press("r");
		await expect(page.getByRole("dialog", { name: "Replay", exact: true }).getByText("again?")).toBeVisible();
		await page.keyboard.press("Enter");
		await expect(drawer).toContainText("Delivered on the first attempt");
		expect(page.url()).not.toContain(attempt.id);
	});
});

test("attempts of a deleted webhook keep its name", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	const { id } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting of the store" });
	await shop.post(shop.path("/events"), purchase(1));
	await receiver.count(1);
	await expect.poll(async () => (await shop.get(shop.path("/attempts/count"))).body.count).toBe(1);
	await shop.delete(shop.path(`/webhooks/${id}`));
	await dashboard.enter(page);
	await page.goto(dashboard.project("/logs?view=attempts"));
	const name = "Accounting of the store (deleted)";
	const shown = page.getByText(name).filter({ visible: true });
	await expect(page.getByRole("table", { name: "Attempts" }).getByText(name)).toBeVisible();
	// "(deleted)" was cut off.
	for (const width of [1280, 800, 390, 320]) {
		await page.setViewportSize({ width, height: 844 });
		// The table becomes cards a moment later, so both are measured at once.
		const isMarkInside = () =>
			shown.evaluate((all) => {
				const mark = [...all.querySelectorAll("*")].find(({ textContent }) => textContent.trim() === "(deleted)");
				const [outer, inner] = [all.getBoundingClientRect(), mark?.getBoundingClientRect()];
				return inner !== undefined && inner.width > 0 && inner.right <= outer.right && inner.bottom <= outer.bottom;
			});
		await expect.poll(isMarkInside, `at ${width}`).toBe(true);
	}
	await page.setViewportSize({ width: 1280, height: 900 });
	await page.goto(dashboard.project(`/logs?view=attempts&webhook_id=${id}`));
	await expect(page.getByText(`1 attempt to ${name}.`)).toBeVisible();
	await page.getByRole("link", { name: "purchase.completed" }).click();
	await expect(page.getByRole("dialog").getByRole("definition").filter({ hasText: name })).toBeVisible();
});

test.describe("with a retry in an hour", () => {
	test.use({ settings: { POSTHORN_RETRY_DELAYS: "3600" } });

	for (const minutes of [-10, 10]) {
		test(`a browser whose clock is ${minutes} minutes off reads the service's times`, async ({ dashboard, page }) => {
			const { shop } = dashboard;
			const receiver = await shop.receiver();
			receiver.respondWith(() => ({ status: 500 }));
			await shop.webhook(receiver.url("/hooks"));
			await shop.post(shop.path("/events"), purchase(1));
			await receiver.count(1);
			await expect.poll(async () => (await shop.get(shop.path("/attempts"))).body.data.length).toBe(1);
			await dashboard.setUp();
			await page.addInitScript(`{ const now = Date.now; Date.now = () => now() + ${minutes * 60_000}; }`);
			await dashboard.signIn(page);
			await page.goto(dashboard.project("/logs?view=attempts&span=hour"));
			const row = page.getByRole("table", { name: "Attempts" }).getByRole("row").nth(1);
			await expect(row).toContainText(/just now|\d+ s ago/);
			await expect(row).toContainText(/in (59|60) min|in 1 h/);
			await page.goto(dashboard.project("/webhooks"));
			await expect(page.getByRole("table", { name: "Webhooks" })).toContainText(/just now|\d+ s ago/);
		});
	}
});

/** Collects what screen readers would read out from now on, because it changes in a live region. */
const LISTEN = `
	globalThis.said = [];
	const polite = (node) => {
		const region = (node instanceof Element ? node : node.parentElement)?.closest("[aria-live]");
		return region != null && region.getAttribute("aria-live") !== "off";
	};
	new MutationObserver((changes) => {
		for (const { target } of changes) if (polite(target)) globalThis.said.push(target.textContent);
	}).observe(document, { subtree: true, childList: true, characterData: true });
`;

// Each new attempt was read out, twice.
test("screen readers don't announce each time that a log's counts grow", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await shop.webhook(receiver.url("/hooks"));
	await shop.post(shop.path("/events"), purchase(1));
	await receiver.count(1);
	await dashboard.enter(page);
	await page.goto(dashboard.project("/logs?view=attempts"));
	await expect(page.getByText("1 attempt in the log, newest first.")).toBeVisible();
	await expect(page.getByRole("button", { name: "Live updates: live" })).toBeVisible();
	await page.evaluate(LISTEN);
	const said = async () => ((await page.evaluate("said")) as string[]).join(" ");
	await shop.post(shop.path("/events"), purchase(2));
	await expect(page.getByText("2 attempts in the log, newest first.")).toBeVisible();
	await page.keyboard.press("j");
	await shop.post(shop.path("/events"), purchase(3));
	await expect(page.getByRole("button", { name: "1 newer attempt" })).toBeVisible();
	expect(await said()).toContain("1 newer attempt");
	await shop.post(shop.path("/events"), purchase(4));
	await expect(page.getByRole("button", { name: "2 newer attempts" })).toBeVisible();
	expect(await said()).not.toMatch(/2 newer|2 attempts/);
	// Another filter's result is announced.
	await page.getByRole("combobox", { name: "Outcomes" }).click();
	await choose(page.getByRole("option", { name: "Failed" }));
	await expect(page.getByText("No attempt that failed for good.")).toBeVisible();
	expect(await said()).toContain("No attempt that failed for good.");
});

test.describe("with a retry soon", () => {
	test.use({ settings: { POSTHORN_RETRY_DELAYS: "50,3600" } });

	// "in 48 s", "in 47 s" … interrupted everything else.
	test("screen readers announce a webhook's state, not what only time changes", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		const receiver = await shop.receiver();
		const { id } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
		await shop.post(shop.path("/events"), purchase(1));
		await receiver.count(1);
		await dashboard.enter(page);
		await page.clock.install();
		await page.goto(dashboard.project(`/webhooks/${id}`));
		const sentence = page.getByText(/^Healthy\. 1 delivery accepted/);
		await expect(page.getByRole("button", { name: "Live updates: live" })).toBeVisible();
		await page.clock.runFor(5_000);
		const before = await sentence.innerText();
		await page.evaluate(LISTEN);
		await page.clock.runFor(5_000);
		await expect(sentence).not.toHaveText(before);
		expect(await page.evaluate("said")).toEqual([]);
		receiver.respondWith(() => ({ status: 500 }));
		for (const n of [2, 3]) await shop.post(shop.path("/events"), purchase(n));
		await expect(async () => {
			await page.clock.runFor(1_000);
			await expect(page.getByText("Unstable", { exact: true })).toBeVisible({ timeout: 500 });
		}).toPass();
		expect(await page.evaluate("said")).toContain("Unstable");

		const [attempt] = (await shop.get(shop.path("/attempts/summaries?status=retrying"))).body.data;
		await page.goto(dashboard.project(`/logs/${attempt.id}`));
		const next = page.getByText(/^in \d+ s$/).last();
		await expect(next).toBeVisible();
		await page.evaluate(LISTEN);
		const due = await next.innerText();
		await page.clock.runFor(3_000);
		await expect(next).not.toHaveText(due);
		expect(await page.evaluate("said")).toEqual([]);
	});
});

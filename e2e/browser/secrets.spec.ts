import { purchase } from "../shop.ts";
import { expect, expectAccessible, test } from "./dashboard.ts";

test.use({ viewport: { width: 1280, height: 720 } });

test("a webhook's secret survives a reload until it is stored, and then is gone", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await dashboard.enter(page);
	await page.goto(dashboard.project("/webhooks/new"));
	await page.getByLabel("URL").fill(receiver.url("/hooks"));
	await page.getByLabel("purchase.completed", { exact: true }).check();
	await page.getByRole("button", { name: "Create webhook" }).click();
	const dialog = page.getByRole("dialog", { name: "Webhook created: store its signing secret" });
	const secret = (await dialog.getByTestId("secret").textContent()) ?? "";
	expect(secret).toMatch(/^whsec_/);
	// "Done" was below the fold.
	await expect(dialog.getByRole("button", { name: "Done" })).toBeInViewport({ ratio: 1 });
	await expect(dialog.getByLabel("I've stored it")).toBeInViewport({ ratio: 1 });
	await expectAccessible(page);

	await page.reload();
	await expect(dialog.getByTestId("secret")).toHaveText(secret);
	await dialog.getByLabel("I've stored it").check();
	await dialog.getByRole("button", { name: "Done" }).click();
	await expect(dialog).toHaveCount(0);
	await page.reload();
	await expect(page.getByRole("tab", { name: "Verify" })).toBeVisible();
	await expect(dialog).toHaveCount(0);
	expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))).not.toContain(secret);
	expect((await shop.get(shop.path("/webhooks"))).body.data).toHaveLength(1);

	// The receiver's code stays within reach.
	await page.getByRole("tab", { name: "Verify" }).click();
	for (const name of ["@posthorn/webhooks", "posthorn verify"])
		await expect(page.getByText(name, { exact: true })).toBeVisible();
	const isCut = (pre: { scrollWidth: number; clientWidth: number }) => pre.scrollWidth > pre.clientWidth;
	expect(await page.getByLabel("TypeScript receiver", { exact: true }).evaluate(isCut)).toBe(false);
	await page.getByRole("tab", { name: "Python" }).click();
	await expect(page.getByLabel("Python receiver", { exact: true })).toContainText("hmac");
	await expectAccessible(page);
});

// Its page had a green badge above the reason why nothing is sent, and all others said that it was healthy.
test("a webhook whose secret can't be read isn't shown as healthy", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const [receiver, others] = [await shop.receiver(), await shop.receiver()];
	receiver.respondWith(() => ({ status: 500 }));
	const { id } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
	await shop.webhook(others.url("/others"), { description: "Shipping" });
	await shop.post(shop.path("/events"), purchase(1));
	await expect.poll(async () => (await shop.get(shop.path("/attempts/count"))).body.count).toBe(2);
	await dashboard.enter(page);
	const unreadable = (webhook: { id: string }) =>
		webhook.id === id ? { ...webhook, secret_state: "unreadable" } : webhook;
	await page.route(`**/v1/**/webhooks/${id}`, async (route) => {
		const response = await route.fetch();
		await route.fulfill({ response, json: unreadable(await response.json()) });
	});
	await page.route(/\/webhooks(\?.*)?$/, async (route) => {
		if (!route.request().url().includes("/v1/")) return route.continue();
		const response = await route.fetch();
		const list = await response.json();
		await route.fulfill({ response, json: { ...list, data: list.data.map(unreadable) } });
	});
	await page.route("**/webhooks/health*", async (route) => {
		const response = await route.fetch();
		const list = await response.json();
		const waiting = { count: 2, tests: 0, next_at: new Date(Date.now() + 3_600_000).toISOString() };
		const failing = (health: { webhook_id: string }) =>
			health.webhook_id === id ? { ...health, state: "failing", waiting } : health;
		await route.fulfill({ response, json: { ...list, data: list.data.map(failing) } });
	});
	await page.route("**/incidents*", async (route) => {
		const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
		const deliveries = { count: 2, capped: false, delivered: 0, waiting: 2, failed: 0, dismissed: 0 };
		const times = { started_at: ago(9), ended_at: ago(5), failures_since: ago(9), failures_until: ago(5) };
		const counts = { failed_attempts: 3, delivered_attempts: 0, status_code: 500, error_code: null };
		const incident = { webhook_id: id, state: "over", ...times, ...counts, deliveries };
		const json = { data: [{ ...incident, last_delivered_at: null, next_retry_at: null }] };
		await route.fulfill({ json });
	});
	await page.goto(dashboard.project());
	const attention = page
		.getByRole("listitem")
		.filter({ has: page.getByRole("link", { name: "How to fix it: Accounting" }) });
	await expect(attention).toContainText("Nothing is sent: the service can't read its signing secret.");
	await expect(attention).not.toContainText(/attempts|delivered/);
	// It also said when the next one is.
	await expect(attention).toContainText("2 deliveries wait for a retry.");
	await expect(
		page.getByText(
			/^Nothing is sent to .*Accounting.*: the service can't read its signing secret\. The other webhook is healthy\./,
		),
	).toBeVisible();
	// Its retry had a time, too, and could be sent now.
	const retry = page.getByRole("listitem").filter({ hasText: "attempt 2 of 8" });
	await expect(retry).toContainText("once it can be signed");
	await expect(page.getByText("the next attempt is")).toHaveCount(0);
	await expect(page.getByText("2 deliveries held up, both waiting.")).toBeVisible();
	await expect(page.getByRole("button", { name: /^Retry/ })).toHaveCount(0);
	await expectAccessible(page);
	for (const view of ["", "&view=attempts"]) {
		await page.goto(dashboard.project(`/logs?webhook_id=${id}${view}`));
		await expect(page.getByRole("cell", { name: "once it can be signed" })).toBeVisible();
		await expect(page.getByRole("button", { name: /^Retry/ })).toHaveCount(0);
	}
	const [{ id: attempt }] = (await shop.get(shop.path(`/attempts?webhook_id=${id}`))).body.data;
	await page.goto(dashboard.project(`/logs/${attempt}`));
	const drawer = page.getByRole("dialog");
	await expect(drawer).toContainText("The next attempt is made once the service can sign it");
	// It promised retries, or a button for them.
	await expect(drawer).toContainText("restore or rotate the signing secret");
	await expect(drawer.getByRole("button", { name: /^Retry now/ })).toHaveCount(0);
	// It was listed like those that get a sample immediately.
	await page.goto(dashboard.project("/webhooks"));
	await page.getByRole("button", { name: "Publish a sample" }).click();
	await expect(page.getByRole("dialog").getByText(/Accounting.*once it can be signed/)).toBeVisible();
	for (const width of [1280, 390]) {
		await page.setViewportSize({ width, height: 900 });
		await page.goto(dashboard.project("/webhooks"));
		await expect(page.getByText("2 webhooks, 1 is failing.")).toBeVisible();
		const row = page.getByRole(width === 390 ? "listitem" : "row").filter({ hasText: "Accounting" });
		await expect(row).toContainText("No secret");
		await expect(row).not.toContainText("Healthy");
		await expectAccessible(page);
		await page.goto(dashboard.project(`/webhooks/${id}`));
		await expect(page.getByRole("region", { name: "What is wrong" })).toBeVisible();
		await expect(page.getByText("No secret", { exact: true })).toBeVisible();
		await expect(page.getByText("Healthy", { exact: true })).toHaveCount(0);
		await expectAccessible(page);
	}
	// Before the first attempt, its list of attempts suggested a test, for which there is no button.
	await page.route("**/attempts/summaries*", (route) => route.fulfill({ json: { data: [], next_cursor: null } }));
	await page.reload();
	const cause = "because the service can't read the webhook's signing secret.";
	await expect(page.getByText(`Nothing has been sent yet, ${cause}`)).toBeVisible();
	await expect(page.getByText("Send a test event")).toHaveCount(0);
});

// It only said that it was paused, and offered to resume it.
test("a webhook whose secret was lost says what to do, until it is rotated", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	const { id } = await shop.webhook(receiver.url("/hooks"));
	await shop.patch(shop.path(`/webhooks/${id}`), { status: "paused" });
	await dashboard.enter(page);
	let state = "lost";
	await page.route(`**/v1/**/webhooks/${id}`, async (route) => {
		const response = await route.fetch();
		await route.fulfill({ response, json: { ...(await response.json()), secret_state: state } });
	});
	await page.goto(dashboard.project(`/webhooks/${id}`));
	const banner = page.getByRole("region", { name: "What is wrong" });
	await expect(banner).toContainText("discarded, because the service's seal key was lost");
	await expect(banner).toContainText("give the new one to the receiver, then resume the webhook");
	await expect(page.getByRole("button", { name: "Resume" })).toHaveCount(0);
	await expectAccessible(page);

	state = "usable";
	// It only led to the settings, to a button far below.
	await banner.getByRole("button", { name: "Rotate signing secret" }).click();
	await page.getByRole("button", { name: "Rotate now" }).click();
	await expect(page.getByTestId("secret")).toHaveText(/^whsec_/);
	await page.getByLabel("I've stored it").check();
	await page.getByRole("button", { name: "Done", exact: true }).click();
	await expect(banner).toHaveCount(0);
	await expect(page.getByRole("button", { name: "Resume" }).first()).toBeVisible();
});

// Only keys that may read had one.
test("a new key comes with a command to try it, which publishes a sample once", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await shop.webhook(receiver.url("/hooks"), { events: ["delivery.success"] });
	await dashboard.enter(page);
	await page.goto(dashboard.project("/api-keys"));
	await page.getByRole("button", { name: "New key" }).first().click();
	const dialog = page.getByRole("dialog");
	await dialog.getByRole("textbox", { name: "Name" }).fill("Shop server");
	await dialog.getByRole("button", { name: "Create key" }).click();
	await expect(dialog).toContainText("Webhooks that receive delivery.success get it.");
	await expect(dialog.getByRole("button", { name: "Done" })).toBeInViewport({ ratio: 1 });
	await expect(dialog.getByRole("button", { name: "Copy key" })).toBeFocused();
	await expectAccessible(page);
	const command = (await dialog.getByLabel("command", { exact: true }).textContent()) ?? "";
	const [url, authorization, body] = [/curl '(\S+)'/, /Authorization: ([^']+)'/, /-d '([^']+)'/].map(
		(pattern) => pattern.exec(command)?.[1] ?? "",
	);
	const headers = { authorization: authorization!, "content-type": "application/json" };
	for (let run = 1; run <= 2; run++)
		expect((await fetch(url!, { method: "POST", headers, body: body! })).status).toBe(202);
	expect((await receiver.next()).body).toMatchObject({ id: expect.stringMatching(/^evt_sample_/) });
	expect((await shop.get(shop.path("/events"))).body.data).toHaveLength(1);
});

test("a kept secret ends after ten minutes, with the session, and for other accounts", async ({ dashboard, page }) => {
	await dashboard.enter(page);
	const create = async (name: string): Promise<void> => {
		await page.goto(dashboard.project("/api-keys"));
		await page.getByRole("button", { name: "New key" }).first().click();
		await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill(name);
		await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
		await expect(page.getByTestId("secret")).toBeVisible();
	};
	const kept = () => page.evaluate(() => sessionStorage.getItem("posthorn-shown-secret"));
	await create("First");
	await page.reload();
	await expect(page.getByRole("dialog", { name: "Your new key: First" })).toBeVisible();
	await page.evaluate(() => {
		const value = JSON.parse(sessionStorage.getItem("posthorn-shown-secret") ?? "");
		sessionStorage.setItem("posthorn-shown-secret", JSON.stringify({ ...value, at: value.at - 600_000 }));
	});
	await page.reload();
	await expect(page.getByRole("row", { name: /First/ })).toBeVisible();
	await expect(page.getByTestId("secret")).toHaveCount(0);
	expect(await kept()).toBeNull();

	await create("Second");
	await page.evaluate(() => {
		const value = JSON.parse(sessionStorage.getItem("posthorn-shown-secret") ?? "");
		sessionStorage.setItem("posthorn-shown-secret", JSON.stringify({ ...value, account: "acc_another" }));
	});
	await page.reload();
	await expect(page.getByRole("row", { name: /Second/ })).toBeVisible();
	await expect(page.getByTestId("secret")).toHaveCount(0);
	expect(await kept()).toBeNull();

	await create("Third");
	await page.context().clearCookies();
	await page.reload();
	await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
	expect(await kept()).toBeNull();
});

// Every page of a project broke.
for (const [what, script] of [
	["isn't allowed", "{ get() { throw new DOMException('denied', 'SecurityError'); } }"],
	["is missing", "{ value: null }"],
] as const)
	test(`a new key is shown where session storage ${what}`, async ({ dashboard, page }) => {
		await dashboard.enter(page);
		await page.addInitScript(`Object.defineProperty(window, "sessionStorage", ${script})`);
		await page.goto(dashboard.project("/api-keys"));
		await page.getByRole("button", { name: "New key" }).first().click();
		await page.getByLabel("Name").fill("Shop");
		await page.getByRole("button", { name: "Create key" }).click();
		await expect(page.getByRole("dialog").getByTestId("secret")).toHaveText(/^phk_/);
		await page.reload();
		await expect(page.getByRole("heading", { level: 1, name: "API Keys" })).toBeVisible();
		await expect(page.getByText("1 key can use the API.")).toBeVisible();
		await page.getByRole("button", { name: /Account of/ }).click();
		await page.getByRole("menuitem", { name: "Sign out" }).press("Enter");
		await expect(page.getByRole("heading", { level: 1, name: "Sign in" })).toBeVisible();
	});

// Over HTTP, browsers have no clipboard for pages. The buttons did nothing there, and didn't say so.
test("a new key and a curl command are copied over HTTP, too, and a refusal is shown", async ({ dashboard, page }) => {
	await dashboard.failing("Accounting", 1);
	await dashboard.enter(page);
	await page.addInitScript("delete Navigator.prototype.clipboard");
	await page.goto(dashboard.project("/api-keys"));
	await page.getByRole("button", { name: "New key" }).first().click();
	await page.getByLabel("Name").fill("Shop");
	await page.getByRole("button", { name: "Create key" }).click();
	const dialog = page.getByRole("dialog");
	const key = await dialog.getByTestId("secret").innerText();
	await dialog.getByRole("button", { name: "Copy key" }).click();
	await expect(dialog.getByRole("button", { name: "Copied" })).toBeFocused();
	await dialog.getByText("I've stored it").click();
	await dialog.getByRole("button", { name: "Done" }).click();
	const field = page.getByRole("textbox", { name: "Find an id, order or customer" });
	await field.focus();
	await page.keyboard.press("ControlOrMeta+V");
	await expect(field).toHaveValue(key);

	const [{ id }] = (await dashboard.shop.get(dashboard.shop.path("/attempts"))).body.data;
	await page.goto(dashboard.project(`/logs/${id}`));
	await expect(page.getByRole("heading", { name: "Request" })).toBeVisible();
	await page.keyboard.press("c");
	await expect(page.getByText(/^Copied as a curl command\./)).toBeVisible();
	await page.evaluate("document.execCommand = () => false");
	await page.getByRole("button", { name: "Copy as curl" }).click();
	await expect(page.getByRole("button", { name: "Copying isn't allowed here" })).toBeVisible();
	await page.keyboard.press("c");
	await expect(page.getByText("The browser doesn't allow copying here.")).toBeVisible();
});

// The page waited for the list first. Reloading it in the meantime lost the secret.
test("new secrets are shown while the lists that they belong to are loaded", async ({ dashboard, page }) => {
	await dashboard.enter(page);
	/** Holds requests for lists until the returned function is called. */
	const hold = async () => {
		const { promise, resolve } = Promise.withResolvers<void>();
		await page.route(/\/(?:api-keys|invitations)(?:\?.*)?$/, async (route) => {
			if (route.request().method() === "GET") await promise;
			await route.fallback();
		});
		return resolve;
	};
	const secret = page.getByTestId("secret");
	await page.goto(dashboard.project("/api-keys"));
	await page.getByRole("button", { name: "New key" }).click();
	await page.getByRole("textbox", { name: "Name" }).fill("Shop server");
	const release = await hold();
	await page.getByRole("button", { name: "Create key" }).click();
	await expect(secret).toContainText("phk_");
	release();
	await page.getByRole("checkbox", { name: "I've stored it" }).check();
	await page.getByRole("button", { name: "Done" }).click();

	await page.goto(dashboard.project("/members"));
	await page.getByRole("button", { name: "Invite" }).click();
	const releaseAgain = await hold();
	await page.getByRole("button", { name: "Create link" }).click();
	await expect(secret).toContainText("/invitation#");
	releaseAgain();
});

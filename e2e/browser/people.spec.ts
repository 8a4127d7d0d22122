import type { Browser, Page } from "@playwright/test";
import { choose, type Dashboard, expect, expectAccessible, PASSWORD, test } from "./dashboard.ts";

/** Invites someone by link, who creates an account in another browser. */
async function invite(dashboard: Dashboard, browser: Browser, page: Page, role: string, email: string): Promise<Page> {
	await page.goto(dashboard.project("/members"));
	await page.getByRole("button", { name: "Invite" }).click();
	const dialog = page.getByRole("dialog");
	// The button that closes it had the focus.
	await expect(dialog.getByRole("radio", { name: "Developer" })).toBeFocused();
	await dialog.getByRole("radio", { name: new RegExp(role, "i") }).check();
	await expectAccessible(page);
	await dialog.getByRole("button", { name: "Create link" }).click();
	// It once was "in 6 d".
	await expect(dialog).toContainText("It works once and expires in 7 days.");
	const url = (await dialog.getByTestId("secret").textContent()) ?? "";

	const context = await browser.newContext();
	const theirs = await context.newPage();
	await theirs.goto(url);
	await theirs.getByLabel("Your name").fill(`The ${role}`);
	await theirs.getByLabel("E-mail").fill(email);
	await theirs.getByLabel(/^Password/).fill(PASSWORD);
	await expectAccessible(theirs);
	await theirs.getByRole("button", { name: /join/i }).click();
	await expect(theirs).toHaveURL(/\/p\//);
	return theirs;
}

test("someone who accepts an invitation appears while the page is open, and it can't be revoked any more", async ({
	dashboard,
	page,
}) => {
	const { shop } = dashboard;
	await dashboard.enter(page);
	const invite = async () => new URL((await shop.post(shop.path("/invitations"), { role: "viewer" })).body.url).hash;
	const accept = async (hash: string, name: string) => {
		const body = { token: hash.slice(1), email: dashboard.address(name), name, password: PASSWORD };
		expect((await shop.call("POST", "/v1/invitations/accept", JSON.stringify(body))).status).toBe(200);
	};
	const invitation = page.getByRole("row", { name: /Anyone with the link/ });
	const member = (name: string) => page.getByRole("row", { name });
	const [first, second, third] = [await invite(), await invite(), await invite()];
	await page.clock.install();
	await page.goto(dashboard.project("/members"));
	await expect(invitation).toHaveCount(3);
	// It was "in 7 d".
	await expect(invitation.first()).toContainText("in 7 days");
	// Both lists stayed as they were until someone reloaded the page.
	await accept(first, "Vera");
	await expect(async () => {
		await page.clock.fastForward(15_000);
		await expect(invitation).toHaveCount(2, { timeout: 1_000 });
		await expect(member("Vera")).toBeVisible({ timeout: 1_000 });
	}).toPass();

	// The timers are still, so only the focus can be why they are loaded again.
	await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1_000);
	await accept(second, "Dave");
	const loaded = page.waitForResponse("**/invitations");
	await page.evaluate(`document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))`);
	await loaded;
	await page.clock.resume();
	await expect(invitation).toHaveCount(1);
	await expect(member("Dave")).toBeVisible();

	// It said that there was no such invitation, over the row that named it.
	await invitation.getByRole("button", { name: "Revoke" }).click();
	await accept(third, "Oda");
	await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
	await expect(page.getByText("This invitation has been used or revoked already.")).toBeVisible();
	await expect(page.getByRole("dialog")).toHaveCount(0);
	await expect(invitation).toHaveCount(0);
	await expect(member("Oda")).toBeVisible();
});

/** Someone who joins a project in another browser, and watches a page of it that updates live. */
async function watcher(dashboard: Dashboard, browser: Browser, name: string): Promise<{ page: Page; account: string }> {
	const { shop } = dashboard;
	const email = dashboard.address(name);
	const token = new URL((await shop.post(shop.path("/invitations"), { role: "viewer" })).body.url).hash.slice(1);
	const body = { token, email, name, password: PASSWORD };
	expect((await shop.call("POST", "/v1/invitations/accept", JSON.stringify(body))).status).toBe(200);
	const members: { account_id: string; email: string }[] = (await shop.get(shop.path("/members"))).body.data;
	const page = await (await browser.newContext()).newPage();
	await dashboard.signIn(page, email);
	await page.goto(dashboard.project("/webhooks"));
	await expect(page.getByRole("button", { name: "Live updates: live" })).toBeVisible();
	return { page, account: members.find((member) => member.email === email)!.account_id };
}

// The page said "Not live", and kept what it showed, until someone reloaded it.
test("someone who is removed while they watch a page sees that their access has ended", async ({
	dashboard,
	browser,
}) => {
	const { shop } = dashboard;
	await dashboard.setUp();
	await shop.webhook("https://example.com/hooks", { description: "Accounting" });
	const { page, account } = await watcher(dashboard, browser, "vera");
	await expect(page.getByText("Accounting")).toBeVisible();
	expect((await shop.delete(shop.path(`/members/${account}`))).status).toBe(204);
	await expect(page.getByRole("heading", { name: "You no longer have access to A store" })).toBeVisible();
	await expect(page.getByText("ask one of its owners for an invitation")).toBeVisible();
	await expect(page.getByText("Accounting")).toHaveCount(0);
	await expectAccessible(page);
	await page.getByRole("link", { name: "Go to your projects" }).click();
	await expect(page.getByRole("heading", { level: 1, name: "Projects" })).toBeVisible();
});

// They appeared once the page was loaded again.
test("someone whose role is raised while they watch a page gets its buttons", async ({ dashboard, browser }) => {
	const { shop } = dashboard;
	await dashboard.setUp();
	const { page, account } = await watcher(dashboard, browser, "rosa");
	await page.clock.install();
	await page.reload();
	await expect(page.getByRole("heading", { level: 1, name: "Webhooks" })).toBeVisible();
	const create = page.getByRole("link", { name: "New webhook" });
	await expect(create).toHaveCount(0);
	expect((await shop.patch(shop.path(`/members/${account}`), { role: "developer" })).status).toBe(200);
	await page.clock.runFor(15_000);
	await expect(create.first()).toBeVisible();
});

test("someone whose session ends while they watch a page is asked to sign in again, and returns to it", async ({
	dashboard,
	browser,
}) => {
	await dashboard.setUp();
	const { page } = await watcher(dashboard, browser, "otto");
	const elsewhere = await browser.newContext();
	await dashboard.signIn(await elsewhere.newPage(), dashboard.address("otto"));
	const { request } = elsewhere;
	const { csrf_token } = await (await request.get(`${dashboard.url}/v1/session`)).json();
	const headers = { "X-CSRF-Token": csrf_token, Origin: dashboard.url };
	expect((await request.delete(`${dashboard.url}/v1/account/sessions`, { headers })).status()).toBe(204);
	await expect(page.getByText("Your session has ended.")).toBeVisible();
	await expectAccessible(page);
	await page.getByLabel("E-mail").fill(dashboard.address("otto"));
	await page.getByLabel(/^Password/).fill(PASSWORD);
	await page.getByRole("button", { name: "Sign in" }).click();
	await expect(page).toHaveURL(dashboard.project("/webhooks"));
});

/** What a viewer may not do. */
const FOR_DEVELOPERS = /^(New|Publish|Send|Replay|Retry|Dismiss|Revoke|Invite|Install|Remove|Find out|Save)/;

test("a viewer sees everything but secrets and can't change anything, in the dashboard or the API", async ({
	dashboard,
	browser,
	page,
}) => {
	const { shop } = dashboard;
	await dashboard.failing("Accounting", 1);
	const [{ id }] = (await shop.get(shop.path("/webhooks"))).body.data;
	await shop.patch(shop.path(`/webhooks/${id}`), { url: "https://example.com/hooks" });
	await shop.post(shop.path("/api-keys"), { name: "Shop server" });
	const [attempt] = (await shop.get(shop.path("/attempts/summaries"))).body.data;
	await dashboard.enter(page);
	const email = dashboard.address("vera");
	const viewer = await invite(dashboard, browser, page, "viewer", email);

	// Why buttons were disabled was only in tooltips, which neither a keyboard nor a finger reaches.
	for (const [path, can] of [
		["", "developers and owners can create webhooks, retry and replay"],
		["/apps", "owners can install and remove apps"],
		["/webhooks", "developers and owners can create webhooks and publish samples"],
		["/webhooks/new", "developers and owners can create webhooks"],
		[`/webhooks/${id}`, "developers and owners can send test events, retry, replay and change settings"],
		[`/webhooks/${id}?tab=verify`, "developers and owners can find out here why a receiver refuses a signature"],
		["/api-keys", "developers and owners can create and revoke keys"],
		["/logs", "developers and owners can retry, replay and dismiss"],
		["/logs?view=attempts", "developers and owners can retry, replay and dismiss"],
		[`/logs/${attempt.id}`, "developers and owners can send it again or dismiss it"],
		["/members", "owners can invite and remove others"],
	] as const) {
		await viewer.goto(dashboard.project(path));
		await expect(viewer.getByText(`Only the project's ${can}.`), path).toBeVisible();
		await expect(viewer.locator("[aria-busy=true]")).toHaveCount(0);
		await expect(viewer.locator("button:disabled"), path).toHaveCount(0);
		await expect(viewer.locator("main").getByRole("button", { name: FOR_DEVELOPERS }), path).toHaveCount(0);
		if (path === "/webhooks/new") await expectAccessible(viewer);
	}

	await viewer.goto(dashboard.project(`/webhooks/${id}?tab=settings`));
	await expect(viewer.getByText(/Only the project's developers and owners can .* change settings\./)).toBeVisible();
	const url = viewer.getByRole("textbox", { name: "URL" });
	await expect(url).toHaveValue("https://example.com/hooks");
	await expect(url).toBeEnabled();
	await expect(url).toHaveAttribute("readonly");
	for (const name of ["Rotate signing secret", "Pause", "Delete webhook"])
		await expect(viewer.getByRole("button", { name, exact: true })).toHaveCount(0);
	await expectAccessible(viewer);
	const statuses = await viewer.evaluate(
		async (webhook) => {
			const session = (await (await fetch("/v1/session")).json()) as { csrf_token: string };
			const send = async (method: string, path: string, body?: unknown): Promise<number> => {
				const headers = { "X-CSRF-Token": session.csrf_token, "Content-Type": "application/json" };
				const answer = await fetch(path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
				return answer.status;
			};
			const project = webhook.split("/webhooks/")[0]!;
			return [
				await send("GET", webhook),
				await send("PATCH", webhook, { description: "Mine" }),
				await send("POST", `${webhook}/rotate-secret`),
				await send("DELETE", webhook),
				await send("POST", `${project}/api-keys`, { name: "Mine" }),
				await send("GET", `${project}/audit`),
				await send("DELETE", `${project}/apps/developer`),
			];
		},
		shop.path(`/webhooks/${id}`),
	);
	expect(statuses).toEqual([200, 403, 403, 403, 403, 403, 403]);

	// Until the owner removes the access.
	await page.reload();
	await page.getByRole("button", { name: /Remove .*viewer/i }).click();
	await page
		.getByRole("dialog")
		.getByRole("button", { name: /remove/i })
		.click();
	await expect(page.getByText(email)).toHaveCount(0);
	expect(await viewer.evaluate(async (path) => (await fetch(path)).status, shop.path("/webhooks"))).toBe(404);
});

test("a developer can manage webhooks and keys, but not members", async ({ dashboard, browser, page }) => {
	await dashboard.enter(page);
	const developer = await invite(dashboard, browser, page, "developer", dashboard.address("dave"));
	await developer.goto(dashboard.project("/api-keys"));
	await developer.getByRole("button", { name: "New key" }).first().click();
	const dialog = developer.getByRole("dialog");
	await dialog.getByRole("textbox", { name: "Name" }).fill("Shop server");
	// A key could do everything unless someone unchecked it.
	await expect(dialog.getByRole("checkbox", { name: "Publish" })).toBeChecked();
	for (const more of ["Read", "Manage"]) {
		const scope = dialog.getByRole("checkbox", { name: more });
		await expect(scope).not.toBeChecked();
		await scope.check();
	}
	await dialog.getByRole("checkbox", { name: "Publish" }).uncheck();
	await dialog.getByRole("combobox", { name: "Expires" }).click();
	await choose(developer.getByRole("option", { name: "In 30 days" }));
	await expectAccessible(developer);
	await dialog.getByRole("button", { name: "Create key" }).click();
	const key = (await dialog.getByTestId("secret").textContent()) ?? "";
	expect(key).toMatch(/^phk_/);
	await expectAccessible(developer);
	await dialog.getByLabel("I've stored it").check();
	await dialog.getByRole("button", { name: "Done" }).click();
	const call = () =>
		fetch(dashboard.url + dashboard.shop.path("/webhooks"), { headers: { authorization: `Bearer ${key}` } });
	expect((await call()).status).toBe(200);
	const row = developer.getByRole("row", { name: /Shop server/ });
	for (const said of ["Read", "Manage", "by The developer", /^in 30 days$/])
		await expect(row.getByText(said)).toBeVisible();
	await expect(row.getByText("Publish")).toHaveCount(0);
	await expectAccessible(developer);
	expect(await developer.content()).not.toContain(key);

	await developer.getByRole("button", { name: /Revoke/ }).click();
	await expect(dialog).toBeVisible();
	const act = dialog.getByRole("button", { name: /Revoke/ });
	const confirmation = dialog.getByRole("textbox");
	if ((await confirmation.count()) > 0) await confirmation.fill("Shop server");
	await act.click();
	await expect(developer.getByRole("row", { name: /Shop server/ })).toHaveCount(0);
	expect((await call()).status).toBe(401);

	await developer.goto(dashboard.project("/members"));
	await expect(developer.getByText("Only the project's owners can invite and remove others.")).toBeVisible();
	await expect(developer.getByRole("button", { name: "Invite" })).toHaveCount(0);

	// The audit log has all of it.
	await page.goto(dashboard.project("/audit"));
	for (const said of [/The developer.*joined/, /The developer created the API key Shop server/i, /revoked/])
		await expect(page.getByText(said).first()).toBeVisible();
	await expectAccessible(page);
});

// An owner had to read the whole log.
test("an owner finds who changed a webhook, and what someone did", async ({ dashboard, browser, page }) => {
	const { shop } = dashboard;
	const ids: string[] = [];
	for (const description of ["Accounting", "Shipping"])
		ids.push((await shop.webhook("https://localhost/hooks", { description })).id);
	const [accounting, shipping] = ids;
	await dashboard.enter(page);
	const developer = await invite(dashboard, browser, page, "developer", dashboard.address("dan"));
	await developer.goto(dashboard.project(`/webhooks/${accounting}?tab=settings`));
	await developer.getByRole("textbox", { name: "Description" }).fill("Books");
	await developer.getByRole("button", { name: "Save" }).first().click();
	await expect(developer.getByRole("heading", { name: "Books", level: 1 })).toBeVisible();
	// Only owners can read the log.
	await expect(developer.getByRole("link", { name: "Who changed this webhook" })).toHaveCount(0);
	await developer.context().close();

	await page.goto(dashboard.project(`/webhooks/${accounting}?tab=settings`));
	await page.getByRole("link", { name: "Who changed this webhook" }).click();
	const entries = page.getByRole("main").getByRole("listitem");
	await expect(entries).toHaveText([
		/The developer changed the description of the webhook Books, from Accounting to Books/,
		/The operator's key created the webhook Accounting/,
	]);
	await expect(page.getByRole("combobox", { name: "Webhook" })).toHaveValue("Books");
	await expectAccessible(page);

	const who = page.getByRole("combobox", { name: "Changed by" });
	await who.click();
	await choose(page.getByRole("option", { name: "The operator's key" }));
	await expect(entries).toHaveText([/The operator's key created the webhook Accounting/]);
	await page.reload();
	await expect(entries).toHaveCount(1);
	await expect(who).toHaveValue("The operator's key");
	await page.getByRole("combobox", { name: "Webhook" }).click();
	await choose(page.getByRole("option", { name: "Shipping" }));
	await expect(entries).toHaveText([/The operator's key created the webhook Shipping/]);
	await who.click();
	await choose(page.getByRole("option", { name: "The developer" }));
	await expect(page.getByRole("heading", { name: "Nothing found" })).toBeVisible();
	await page.getByRole("button", { name: "Show everything" }).click();
	await expect(entries).toHaveText([/./, /The developer joined the project/, /./, /./, /./, /./]);

	// A deleted one's page leads there, too, where it keeps its name.
	await shop.delete(shop.path(`/webhooks/${shipping}`));
	await page.goto(dashboard.project(`/webhooks/${shipping}`));
	await page.getByRole("link", { name: "Who changed it" }).click();
	await expect(entries).toHaveText([/deleted the webhook Shipping/, /created the webhook Shipping/]);
	await expect(page.getByRole("combobox", { name: "Webhook" })).toHaveValue(/Shipping/);
});

// They looked the same, and a member could pass for the operator.
test("filters tell webhooks with the same name apart, and people from keys", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const ends: string[] = [];
	for (const path of ["a", "b"])
		ends.push((await shop.webhook(`https://localhost/${path}`, { description: "Accounting" })).id.slice(-4));
	await dashboard.enter(page);
	const eve = { account_id: "acc_1", name: "The operator's key", email: "eve@example.com" };
	const member = { ...eve, role: "viewer", operator: false, added_at: new Date().toISOString() };
	await page.route("**/members*", (route) => route.fulfill({ json: { data: [member], next_cursor: null } }));
	const apart = (end: string) => page.getByRole("option", { name: new RegExp(`^Accounting \\(wh_.*${end}\\)$`) });
	await page.goto(dashboard.project("/audit"));
	await page.getByRole("combobox", { name: "Webhook" }).click();
	for (const end of ends) await expect(apart(end)).toBeVisible();
	await choose(apart(ends[1]!));
	await expect(page.getByRole("main").getByRole("listitem")).toHaveCount(1);
	// Nothing said that these are listed only without the filter.
	await expect(page.getByText("Doesn't include actions on single deliveries")).toBeVisible();
	await page.getByRole("combobox", { name: "Changed by" }).click();
	for (const [group, name] of [
		["People", "The operator's key (eve@example.com)"],
		["Keys", "The operator's key (operator_key)"],
	] as const)
		await expect(page.getByRole("group", { name: group }).getByRole("option", { name })).toBeVisible();
	await page.goto(dashboard.project("/logs?event_id=evt_1"));
	await page.getByRole("combobox", { name: "Webhooks" }).click();
	for (const end of ends) await expect(apart(end)).toBeVisible();
});

/** Creates an API key in the dashboard as a member. */
async function createKey(dashboard: Dashboard, member: Page, name: string): Promise<void> {
	await member.goto(dashboard.project("/api-keys"));
	await member.getByRole("button", { name: "New key" }).first().click();
	await member.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill(name);
	await member.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
	await member.getByLabel("I've stored it").check();
	await member.getByRole("button", { name: "Done" }).click();
}

test("removing or demoting a member shows the keys they created, and revokes those that are chosen", async ({
	dashboard,
	browser,
	page,
}) => {
	await dashboard.enter(page);
	const email = dashboard.address("dave");
	const developer = await invite(dashboard, browser, page, "developer", email);
	for (const name of ["Shop server", "Dave's laptop", "Dave's phone"]) await createKey(dashboard, developer, name);
	await dashboard.shop.post(dashboard.shop.path("/api-keys"), { name: "Someone else's" });

	await page.goto(dashboard.project("/members"));
	const dialog = page.getByRole("dialog");
	const role = page.getByRole("combobox", { name: "Role of The developer" });
	const chooseRole = async (name: string) => {
		await role.click();
		await choose(page.getByRole("option", { name }));
	};
	// As a viewer, they could have gone on with their keys, unnoticed.
	await chooseRole("Viewer");
	await expect(dialog).toContainText("The developer can see webhooks and the delivery log, but not change anything.");
	await expect(dialog.getByRole("checkbox")).toHaveCount(3);
	await expect(dialog).toContainText("Once a key is revoked, programs that use it are refused.");
	await expectAccessible(page);
	await dialog.getByRole("button", { name: "Cancel" }).click();
	await expect(role).toHaveValue("Developer");
	await chooseRole("Viewer");
	await dialog.getByRole("checkbox", { name: "Revoke Dave's phone" }).check();
	await dialog.getByRole("button", { name: "Make a viewer and revoke 1 key" }).click();
	await expect(page.getByText("The developer is now a viewer. 1 key is revoked.")).toBeVisible();
	await expect(role).toHaveValue("Viewer");
	await chooseRole("Developer");
	await expect(page.getByText("The developer is now a developer.")).toBeVisible();

	await page.getByRole("button", { name: "Remove The developer" }).click();
	await expect(dialog.getByRole("checkbox")).toHaveCount(2);
	await dialog.getByRole("checkbox", { name: "Revoke Dave's laptop" }).check();
	await expectAccessible(page);
	// A member about to be removed could keep access with another key.
	await createKey(dashboard, developer, "Dave's backdoor");
	await dialog.getByRole("button", { name: "Remove and revoke 1 key" }).click();
	await expect(page.getByText(/2 keys are revoked/)).toBeVisible();
	await expect(page.getByText(email)).toHaveCount(0);
	await page.goto(dashboard.project("/api-keys"));
	await expect(page.getByRole("row", { name: /Someone else's/ })).toBeVisible();
	await expect(page.getByRole("row", { name: /Shop server/ })).toBeVisible();
	await expect(page.getByRole("row", { name: /Dave's/ })).toHaveCount(0);
});

test("keys of a removed member that can't be revoked are named, and revoking them can be tried again", async ({
	dashboard,
	browser,
	page,
}) => {
	await dashboard.enter(page);
	const developer = await invite(dashboard, browser, page, "developer", dashboard.address("dave"));
	for (const name of ["Shop server", "Dave's laptop", "Dave's phone"]) await createKey(dashboard, developer, name);
	await page.goto(dashboard.project("/members"));
	const dialog = page.getByRole("dialog");
	await page.getByRole("button", { name: "Remove The developer" }).click();
	for (const name of ["Dave's laptop", "Dave's phone"])
		await dialog.getByRole("checkbox", { name: `Revoke ${name}` }).check();

	// The second revocation fails.
	let revocations = 0;
	const keys = "**/api-keys/*";
	await page.route(keys, (route) =>
		route.request().method() === "DELETE" && ++revocations === 2 ? route.abort() : route.fallback(),
	);
	await dialog.getByRole("button", { name: "Remove and revoke 2 keys" }).click();
	await expect(dialog).toContainText("Some API keys still work");
	await expect(dialog).toContainText(
		"The developer no longer has access, but an API key that they created still works:",
	);
	await expect(dialog.getByRole("listitem")).toHaveText([/^Dave's (laptop|phone) \(phk_.*…\)$/]);
	await expect(dialog.getByRole("alert")).toContainText("The service isn't responding");
	await expectAccessible(page);
	await dialog.getByRole("button", { name: "Try again" }).click();
	await expect(page.getByText("The developer no longer has access. 2 keys are revoked.")).toBeVisible();
	await expect(dialog).toHaveCount(0);
	await page.goto(dashboard.project("/api-keys"));
	await expect(page.getByRole("row", { name: /Shop server/ })).toBeVisible();
	await expect(page.getByRole("row", { name: /Dave's/ })).toHaveCount(0);
});

test("keys are kept if the last owner can't leave, and revoked if another member leaves", async ({
	dashboard,
	browser,
	page,
}) => {
	await dashboard.enter(page);
	const owner = await invite(dashboard, browser, page, "owner", dashboard.address("oda"));
	const leave = async (member: Page) => {
		await createKey(dashboard, member, "Laptop");
		await member.goto(dashboard.project("/members"));
		await member.getByRole("button", { name: "Leave the project" }).click();
		await member.getByRole("dialog").getByRole("checkbox", { name: "Revoke Laptop" }).check();
		await member.getByRole("dialog").getByRole("button", { name: "Leave and revoke 1 key" }).click();
	};
	await leave(owner);
	await expect(owner.getByRole("alert")).toContainText("A project needs an owner. Make someone else an owner first.");
	await page.goto(dashboard.project("/api-keys"));
	const laptop = page.getByRole("row", { name: /Laptop/ });
	await expect(laptop).toHaveCount(1);
	await expect(laptop).toContainText("by The owner");

	const developer = await invite(dashboard, browser, page, "developer", dashboard.address("dave"));
	await leave(developer);
	await expect(developer).toHaveURL(`${dashboard.url}/projects`);
	await page.goto(dashboard.project("/api-keys"));
	await expect(laptop).toHaveCount(1);
	await expect(laptop).toContainText("by The owner");

	// Another owner on a later page of members was overlooked, so the keys couldn't be revoked any more.
	await invite(dashboard, browser, page, "owner", dashboard.address("olaf"));
	const sizes = /\blimit=\d+/;
	await owner.route("**/members?*", (route, request) =>
		route.continue({ url: request.url().replace(sizes, "limit=1") }),
	);
	await owner.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
	await owner.reload();
	// It left out the operator, although it counts them if there are no members.
	await expect(owner.getByText("2 people and the operator have access to this project.")).toBeVisible();
	await owner.getByRole("button", { name: "Leave the project" }).click();
	await owner.getByRole("dialog").getByRole("checkbox", { name: "Revoke Laptop" }).check();
	await owner.getByRole("dialog").getByRole("button", { name: "Leave and revoke 1 key" }).click();
	await expect(owner).toHaveURL(`${dashboard.url}/projects`);
	await page.goto(dashboard.project("/api-keys"));
	await expect(page.getByText("No keys yet")).toBeVisible();
});

test("every session can be ended from anywhere", async ({ dashboard, browser, page }) => {
	await dashboard.enter(page);
	const other = await (await browser.newContext()).newPage();
	await dashboard.signIn(other);
	await other.goto(dashboard.project());
	await page.goto(`${dashboard.url}/account`);
	await expectAccessible(page);
	// It said "since 3 s ago".
	const session = page.getByRole("listitem").filter({ hasText: "This session" });
	await expect(session).toContainText(/active now · signed in (just now|\d+ s ago)/);
	// A second click said that there was no such session.
	const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	await page.route("**/sessions/ses_*", async (route) => {
		asked.resolve();
		await held.promise;
		await route.continue();
	});
	const end = page.getByRole("button", { name: /^Sign out (?!of|everywhere)/ }).first();
	const sessions = await page.getByRole("listitem").filter({ hasText: "signed in" }).count();
	await end.click();
	await asked.promise;
	await expect(end).toBeDisabled();
	held.resolve();
	await expect(page.getByRole("listitem").filter({ hasText: "signed in" })).toHaveCount(sessions - 1);
	await page.getByRole("button", { name: "Sign out everywhere" }).click();
	await page
		.getByRole("dialog")
		.getByRole("button", { name: /sign out/i })
		.click();
	await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
	await other.reload();
	await expect(other.getByRole("heading", { name: "Sign in" })).toBeVisible();
});

// Both said "Not found", and the row stayed.
test("a key or session that has ended elsewhere meanwhile is gone once someone ends it", async ({
	dashboard,
	browser,
	page,
}) => {
	const { shop } = dashboard;
	const key = (await shop.post(shop.path("/api-keys"), { name: "Shop server" })).body;
	await dashboard.enter(page);
	await page.goto(dashboard.project("/api-keys"));
	await page.getByRole("button", { name: "Revoke Shop server" }).click();
	expect((await shop.delete(shop.path(`/api-keys/${key.id}`))).status).toBe(204);
	await page.getByRole("dialog").getByRole("button", { name: "Revoke key" }).click();
	await expect(page.getByText("Shop server was already revoked.")).toBeVisible();
	await expect(page.getByRole("dialog")).toHaveCount(0);
	await expect(page.getByText("No keys yet")).toBeVisible();

	const elsewhere = await browser.newContext({ userAgent: "Mozilla/5.0 (X11; Linux) Gecko/20100101 Firefox/140.0" });
	await dashboard.signIn(await elsewhere.newPage());
	await page.goto(`${dashboard.url}/account`);
	const end = page.getByRole("button", { name: "Sign out Firefox on Linux" });
	await expect(end).toBeVisible();
	const { csrf_token } = await (await elsewhere.request.get(`${dashboard.url}/v1/session`)).json();
	const headers = { "X-CSRF-Token": csrf_token, Origin: dashboard.url };
	expect((await elsewhere.request.delete(`${dashboard.url}/v1/session`, { headers })).status()).toBe(204);
	await end.click();
	await expect(page.getByText("Firefox on Linux was already signed out.")).toBeVisible();
	await expect(end).toHaveCount(0);
});

// While it joined, the page also showed the button for signed-in users. A click on it accepted twice, and failed.
test("the form of an invitation stays until it has signed in and joined", async ({ dashboard, browser }) => {
	const { shop } = dashboard;
	await dashboard.setUp();
	const invite = async () => (await shop.post(shop.path("/invitations"), { role: "viewer" })).body.url as string;
	const email = dashboard.address("vera");
	const account = { token: new URL(await invite()).hash.slice(1), email, name: "Vera", password: PASSWORD };
	expect((await shop.call("POST", "/v1/invitations/accept", JSON.stringify(account))).status).toBe(200);
	const page = await (await browser.newContext()).newPage();
	const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	await page.route("**/invitations/accept", async (route) => {
		asked.resolve();
		await held.promise;
		await route.continue();
	});
	await page.goto(await invite());
	await page.getByText("I have an account").click();
	await page.getByLabel("E-mail").fill(email);
	await page.getByLabel(/^Password/).fill(PASSWORD);
	const join = page.getByRole("button", { name: "Sign in and join" });
	await join.click();
	await asked.promise;
	await expect(join).toBeDisabled();
	await expect(page.getByRole("button", { name: "Join as Vera" })).toHaveCount(0);
	held.resolve();
	await expect(page).toHaveURL(/\/p\//);

	const other = await (await browser.newContext()).newPage();
	const invited = dashboard.address("otto");
	await other.goto((await shop.post(shop.path("/invitations"), { role: "owner", email: invited })).body.url);
	await other.getByText("I have an account").click();
	await other.getByLabel("E-mail").fill(email);
	await other.getByLabel(/^Password/).fill(PASSWORD);
	await other.getByRole("button", { name: "Sign in and join" }).click();
	await expect(other.getByRole("alert")).toContainText(`This invitation is for ${invited}`);
	await expect(other.getByRole("button", { name: "Sign in and join" })).toBeEnabled();
});

// The page still said that a new password had to be set, and that the old one wasn't needed.
test("someone who forgot their password sets a new one once, without the old one", async ({ dashboard, browser }) => {
	const { shop } = dashboard;
	await dashboard.setUp();
	const email = dashboard.address("freya");
	const token = new URL((await shop.post(shop.path("/invitations"), { role: "viewer" })).body.url).hash.slice(1);
	const account = { token, email, name: "Freya", password: PASSWORD };
	expect((await shop.call("POST", "/v1/invitations/accept", JSON.stringify(account))).status).toBe(200);
	const page = await (await browser.newContext()).newPage();
	await dashboard.signIn(page, email);
	await page.goto(`${dashboard.url}/account`);
	await expect(page.getByText("Set a new password now")).toBeVisible();
	await page.getByLabel("New password").fill("a new password of hers");
	await page.getByRole("button", { name: "Change password" }).click();
	await expect(page.getByText("Your password has been changed")).toBeVisible();
	await expect(page.getByText(`Signed in as ${email}.`)).toBeVisible();
	await expect(page.getByText("Optional for 15 minutes")).toHaveCount(0);
	await page.getByLabel("New password").fill("another password of hers");
	await page.getByRole("button", { name: "Change password" }).click();
	await expect(page.getByText("Enter your current password.")).toBeVisible();
});

// It said that the account may have been deleted, or that the operator no longer has access.
test("a sign-in link for an address without an account blames the address", async ({ dashboard, page }) => {
	await dashboard.enter(page);
	await page.goto(`${dashboard.url}/projects`);
	await page.getByRole("button", { name: "Sign-in link" }).click();
	const email = page.getByRole("textbox", { name: "E-mail of the account" });
	await email.fill("nobody@example.com");
	await page.getByRole("button", { name: "Create link" }).click();
	await expect(page.getByText("Must be the address of an account.")).toBeVisible();
	await expect(email).toBeFocused();
	await expect(page.getByRole("dialog").getByRole("alert")).toHaveCount(0);
	await email.fill(dashboard.address("nobody"));
	await expect(page.getByText("Must be the address of an account.")).toHaveCount(0);
});

import { Shop } from "../shop.ts";
import { Dashboard, expect, expectAccessible, PASSWORD, test, watch } from "./dashboard.ts";

test.use({ ownService: true });

test("the first visit sets up the operator, who creates a project and installs the Developer app", async ({
	dashboard,
	page,
	context,
}) => {
	const faults = watch(context);
	await page.goto(dashboard.setupLink);
	await expect(page.getByRole("heading", { name: "Set up Posthorn" })).toBeVisible();
	expect(page.url()).not.toContain("#");
	await expectAccessible(page);
	await page.getByLabel("Your name").fill("Olga Operator");
	await page.getByLabel("E-mail").fill("olga@example.com");
	await page.getByLabel(/^Password/).fill("short");
	await page.getByRole("button", { name: "Create account" }).click();
	await expect(page.getByText(/10 characters or more|at least 10/).last()).toBeVisible();
	await page.getByLabel(/^Password/).fill(PASSWORD);
	await page.getByRole("button", { name: "Create account" }).click();

	await expect(page).toHaveURL(/\/projects$/);
	// Back showed the form again, and asked for a token.
	await page.goBack();
	await expect(page.getByRole("heading", { name: "Posthorn is set up" })).toBeVisible();
	await page.goForward();
	await page.getByRole("button", { name: "New project" }).click();
	await page.getByRole("textbox", { name: "Name" }).fill("Olga's shop");
	await page.getByRole("button", { name: "Create project" }).click();
	const navigation = page.getByRole("navigation");
	await expect(navigation.getByRole("link", { name: "Apps" })).toBeVisible();
	await expect(navigation.getByRole("link", { name: "Webhooks" })).toHaveCount(0);

	await navigation.getByRole("link", { name: "Apps" }).click();
	await expectAccessible(page);
	await page.getByRole("button", { name: "Install" }).click();
	for (const name of ["Webhooks", "API Keys", "Logs"])
		await expect(navigation.getByRole("link", { name })).toBeVisible();

	await page.getByRole("button", { name: "Remove" }).click();
	const dialog = page.getByRole("dialog");
	await expect(dialog).toContainText(/pause/i);
	await expectAccessible(page);
	await dialog.getByRole("button", { name: /remove/i }).click();
	await expect(navigation.getByRole("link", { name: "Webhooks" })).toHaveCount(0);
	expect(faults).toEqual([]);
});

test("the setup link works for one account", async ({ dashboard, page }) => {
	const link = dashboard.setupLink;
	await dashboard.setUp();
	await page.goto(link);
	await expect(page.getByRole("heading", { name: "Posthorn is set up" })).toBeVisible();
});

test("signing in needs the right password, and signing out ends the session", async ({ dashboard, page, context }) => {
	await dashboard.setUp();
	await page.goto(dashboard.project("/webhooks"));
	await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
	await expectAccessible(page);
	await page.getByLabel("E-mail").fill("operator@example.com");
	await page.getByLabel(/^Password/).fill("not the password");
	await page.getByRole("button", { name: "Sign in" }).click();
	await expect(page.getByRole("alert")).toBeVisible();
	await page.getByLabel(/^Password/).fill(PASSWORD);
	await page.getByRole("button", { name: "Sign in" }).click();
	// Back to the requested page.
	await expect(page.getByRole("heading", { name: "Webhooks", level: 1 })).toBeVisible();

	const cookies = await context.cookies();
	expect(cookies.map(({ name, httpOnly, sameSite }) => ({ name, httpOnly, sameSite }))).toEqual([
		{ name: `posthorn_session_${new URL(dashboard.url).port}`, httpOnly: true, sameSite: "Lax" },
	]);
	await page.getByRole("button", { name: /Account of/ }).click();
	await page.getByRole("menuitem", { name: "Sign out" }).press("Enter");
	await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
	const replayed = await fetch(`${dashboard.url}/v1/session`, {
		headers: { cookie: `${cookies[0]!.name}=${cookies[0]!.value}` },
	});
	expect(replayed.status).toBe(401);
});

// Both named their cookies alike, and browsers send a host's cookies to all of its ports.
test("signing in to a service doesn't sign out of another on the same host", async ({ dashboard, page, context }) => {
	await using shop = await Shop.open();
	const other = new Dashboard(shop);
	await dashboard.enter(page);
	await other.enter(page);
	const sessions = async () => {
		const answers = [dashboard, other].map(({ url }) => context.request.get(`${url}/v1/session`));
		return (await Promise.all(answers)).map((answer) => answer.status());
	};
	expect(await sessions()).toEqual([200, 200]);
	await page.goto(`${dashboard.url}/projects`);
	await page.getByRole("button", { name: /Account of/ }).click();
	const visited: string[] = [];
	page.on("framenavigated", (frame) => visited.push(frame.url()));
	const reloaded = page.waitForEvent("load");
	await page.getByRole("menuitem", { name: "Sign out" }).press("Enter");
	await reloaded;
	await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
	// While the page was loading, it said that the session has ended.
	expect(new Set(visited)).toEqual(new Set([`${dashboard.url}/sign-in`]));
	expect(await sessions()).toEqual([401, 200]);
});

// A session lists 200 projects. Another one stayed as it was when it was opened first.
test("the operator of many projects sees what becomes of one that the session doesn't list", async ({
	dashboard,
	page,
}) => {
	const { shop } = dashboard;
	let id = "";
	for (let n = 2; n <= 201; n++) ({ id } = (await shop.post("/v1/projects", { name: `Store ${n}`, apps: [] })).body);
	await dashboard.enter(page);
	await page.goto(`${dashboard.url}/p/${id}/apps`);
	await page.getByRole("button", { name: "Install" }).click();
	await expect(page.getByRole("link", { name: "Go to Webhooks" })).toBeVisible();
	await expect(page.getByRole("button", { name: "Store 201" })).toBeVisible();
	await shop.patch(`/v1/projects/${id}`, { name: "Another name" });
	await page.getByRole("button", { name: "Remove" }).click();
	await page.getByRole("dialog").getByRole("button", { name: "Remove and pause" }).click();
	await expect(page.getByRole("button", { name: "Install" })).toBeVisible();
	await expect(page.getByRole("button", { name: "Another name" })).toBeVisible();
});

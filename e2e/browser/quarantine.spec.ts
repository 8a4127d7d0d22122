import { join } from "node:path";
import { backupSqlite, restoreSqlite } from "@posthorn/server/storage/sqlite";
import { purchase } from "../shop.ts";
import { type Dashboard, expect, expectAccessible, PASSWORD, test } from "./dashboard.ts";

test.use({ ownService: true });

/** Restores the database from a backup of this moment, as an operator does. */
async function restore({ shop }: Dashboard): Promise<void> {
	const [path, backup] = [join(shop.folder, "posthorn.db"), join(shop.folder, "backup.db")];
	await backupSqlite(path, backup);
	await shop.service.stop();
	await restoreSqlite(backup, path);
	await shop.start();
}

test("after a restore every page says why nothing is delivered, and the operator releases what isn't skipped", async ({
	dashboard,
	page,
}) => {
	const { shop } = dashboard;
	const [books, chat] = [await shop.receiver(), await shop.receiver()];
	const { id } = await shop.webhook(books.url("/hooks"), { description: "Accounting" });
	await shop.webhook(chat.url("/hooks"), { description: "Chat" });
	await dashboard.setUp();
	await restore(dashboard);
	for (const n of [1, 2]) await shop.post(shop.path("/events"), purchase(n));
	await dashboard.signIn(page);
	const notice = page.getByRole("status").filter({ hasText: "Nothing is being delivered" });
	for (const pagePath of ["/webhooks", "/logs", "/members"]) {
		await page.goto(dashboard.project(pagePath));
		await expect(notice).toContainText("removed members and rotated secrets are back");
	}
	await expectAccessible(page);
	await notice.getByRole("button", { name: "Review and release" }).click();
	const dialog = page.getByRole("dialog", { name: "Release the restored database" });
	const pending = dialog.getByRole("table", { name: "Pending deliveries" });
	await expect(pending.getByRole("row")).toHaveCount(1 + 2);
	await expect(dialog).toContainText("4 first attempts will be sent to 2 webhooks, in order.");
	await pending.getByRole("checkbox", { name: /for Accounting of A store/ }).check();
	await expect(dialog).toContainText(
		"2 first attempts will be sent to 1 webhook, in order. 2 won't be sent to 1 webhook.",
	);
	await expectAccessible(page);
	// It's paused while the operator has the dialog open.
	await shop.patch(shop.path(`/webhooks/${id}`), { status: "paused" });
	await dialog.getByRole("button", { name: "Release and send 2" }).click();
	await expect(dialog).toHaveCount(0);
	await expect(notice).toHaveCount(0);
	await chat.count(2);
	expect((await shop.get(shop.path(`/webhooks/${id}`))).body).toMatchObject({
		status: "paused",
		backlog: { events: 0 },
	});
	expect(books.requests).toHaveLength(0);
});

// They pushed the numbers and the checkboxes out of sight.
test("long names leave room for the checkboxes of a release", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await shop.patch(`/v1/projects/${shop.projectId}`, { name: "Buchhaltungssynchronisierung".repeat(3) });
	await shop.webhook(receiver.url("/hooks"), { description: "W".repeat(120) });
	await dashboard.setUp();
	await restore(dashboard);
	await shop.post(shop.path("/events"), purchase(1));
	await dashboard.signIn(page);
	for (const width of [390, 1280]) {
		await page.setViewportSize({ width, height: 800 });
		await page.goto(dashboard.project());
		await page.getByRole("button", { name: "Review and release" }).click();
		for (const name of [/^Skip all$/, /^Skip what is pending for W/])
			await expect(page.getByRole("dialog").getByRole("checkbox", { name })).toBeInViewport({ ratio: 1 });
		// The numbers' columns left room for five letters of a name.
		const counted = page.getByRole("dialog").getByText("1 first attempt, 0 retries and replays");
		await expect(counted).toBeVisible({ visible: width < 768 });
	}
});

// Only the first 50 could be left out, and the others only on the command line.
test("each of many webhooks can be found and left out of a release", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	const names = Array.from({ length: 100 }, (_, n) => `Store ${n + 1}`);
	for (const description of names) await shop.webhook(receiver.url("/hooks"), { description });
	await dashboard.setUp();
	await restore(dashboard);
	await shop.post(shop.path("/events"), purchase(1));
	await dashboard.signIn(page);
	await page.goto(dashboard.project());
	await page.getByRole("button", { name: "Review and release" }).click();
	const dialog = page.getByRole("dialog", { name: "Release the restored database" });
	const rows = dialog.getByRole("table", { name: "Pending deliveries" }).getByRole("row");
	await expect(rows).toHaveCount(1 + 50);
	await dialog.getByRole("button", { name: "Show 50 more of 50 other webhooks" }).click();
	await expect(rows).toHaveCount(1 + 100);
	await expectAccessible(page);
	const find = dialog.getByLabel("Find a webhook or project");
	await find.fill("store 97");
	await expect(rows).toHaveCount(1 + 1);
	await rows.getByRole("checkbox", { name: /for Store 97 of/ }).check();
	await find.fill("store 9");
	await expect(rows).toHaveCount(1 + 11);
	await expect(dialog).toContainText("99 first attempts will be sent to 99 webhooks");
	await dialog.getByRole("checkbox", { name: "Skip these" }).check();
	await expect(dialog).toContainText("89 first attempts will be sent to 89 webhooks");
	await find.fill("nowhere");
	await expect(dialog).toContainText("No webhook or project has this name.");
	await find.fill("");
	await expect(dialog.getByRole("checkbox", { name: "Skip all" })).not.toBeChecked();
	await dialog.getByRole("button", { name: "Release and send 89" }).click();
	await expect(dialog).toHaveCount(0);
	await receiver.count(89);
});

test("members learn that the operator has to release it, and the notice leaves without a reload", async ({
	dashboard,
	page,
}) => {
	const { shop } = dashboard;
	await dashboard.setUp();
	const { url } = (await shop.post(shop.path("/invitations"), { role: "viewer" })).body;
	const token = new URL(url).hash.slice(1);
	const email = "viewer@example.com";
	await shop.call("POST", "/v1/invitations/accept", JSON.stringify({ token, email, name: "Vera", password: PASSWORD }));
	await restore(dashboard);
	await dashboard.signIn(page, email);
	await page.clock.install();
	await page.goto(dashboard.project("/webhooks"));
	const notice = page.getByRole("status").filter({ hasText: "Nothing is being delivered" });
	await expect(notice).toContainText("once its operator releases it");
	await expect(notice).not.toContainText("rotated");
	await expect(notice.getByRole("button")).toHaveCount(0);
	await shop.post("/v1/quarantine/release", {});
	await expect(async () => {
		await page.clock.fastForward(15_000);
		await expect(notice).toHaveCount(0, { timeout: 1_000 });
	}).toPass();
});

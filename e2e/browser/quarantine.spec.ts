import { join } from "node:path";
import { backupSqlite, restoreSqlite } from "@posthorn/server/storage/sqlite";
import { expect, expectAccessible, test } from "./dashboard.ts";

test("after a restore every page says why nothing is delivered, until the release", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	await dashboard.setUp();
	const [path, backup] = [join(shop.folder, "posthorn.db"), join(shop.folder, "backup.db")];
	await backupSqlite(path, backup);
	await shop.service.stop();
	await restoreSqlite(backup, path);
	await shop.start();
	await dashboard.signIn(page);
	const notice = page.getByRole("status").filter({ hasText: "Nothing is being delivered" });
	for (const pagePath of ["/webhooks", "/logs"]) {
		await page.goto(dashboard.project(pagePath));
		await expect(notice).toContainText("posthorn release");
	}
	await expectAccessible(page);
	await shop.post("/v1/quarantine/release", {});
	await page.reload();
	await expect(page.getByRole("heading", { name: "Logs" })).toBeVisible();
	await expect(notice).toHaveCount(0);
});

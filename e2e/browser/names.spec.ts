import type { Page } from "@playwright/test";
import { purchase } from "../shop.ts";
import { expect, expectAccessible, PASSWORD, test } from "./dashboard.ts";

test.use({ settings: { POSTHORN_RETRY_DELAYS: "0.2" } });

const NAMES = { project: "חנות הספרים", webhook: "הנהלת חשבונות", key: "מפתח ראשי", member: "דנה כהן" };

/**
 * The names of a page that could reorder the sentence around them: not isolated, and with other text on their line. A
 * name in a box of its own has no sentence around it.
 */
const UNISOLATED = `(names) => {
	const found = [];
	const check = (text) => {
		for (const name of names)
			if (text.replaceAll("\\u2068" + name + "\\u2069", "").includes(name) && text.trim() !== name) found.push(text);
	};
	check(document.title);
	for (const element of document.querySelectorAll("[title]")) check(element.title);
	const inline = (box) => [...box.childNodes].map((child) =>
		child instanceof Text ? child.data : getComputedStyle(child).display === "inline" ? inline(child) : " "
	).join("");
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
		if (!names.some((name) => node.data.includes(name)) || node.parentElement.closest("script, style")) continue;
		let box = node.parentElement;
		while (getComputedStyle(box).display === "inline") box = box.parentElement;
		check(inline(box));
	}
	return found;
}`;

async function expectIsolated(page: Page, ...said: string[]): Promise<void> {
	for (const one of said) await expect(page.getByText(one).first()).toBeVisible();
	await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
	const found = await page.evaluate(`(${UNISOLATED})(${JSON.stringify(Object.values(NAMES))})`);
	expect(found, page.url()).toEqual([]);
}

// "דנה כהן is now a viewer." was shown as ".is now a viewer דנה כהן" would be, and the like.
test("names that are written from right to left don't reorder the sentences around them", async ({
	dashboard,
	browser,
	page,
}) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	receiver.respondWith(() => ({ status: 500 }));
	await shop.patch(shop.path(""), { name: NAMES.project });
	const { id } = await shop.webhook(receiver.url("/hooks"), { description: NAMES.webhook });
	await shop.post(shop.path("/api-keys"), { name: NAMES.key });
	await shop.post(shop.path("/events"), purchase(1));
	await receiver.count(2);
	await dashboard.enter(page);
	const invitation = await shop.post(shop.path("/invitations"), { role: "developer" });
	const theirs = await (await browser.newContext()).newPage();
	await theirs.goto(invitation.body.url);
	await expectIsolated(theirs, "Join ");
	await theirs.getByLabel("Your name").fill(`\u2068${NAMES.member}\u2069 `);
	await theirs.getByLabel("E-mail").fill(dashboard.address("dana"));
	await theirs.getByLabel(/^Password/).fill(PASSWORD);
	await theirs.getByRole("button", { name: "Create account and join" }).click();
	await expect(theirs).toHaveURL(/\/p\//);

	const dialog = page.getByRole("dialog");
	const look = async (path: string, button: string | RegExp | null, ...said: string[]) => {
		await page.goto(dashboard.project(path));
		if (button !== null) await page.getByRole("button", { name: button }).first().click();
		await expectIsolated(page, ...said);
	};
	await look("", null, "Your webhook is failing: ");
	await look("/webhooks", "Publish a sample", "1 webhook gets it");
	await dialog.getByRole("button", { name: "Cancel" }).click();
	await look(`/webhooks/${id}`, "Send test event", "Send a test event to ");
	await look(`/webhooks/${id}`, /^Replay/, "This sends 1 delivery again");
	await look(`/webhooks/${id}?tab=settings`, "Rotate signing secret", "Rotate the signing secret of ");
	await look(`/webhooks/${id}?tab=settings`, "Pause", "Nothing is sent until you resume it.");
	await dialog.getByRole("button", { name: "Pause" }).click();
	await expectIsolated(page, "is paused.");
	await look(`/webhooks/${id}?tab=settings`, "Delete webhook", "to confirm");
	// The name as it is copied from the question.
	await dialog.getByRole("textbox").fill(`\u2068${NAMES.webhook}\u2069`);
	await expect(dialog.getByRole("button", { name: "Delete webhook" })).toBeEnabled();
	await expectAccessible(page);
	await look(`/logs?webhook_id=${id}`, /^Replay:/, "Send purchase.completed");
	await look(`/logs?view=attempts&webhook_id=${id}`, null, "attempts to ");
	await look("/api-keys", `Revoke ${NAMES.key}`, "Revoke ");
	await dialog.getByRole("button", { name: "Revoke key" }).click();
	await expectIsolated(page, "is revoked.");
	await look("/members", `Remove ${NAMES.member}`, "loses access immediately");
	await dialog.getByRole("button", { name: "Cancel" }).click();
	await page.getByRole("button", { name: "Invite" }).click();
	await expectIsolated(page, "Invite to ");
	await look("/audit", null, "created the API key ", "joined the project");
	await page.goto(`${dashboard.url}/projects`);
	await page.getByRole("button", { name: `Rename ${NAMES.project}` }).click();
	await expectIsolated(page, "Rename ");
});

// The button stayed disabled: browsers show several spaces as one, and a keyboard types another é than the name has.
test("a webhook can be deleted by typing what its name looks like", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const { id } = await shop.webhook("https://example.com/hooks", { description: "Cafe\u0301  Nord\u200b\u00a042" });
	await dashboard.enter(page);
	await page.goto(dashboard.project(`/webhooks/${id}?tab=settings`));
	await page.getByRole("button", { name: "Delete webhook" }).click();
	const dialog = page.getByRole("dialog");
	await dialog.getByRole("textbox").fill("Caf\u00e9 Nord 42");
	await dialog.getByRole("button", { name: "Delete webhook" }).click();
	await expect(dialog).toHaveCount(0);
	await expect(page).toHaveURL(/\/webhooks$/);
});

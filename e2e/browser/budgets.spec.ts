import { join } from "node:path";
import { writePast } from "../past.ts";
import { expect, test, watchShifts } from "./dashboard.ts";

test.use({ ownService: true });

/** What a cold overview may cost: 1,616 kB in 45 requests is what it once did. */
const BUDGET = { bytes: 450_000, requests: 20, font: 60_000 };

test("the overview loads within its budget of bytes and requests, and nothing on it moves", async ({
	dashboard,
	page,
	context,
}) => {
	const { shop } = dashboard;
	const url = "https://example.com/hooks";
	const { id } = await shop.webhook(url);
	await dashboard.setUp();
	await shop.service.stop();
	const attemptsOf = (n: number) => [{ statusCode: n % 3 === 0 ? 500 : 200, responseMs: 20 + n }];
	const times = Array.from({ length: 200 }, (_, n) => Date.now() - (200 - n) * 60_000);
	const past = { path: join(shop.folder, "posthorn.db"), projectId: shop.projectId, times };
	await writePast({ ...past, webhooks: [{ id, url, events: ["purchase.completed"], attemptsOf }] });
	await shop.start();
	await dashboard.signIn(page);
	// A browser that has never been here, but is signed in.
	const network = await context.newCDPSession(page);
	await network.send("Network.enable");
	await network.send("Network.clearBrowserCache");
	const requests = new Map<string, { url: string; bytes: number }>();
	network.on("Network.requestWillBeSent", ({ requestId, request }) => {
		requests.set(requestId, { url: request.url, bytes: 0 });
	});
	network.on("Network.dataReceived", ({ requestId, encodedDataLength }) => {
		const request = requests.get(requestId);
		if (request) request.bytes += encodedDataLength;
	});
	network.on("Network.responseReceived", ({ requestId, response }) => {
		const request = requests.get(requestId);
		if (request) request.bytes += response.encodedDataLength;
	});
	const expectStill = await watchShifts(page);
	await page.goto(dashboard.project());
	await expect(page.getByRole("button", { name: "Live updates: live" })).toBeVisible();
	await expect(page.getByRole("img", { name: /^Attempts in/ })).toBeVisible();
	await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
	await page.evaluate("document.fonts.ready");
	const all = [...requests.values()].filter(({ url: asked }) => asked.startsWith(dashboard.url));
	const listed = all.map(({ url: asked, bytes }) => `${new URL(asked).pathname} ${bytes}`).join("\n");
	expect(all.length, listed).toBeGreaterThan(5);
	expect(all.length, listed).toBeLessThanOrEqual(BUDGET.requests);
	const bytes = all.reduce((sum, request) => sum + request.bytes, 0);
	expect(bytes, listed).toBeGreaterThan(50_000);
	expect(bytes, listed).toBeLessThanOrEqual(BUDGET.bytes);
	await expectStill();
	const fonts = all.filter(({ url: asked }) => asked.endsWith(".woff2"));
	expect(fonts.map((font) => font.bytes < BUDGET.font)).toEqual([true]);

	// What a link leads to is loaded once the pointer rests on it.
	const preloaded = page.waitForRequest(/\/assets\/members-page-[^/]+\.js$/);
	await page.getByRole("link", { name: "Members" }).hover();
	await preloaded;
});

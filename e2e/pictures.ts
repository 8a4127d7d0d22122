/**
 * `npm run pictures`: takes the screenshots for the README and the docs, from the real service with made-up history.
 * `npm run pictures -- FOLDER` also takes every page, wide and narrow, light and dark, empty, loading and broken.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, expect, type Page } from "@playwright/test";
import { EVENT_TYPES } from "@posthorn/protocol";
import { findChromium } from "@posthorn/testkit";
import { type PastAttempt, type PastWebhook, writePast } from "./past.ts";
import { Shop } from "./shop.ts";

const FOLDER = fileURLToPath(new URL("../docs/pictures/", import.meta.url));
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const WIDE = { width: 1280, height: 860 };
const NARROW = { width: 390, height: 844 };
const ACCOUNT = { email: "ada@lantern.example", name: "Ada Lantern", password: "a password for pictures" };
/** How long Accounting has been failing. */
const FAILING_MS = 42 * MINUTE_MS;
const ALL = EVENT_TYPES.map(({ type }) => type);

/** A store's webhooks, each with its own behavior. */
const MANNERS: readonly {
	readonly description: string;
	readonly url: string;
	readonly events: readonly string[];
	readonly attemptsOf: (n: number, ago: number) => PastAttempt[];
}[] = [
	{
		description: "Fulfilment",
		url: "https://hooks.lantern.example/fulfilment",
		events: ["purchase.completed", "purchase.refunded"],
		attemptsOf: (n) => [{ statusCode: 200, responseMs: 24 + (n % 17) }],
	},
	{
		description: "Accounting",
		url: "https://books.lantern.example/webhooks/store",
		events: ALL,
		attemptsOf(n, ago) {
			const down = { statusCode: 500, responseMs: 310 + (n % 90), body: '{"error":"database is read-only"}' };
			if (ago < FAILING_MS) {
				const made = ago > 20 * MINUTE_MS ? 5 : ago > 10 * MINUTE_MS ? 4 : ago > 4 * MINUTE_MS ? 3 : 2;
				return Array.from({ length: made }, (_, i) =>
					i === made - 1 ? { ...down, retryAt: Date.now() + (3 + (n % 9)) * MINUTE_MS } : down,
				);
			}
			if (n % 61 === 0) return [down, down, { statusCode: 200, responseMs: 95 }];
			// Its last attempt is almost two hours later.
			if (n % 487 === 0 && ago > 2 * HOUR_MS) return Array.from({ length: 8 }, () => down);
			return [{ statusCode: 200, responseMs: 70 + (n % 41) }];
		},
	},
	{
		description: "Community chat",
		url: "https://chat.lantern.example/hooks/3f1c",
		events: ["purchase.completed", "basket.abandoned"],
		attemptsOf: (n) => [
			...(n % 9 === 0 ? [{ statusCode: 429, responseMs: 12, body: "slow down" }] : []),
			{ statusCode: 204, responseMs: 160 + (n % 230), body: "" },
		],
	},
];

/** Times of the last day's events, with more in the evening, as in real stores. */
function times(): number[] {
	const now = Date.now();
	const made: number[] = [];
	for (let at = now - 24 * HOUR_MS; at < now - MINUTE_MS; ) {
		const evening = 1 + Math.sin(((new Date(at).getUTCHours() - 10) / 24) * 2 * Math.PI);
		made.push(Math.round(at));
		at += (40 + ((made.length * 37) % 60)) * 1_000 * (2.2 - evening);
	}
	return made;
}

async function furnish(shop: Shop): Promise<string> {
	await shop.patch(`/v1/projects/${shop.projectId}`, { name: "Lantern Games" });
	const webhooks: PastWebhook[] = [];
	for (const { description, url, events, attemptsOf } of MANNERS) {
		const { id } = await shop.webhook(url, { description, events });
		webhooks.push({ id, url, events, attemptsOf: (n, at) => attemptsOf(n, Date.now() - at) });
	}
	const token = readFileSync(join(shop.folder, "posthorn.setuplink"), "utf8").trim().split("#")[1];
	const { status } = await shop.post("/v1/setup", { token, ...ACCOUNT });
	if (status !== 201) throw new Error(`The account wasn't created: ${status}`);
	await shop.service.stop();
	const path = join(shop.folder, "posthorn.db");
	const orderOf = (n: number) => `ord_${10_000 + n}`;
	await writePast({ path, projectId: shop.projectId, webhooks, times: times(), orderOf });
	await shop.start();
	return webhooks[1]!.id;
}

async function signIn(shop: Shop, page: Page): Promise<void> {
	await page.goto(`${shop.service.url}/sign-in`);
	await page.getByLabel("E-mail").fill(ACCOUNT.email);
	await page.getByLabel(/^Password/).fill(ACCOUNT.password);
	await page.getByRole("button", { name: "Sign in" }).click();
	await page.waitForURL((url) => !url.pathname.startsWith("/sign-in"));
}

async function take(page: Page, url: string, name: string, folder = FOLDER): Promise<void> {
	await page.goto(url);
	await page.getByRole("heading", { level: 1 }).first().waitFor();
	await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
	await page.evaluate("document.fonts.ready");
	await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled" });
	console.log(`${relative(".", folder)}/${name}.png`);
}

/** Every page in every look, and states that the documentation doesn't show, for a look at all of them. */
async function takeAll(browser: Browser, shop: Shop, pages: Readonly<Record<string, string>>, folder: string) {
	mkdirSync(folder, { recursive: true });
	const { id } = (await shop.post("/v1/projects", { name: "Empty Games" })).body;
	const empty = `${shop.service.url}/p/${id}`;
	const all = {
		...pages,
		"empty-overview": empty,
		"empty-webhooks": `${empty}/webhooks`,
		"empty-logs": `${empty}/logs`,
	};
	for (const colorScheme of ["light", "dark"] as const)
		for (const [width, viewport] of [
			["wide", WIDE],
			["narrow", NARROW],
		] as const) {
			const page = await open(browser, shop, colorScheme, viewport);
			for (const [name, url] of Object.entries(all)) await take(page, url, `${name}-${colorScheme}-${width}`, folder);
			if (colorScheme === "dark") continue;
			await page.route("**/v1/projects/*/**", () => {});
			await page.goto(pages.overview!);
			await page.locator("[aria-busy=true]").first().waitFor();
			await page.screenshot({ path: join(folder, `loading-${width}.png`) });
			await page.unrouteAll();
			await page.route("**/v1/projects/*/**", (route) => route.fulfill({ status: 503, body: "" }));
			await page.goto(pages.overview!);
			await page.getByRole("alert").first().waitFor();
			await page.screenshot({ path: join(folder, `broken-${width}.png`) });
		}
}

async function open(browser: Browser, shop: Shop, colorScheme: "light" | "dark", viewport: typeof WIDE): Promise<Page> {
	const context = await browser.newContext({ colorScheme, viewport, reducedMotion: "reduce", timezoneId: "UTC" });
	const page = await context.newPage();
	await signIn(shop, page);
	return page;
}

mkdirSync(FOLDER, { recursive: true });
const { executablePath, args, env } = await findChromium();
const browser = await chromium.launch({ executablePath, args, ...(env && { env: env as Record<string, string> }) });
await using shop = await Shop.open();
try {
	const failing = await furnish(shop);
	const project = `${shop.service.url}/p/${shop.projectId}`;
	const [retried] = (await shop.get(shop.path("/attempts/summaries?status=delivered&limit=200"))).body.data.filter(
		({ attempt }: { attempt: number }) => attempt === 3,
	);
	const wide = await open(browser, shop, "light", WIDE);
	await take(wide, project, "overview");
	await take(wide, `${project}/webhooks`, "webhooks");
	await take(wide, `${project}/webhooks/${failing}`, "webhook-failing");
	await take(wide, `${project}/webhooks/new`, "webhook-new");
	await take(wide, `${project}/logs`, "logs");
	if (retried) await take(wide, `${project}/logs/${retried.id}`, "delivery");
	const dark = await open(browser, shop, "dark", WIDE);
	await take(dark, project, "overview-dark");
	const narrow = await open(browser, shop, "light", NARROW);
	await take(narrow, project, "overview-narrow");
	await take(narrow, `${project}/webhooks/${failing}`, "webhook-narrow");
	const [folder] = process.argv.slice(2);
	if (folder !== undefined) {
		const paths = ["webhooks", "logs", "apps", "api-keys", "members", "audit", "webhooks/new", `webhooks/${failing}`];
		const pages = Object.fromEntries(paths.map((path) => [path.replaceAll(/\/|wh_.*/g, "-"), `${project}/${path}`]));
		const more = { overview: project, settings: `${project}/webhooks/${failing}?tab=settings` };
		const account = { account: `${shop.service.url}/account`, projects: `${shop.service.url}/projects` };
		const delivery: Record<string, string> = retried ? { delivery: `${project}/logs/${retried.id}` } : {};
		await takeAll(browser, shop, { ...more, ...pages, ...account, ...delivery }, resolve(folder));
	}
} finally {
	await browser.close();
}

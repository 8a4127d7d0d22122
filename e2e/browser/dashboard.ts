import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import { type BrowserContext, test as base, expect, type Locator, type Page } from "@playwright/test";
import { purchase, type Receiver, Shop } from "../shop.ts";

const OPERATOR = "operator@example.com";
export const PASSWORD = "correct horse battery staple";

/** A shop with the dashboard, and users of it. */
export class Dashboard {
	readonly shop: Shop;
	#isSetUp: boolean;

	/** @param isSetUp whether the service has its operator's account */
	constructor(shop: Shop, isSetUp = false) {
		this.shop = shop;
		this.#isSetUp = isSetUp;
	}

	get url(): string {
		return this.shop.service.url;
	}

	/** The one-time link that the service left at startup. */
	get setupLink(): string {
		return readFileSync(join(this.shop.folder, "posthorn.setuplink"), "utf8").trim();
	}

	/** An e-mail address that no other test's account has, even on a service that they share. */
	address(name: string): string {
		return `${name}@${this.shop.projectId.replace("_", "-")}.example`;
	}

	/** A webhook's receiver that returns 500. This many deliveries have failed there once, as the log shows. */
	async failing(description: string, deliveries: number): Promise<Receiver> {
		const { shop } = this;
		const receiver = await shop.receiver();
		receiver.respondWith(() => ({ status: 500 }));
		await shop.webhook(receiver.url("/hooks"), { description });
		for (let n = 1; n <= deliveries; n++) await shop.post(shop.path("/events"), purchase(n));
		await expect.poll(async () => (await shop.get(shop.path("/attempts/count"))).body.count).toBe(deliveries);
		return receiver;
	}

	/** Creates the operator's account over the API, unless the service has it. */
	async setUp(): Promise<void> {
		if (this.#isSetUp) return;
		const token = this.setupLink.split("#")[1];
		const { status, body } = await this.shop.post("/v1/setup", {
			token,
			email: OPERATOR,
			name: "Olga Operator",
			password: PASSWORD,
		});
		if (status !== 201) throw new Error(`not set up: ${JSON.stringify(body)}`);
		this.#isSetUp = true;
	}

	/** Signs a page's browser in over the API, with a one-time link, and opens no page. */
	async signIn(page: Page, email = OPERATOR): Promise<void> {
		const { status, body } = await this.shop.post("/v1/sign-in-links", { email });
		if (status !== 201) throw new Error(`no sign-in link: ${JSON.stringify(body)}`);
		const token = String(body.url).split("#")[1];
		const response = await page.context().request.post(`${this.url}/v1/session`, { data: { token } });
		if (!response.ok()) throw new Error(`not signed in: ${await response.text()}`);
	}

	/** Creates the operator's account, and signs a page's browser in to it. */
	async enter(page: Page): Promise<void> {
		await this.setUp();
		await this.signIn(page);
	}

	/**
	 * Opens the log of three deliveries on a window with room for a delivery next to it. Returns the rows of the list,
	 * newest first.
	 */
	async openLog(page: Page, query = ""): Promise<Locator> {
		const { shop } = this;
		const receiver = await shop.receiver();
		await shop.webhook(receiver.url("/hooks"));
		await this.enter(page);
		for (const n of [1, 2, 3]) await shop.post(shop.path("/events"), purchase(n));
		await receiver.count(3);
		await page.setViewportSize({ width: 1700, height: 900 });
		await page.goto(this.project(`/logs${query}`));
		const rows = page.getByRole("table", { name: "Deliveries", includeHidden: true }).locator("tbody tr");
		await expect(rows.filter({ hasText: "Delivered" })).toHaveCount(3);
		return rows;
	}

	/** A path of the dashboard within the shop's project. */
	project(rest = ""): string {
		return `${this.url}/p/${this.shop.projectId}${rest}`;
	}
}

/** How many idle services a worker keeps for its next tests. */
const KEEP = 2;

/** Services that tests share, one for each set of settings, with their operator's account. */
class SharedServices {
	/** Least recently used first. */
	readonly #dashboards = new Map<string, Dashboard>();

	/** A dashboard with a project of its own. */
	async open(settings: Record<string, string>): Promise<Dashboard> {
		const key = JSON.stringify(settings);
		let host = this.#dashboards.get(key);
		if (host === undefined) {
			host = new Dashboard(await Shop.open(settings));
			this.#dashboards.set(key, host);
			await host.setUp();
		}
		this.#dashboards.delete(key);
		this.#dashboards.set(key, host);
		for (const [oldest, { shop }] of [...this.#dashboards].slice(0, -KEEP)) {
			this.#dashboards.delete(oldest);
			await shop[Symbol.asyncDispose]();
		}
		return new Dashboard(await host.shop.another(), true);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		for (const { shop } of this.#dashboards.values()) await shop[Symbol.asyncDispose]();
	}
}

interface Fixtures {
	/** Settings of the service, by variable name. */
	settings: Record<string, string>;
	/** Whether the test has a service for itself, because it stops it, sets it up, or is about all of its projects. */
	ownService: boolean;
	dashboard: Dashboard;
}

export const test = base.extend<Fixtures, { services: SharedServices }>({
	settings: [{}, { option: true }],
	ownService: [false, { option: true }],
	services: [
		// biome-ignore lint/correctness/noEmptyPattern: Playwright reads from it that the fixture needs no other
		async ({}, use) => {
			await using services = new SharedServices();
			await use(services);
		},
		{ scope: "worker" },
	],
	page: async ({ page }, use) => {
		await use(page);
		// A route's handler that still changes a response would fail once the page is closed.
		for (const each of page.context().pages()) await each.unrouteAll({ behavior: "ignoreErrors" });
	},
	dashboard: async ({ settings, ownService, services }, use) => {
		const dashboard = ownService ? new Dashboard(await Shop.open(settings)) : await services.open(settings);
		await using _ = dashboard.shop;
		await use(dashboard);
	},
});

export { expect };

/**
 * Chooses an option of the field that has just been opened by keyboard: on a busy machine, the popup is somewhere else in
 * its first frames, so a click can miss the option.
 */
export async function choose(option: Locator): Promise<void> {
	const { keyboard } = option.page();
	await option.waitFor();
	// The field looks for its current value in a timer, from which the arrow keys continue.
	await option.page().evaluate("new Promise((resolve) => setTimeout(resolve, 0))");
	const isCurrent = () => option.getAttribute("data-combobox-selected");
	for (let left = await option.page().getByRole("option").count(); (await isCurrent()) === null; left--) {
		expect(left, "options that the arrow key still has to pass").toBeGreaterThan(0);
		await keyboard.press("ArrowDown");
	}
	await keyboard.press("Enter");
}

/** Fails if a part of the page is wider than its room, so that it is cut off or scrolls sideways. */
export async function expectToFit(part: Locator, message?: string): Promise<void> {
	const { scrollWidth, clientWidth } = await part.evaluate((element) => ({
		scrollWidth: element.scrollWidth,
		clientWidth: element.clientWidth,
	}));
	// Both are 0 for an inline element, which would always fit.
	expect(clientWidth, message).toBeGreaterThan(0);
	expect(scrollWidth, message).toBe(clientWidth);
}

/** Waits for the page, and fails with axe's findings and their locations. */
export async function expectAccessible(page: Page): Promise<void> {
	await page.getByRole("heading", { level: 1 }).first().waitFor();
	await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
	const { violations } = await (await axe(page)).analyze();
	const found = violations.map(({ id, help, nodes }) => ({
		rule: id,
		help,
		where: nodes.map(({ target, failureSummary }) => `${target.join(" ")}: ${failureSummary}`),
	}));
	expect(found, `accessibility of ${page.url()}`).toEqual([]);
}

/**
 * Resolves when colors and opacities no longer change. A new color scheme or width takes effect in the next frame, and one
 * change can interrupt another's transition with its own. Frames are counted with an observer, because the test may have
 * replaced the page's clock.
 */
const AT_REST = `(async () => {
	const frame = () => new Promise((resolve) => new IntersectionObserver(resolve).observe(document.documentElement));
	for (;;) {
		await frame();
		await frame();
		const running = document.getAnimations().filter(
			({ playState, effect }) => playState === "running" && effect.getComputedTiming().endTime < Infinity
		);
		if (running.length === 0) return;
		await Promise.allSettled(running.map(({ finished }) => finished));
	}
})()`;

/** Axe's minified code. */
const AXE = readFileSync(
	createRequire(createRequire(import.meta.url).resolve("@axe-core/playwright")).resolve("axe-core/axe.min.js"),
	"utf8",
);

/**
 * Axe, for a page that is at rest. It runs within the page, because the dashboard has no frames: otherwise it would open
 * a second page each time. A page loads it once; the builder would load its larger code twice for each analysis.
 */
export async function axe(page: Page): Promise<AxeBuilder> {
	expect(page.frames()).toHaveLength(1);
	await page.evaluate(AT_REST);
	if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(AXE);
	return new AxeBuilder({ page, axeSource: ";" }).setLegacyMode().options({ resultTypes: ["violations"] });
}

/** The layout shift from which on people notice that a page moves. */
const LAYOUT_SHIFT = 0.02;

/** Watches pages from the next one on. Returns a check that fails if the current page has moved since it was opened. */
export async function watchShifts(page: Page): Promise<() => Promise<void>> {
	await page.addInitScript(`
		globalThis.shifts = [];
		globalThis.shiftObserver = new PerformanceObserver((list) => note(list.getEntries()));
		const note = (entries) => {
			for (const entry of entries) if (!entry.hadRecentInput) globalThis.shifts.push(entry.value);
		};
		globalThis.takeShifts = () => {
			note(globalThis.shiftObserver.takeRecords());
			return globalThis.shifts;
		};
		globalThis.shiftObserver.observe({ type: "layout-shift", buffered: true });
	`);
	return async () => {
		const shifts: number[] = await page.evaluate(`new Promise((resolve) =>
			requestAnimationFrame(() => requestAnimationFrame(() => resolve(globalThis.takeShifts())))
		)`);
		const sum = shifts.reduce((total, shift) => total + shift, 0);
		expect(sum, `layout shifts ${shifts.join(", ")} of ${page.url()}`).toBeLessThan(LAYOUT_SHIFT);
	};
}

/** Collects what a page must never cause: script errors, and violations of its content security policy. */
export function watch(context: BrowserContext): string[] {
	const faults: string[] = [];
	context.on("weberror", (error) => faults.push(`uncaught: ${error.error().message}`));
	context.on("console", (message) => {
		if (message.type() === "error" && /Content Security Policy|Uncaught/.test(message.text()))
			faults.push(message.text());
	});
	return faults;
}

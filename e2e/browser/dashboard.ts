import { readFileSync } from "node:fs";
import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import { type BrowserContext, test as base, expect, type Page } from "@playwright/test";
import { Shop } from "../shop.ts";

export const PASSWORD = "correct horse battery staple";

/** A shop with the dashboard, and users of it. */
export class Dashboard {
	readonly shop: Shop;

	constructor(shop: Shop) {
		this.shop = shop;
	}

	get url(): string {
		return this.shop.service.url;
	}

	/** The one-time link that the service left at startup. */
	get setupLink(): string {
		return readFileSync(join(this.shop.folder, "posthorn.setuplink"), "utf8").trim();
	}

	/** Creates the operator's account over the API. */
	async setUp(email = "operator@example.com"): Promise<void> {
		const token = this.setupLink.split("#")[1];
		const { status, body } = await this.shop.post("/v1/setup", {
			token,
			email,
			name: "Olga Operator",
			password: PASSWORD,
		});
		if (status !== 201) throw new Error(`not set up: ${JSON.stringify(body)}`);
	}

	/** Signs a browser in with a one-time link. */
	async signIn(page: Page, email = "operator@example.com"): Promise<void> {
		const { status, body } = await this.shop.post("/v1/sign-in-links", { email });
		if (status !== 201) throw new Error(`no sign-in link: ${JSON.stringify(body)}`);
		const [signInPage, token] = String(body.url).split("#");
		await page.goto(`${signInPage}?next=/p/${this.shop.projectId}#${token}`);
		await page.getByRole("button", { name: "Sign in" }).click();
		await page.waitForURL((url) => !url.pathname.startsWith("/sign-in"));
		// Lists keep still under the pointer.
		await page.mouse.move(0, 0);
	}

	/** Creates the operator's account, and signs a browser in to it. */
	async enter(page: Page): Promise<void> {
		await this.setUp();
		await this.signIn(page);
	}

	/** A path of the dashboard within the shop's project. */
	project(rest = ""): string {
		return `${this.url}/p/${this.shop.projectId}${rest}`;
	}
}

interface Fixtures {
	/** Settings of the service, by variable name. */
	settings: Record<string, string>;
	dashboard: Dashboard;
}

export const test = base.extend<Fixtures>({
	settings: [{}, { option: true }],
	dashboard: async ({ settings }, use) => {
		await using shop = await Shop.open(settings);
		await use(new Dashboard(shop));
	},
});

export { expect };

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

/** Resolves when colors and opacities no longer change. Transitions that another change interrupts are rejected. */
const AT_REST = `Promise.allSettled(
	document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime < Infinity).map(({ finished }) => finished)
).then(() => {})`;

/**
 * Axe, for a page that is at rest. It runs within the page, because the dashboard has no frames: otherwise it would open
 * a second page each time. A page that has loaded it once keeps it.
 */
export async function axe(page: Page): Promise<AxeBuilder> {
	expect(page.frames()).toHaveLength(1);
	await page.evaluate(AT_REST);
	const isLoaded = await page.evaluate("'axe' in globalThis");
	const builder = new AxeBuilder({ page, ...(isLoaded === true && { axeSource: ";" }) });
	return builder.setLegacyMode().options({ resultTypes: ["violations"] });
}

/** The layout shift from which on people notice that a page moves. */
const LAYOUT_SHIFT = 0.02;

/** Watches pages from the next one on. What it returns fails if the current page has moved since it was opened. */
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

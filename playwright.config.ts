import { defineConfig } from "@playwright/test";
import { findChromium } from "@posthorn/testkit";

const { executablePath, args, env } = await findChromium();

/** Each page lives for seconds, in which optimizing its code costs more than it saves. */
const BRIEF = "--js-flags=--no-opt --no-maglev";

/** The dashboard in a real browser, against the real service and real receivers. */
export default defineConfig({
	testDir: "e2e/browser",
	outputDir: ".cache/playwright",
	fullyParallel: false,
	workers: 2,
	retries: 0,
	forbidOnly: true,
	timeout: 300_000,
	expect: { timeout: 60_000 },
	use: {
		viewport: { width: 1280, height: 900 },
		timezoneId: "Europe/Berlin",
		locale: "en-GB",
		colorScheme: "light",
		reducedMotion: "reduce",
		screenshot: "only-on-failure",
		launchOptions: { executablePath, args: [...args, BRIEF], ...(env && { env: env as Record<string, string> }) },
	},
});

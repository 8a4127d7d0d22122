/**
 * `npm run test:firefox`: opens the dashboard in Debian's Firefox (`apt-get install firefox-esr`), which Playwright can't
 * drive, over WebDriver BiDi. Names what it saw, ends with 1 if something is wrong, and leaves pictures in
 * `.cache/firefox`.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until, unusedPort } from "@posthorn/testkit";
import { purchase, Shop } from "./shop.ts";

const { FIREFOX: NAMED } = process.env;
const FIREFOX = (NAMED ? [NAMED] : ["/usr/bin/firefox-esr", "/usr/bin/firefox"]).find((path) => existsSync(path));
const FOLDER = join(import.meta.dirname, "../.cache/firefox");
const ACCOUNT = { email: "ada@lantern.example", name: "Ada Lantern", password: "a password for Firefox" };
const PAGES = [
	"",
	"/webhooks",
	"/webhooks/new",
	"/logs",
	"/logs?view=attempts",
	"/api-keys",
	"/members",
	"/audit",
	"/apps",
];
/** The codes of keys without a character (WebDriver, 17.4.2). */
const [TAB, ENTER, ESCAPE] = ["\uE004", "\uE007", "\uE00C"];
const IS_READY = "!!document.querySelector('h1') && !document.querySelector('[aria-busy=true]')";
const MOTION_ENDED = `Promise.allSettled(document.getAnimations()
	.filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity).map(({ finished }) => finished)).then(() => true)`;

interface Reply {
	readonly id?: number;
	readonly type: string;
	readonly message?: string;
	readonly method?: string;
	// biome-ignore lint/suspicious/noExplicitAny: results and events of many shapes
	readonly [other: string]: any;
}

/** A page in Firefox. */
class Tab {
	readonly faults: string[] = [];
	readonly #socket: WebSocket;
	readonly #waiting = new Map<number, PromiseWithResolvers<Reply>>();
	#context = "";
	#sent = 0;

	private constructor(socket: WebSocket) {
		this.#socket = socket;
		socket.addEventListener("message", ({ data }) => this.#receive(JSON.parse(String(data)) as Reply));
	}

	static async open(port: number): Promise<Tab> {
		const socket = new WebSocket(`ws://127.0.0.1:${port}/session`);
		const { promise, resolve, reject } = Promise.withResolvers<unknown>();
		socket.addEventListener("open", resolve);
		socket.addEventListener("error", reject);
		await promise;
		const tab = new Tab(socket);
		await tab.#send("session.new", { capabilities: {} });
		await tab.#send("session.subscribe", { events: ["log.entryAdded"] });
		tab.#context = (await tab.#send("browsingContext.getTree", {})).result.contexts[0].context;
		return tab;
	}

	#receive(reply: Reply): void {
		if (reply.id === undefined) {
			const { level, text } = reply.params ?? {};
			// The sign-in page asks whether someone is signed in.
			if (reply.method === "log.entryAdded" && level === "error" && !/401/.test(text)) this.faults.push(text);
			return;
		}
		const asked = this.#waiting.get(reply.id);
		this.#waiting.delete(reply.id);
		if (reply.type === "error") asked?.reject(new Error(reply.message));
		else asked?.resolve(reply);
	}

	#send(method: string, params: object): Promise<Reply> {
		const asked = Promise.withResolvers<Reply>();
		this.#waiting.set(++this.#sent, asked);
		this.#socket.send(JSON.stringify({ id: this.#sent, method, params }));
		return asked.promise;
	}

	close(): void {
		this.#socket.close();
	}

	async run(expression: string): Promise<unknown> {
		const target = { context: this.#context };
		return (await this.#send("script.evaluate", { expression, target, awaitPromise: true })).result.result.value;
	}

	until = (expression: string): Promise<unknown> =>
		until(expression, async () => (await this.run(expression)) === true);

	async goto(url: string): Promise<void> {
		await this.#send("browsingContext.navigate", { context: this.#context, url, wait: "complete" });
		await this.until(IS_READY);
	}

	async resize(width: number, height: number): Promise<void> {
		await this.#send("browsingContext.setViewport", { context: this.#context, viewport: { width, height } });
	}

	async press(text: string): Promise<void> {
		const actions = [...text].flatMap((value) => ["keyDown", "keyUp"].map((type) => ({ type, value })));
		await this.#send("input.performActions", {
			context: this.#context,
			actions: [{ type: "key", id: "keys", actions }],
		});
	}

	async picture(name: string): Promise<void> {
		await this.run(MOTION_ENDED);
		const { result } = await this.#send("browsingContext.captureScreenshot", { context: this.#context });
		writeFileSync(join(FOLDER, `${name}.png`), Buffer.from(result.data, "base64"));
		if (await this.run("document.documentElement.scrollWidth > document.documentElement.clientWidth"))
			this.faults.push(`${name} is wider than the window`);
	}
}

async function visit(tab: Tab, shop: Shop, webhookId: string): Promise<void> {
	const project = `${shop.service.url}/p/${shop.projectId}`;
	await tab.resize(1280, 860);
	await tab.goto(project);
	await tab.picture("sign-in");
	await tab.run("document.querySelector('input').focus()");
	await tab.press(`${ACCOUNT.email}${TAB}${ACCOUNT.password}${ENTER}`);
	await tab.until(`location.pathname.startsWith('/p/') && document.readyState === 'complete' && ${IS_READY}`);
	for (const [width, look] of [
		[1280, "wide"],
		[390, "narrow"],
	] as const) {
		await tab.resize(width, 860);
		for (const path of [
			...PAGES,
			...["", "?tab=verify", "?tab=settings"].map((tab) => `/webhooks/${webhookId}${tab}`),
		]) {
			await tab.goto(project + path);
			await tab.picture(
				`${
					path
						.replaceAll(/wh_\w+/g, "webhook")
						.replaceAll(/\W+/g, "-")
						.slice(1) || "overview"
				}-${look}`,
			);
		}
	}
	await tab.resize(1280, 860);
	await tab.goto(`${project}/logs`);
	await tab.until("!!document.querySelector('[aria-label=\"Live updates: live\"]')");
	await tab.press(`j${ENTER}`);
	await tab.until(
		"!!document.querySelector('[role=dialog]') && !document.querySelector('[role=dialog] [aria-busy=true]')",
	);
	await tab.picture("delivery");
	await tab.press(ESCAPE);
	await tab.until("!document.querySelector('[role=dialog]') && document.activeElement.tagName === 'TR'");
	await tab.press("/#1");
	await tab.until("[...document.querySelectorAll('[role=option]')].some((one) => one.textContent === 'Order id: 1')");
	await tab.press(ENTER);
	await tab.until("location.search.includes('order_id') && document.querySelectorAll('tbody tr').length === 1");
}

if (FIREFOX === undefined) {
	const missing = NAMED ? `FIREFOX names ${NAMED}, which doesn't exist.` : "There is no Firefox.";
	console.error(`${missing} Install one with apt-get install firefox-esr, or name one in FIREFOX.`);
	process.exit(1);
}
rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
await using shop = await Shop.open();
const receiver = await shop.receiver({ respond: () => ({ status: 500, body: "no" }) });
const { id } = await shop.webhook(receiver.url("/hooks"), { description: "ERP" });
await shop.post(shop.path("/events"), {
	type: "purchase.completed",
	data: { ...(purchase(1) as { data: object }).data, order_id: "1" },
});
const token = readFileSync(join(shop.folder, "posthorn.setuplink"), "utf8").trim().split("#")[1];
const { status, body } = await shop.post("/v1/setup", { token, ...ACCOUNT });
if (status !== 201) throw new Error(`The account wasn't created: ${JSON.stringify(body)}`);
const port = await unusedPort();
const profile = mkdtempSync(join(tmpdir(), "posthorn-firefox-"));
const args = ["--headless", "--no-remote", "--profile", profile, `--remote-debugging-port=${port}`];
const firefox = spawn(FIREFOX, args, { stdio: ["ignore", "ignore", "pipe"] });
let said = "";
firefox.stderr.setEncoding("utf8").on("data", (text: string) => {
	said += text;
});
try {
	await until("Firefox to listen", () => said.includes("WebDriver BiDi listening"));
	const tab = await Tab.open(port);
	console.log(await tab.run("navigator.userAgent"));
	await visit(tab, shop, id).catch(async (error: unknown) => {
		await tab.picture("failed");
		throw error;
	});
	for (const fault of tab.faults) console.error(fault);
	console.log(tab.faults.length === 0 ? `Nothing is wrong. Pictures: ${FOLDER}` : `${tab.faults.length} faults.`);
	process.exitCode = tab.faults.length === 0 ? 0 : 1;
	tab.close();
} finally {
	firefox.kill();
	rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

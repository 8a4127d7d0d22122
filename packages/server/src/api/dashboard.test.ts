import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestApi } from "../../test/api/api.ts";

const PAGE = `<!doctype html><meta name="csp-nonce" content="__CSP_NONCE__"><script src="/assets/app-1a2b.js"></script>`;
const SCRIPT = "console.log(1);\n";
/** What the build writes next to a file, which must be smaller to be worth it. */
const STYLE = "body { margin: 0 }\n".repeat(20);
const [BROTLI, GZIP] = [brotliCompressSync(STYLE), gzipSync(STYLE)];
/** Headers with which browsers request a page. */
const HTML = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };
const JSON_TYPE = { accept: "application/json" };

let folder: string;
let api: TestApi;
beforeAll(async () => {
	folder = mkdtempSync(join(tmpdir(), "posthorn-dashboard-"));
	mkdirSync(join(folder, "assets"));
	writeFileSync(join(folder, "index.html"), PAGE);
	writeFileSync(join(folder, "assets", "app-1a2b.js"), SCRIPT);
	writeFileSync(join(folder, "assets", "app-1a2b.js.br"), Buffer.alloc(SCRIPT.length));
	writeFileSync(join(folder, "assets", "style-3c4d.css"), STYLE);
	writeFileSync(join(folder, "assets", "style-3c4d.css.br"), BROTLI);
	writeFileSync(join(folder, "assets", "style-3c4d.css.gz"), GZIP);
	writeFileSync(join(folder, "secret.txt"), "findable");
	api = await TestApi.start({ parts: () => ({ dashboardFolder: folder }) });
});
afterAll(async () => {
	await api.close();
	rmSync(folder, { recursive: true });
});

const get = (url: string, headers: Record<string, string> = HTML, method: "GET" | "HEAD" | "POST" = "GET") =>
	api.app.inject({ method, url, headers });

test("every browser path serves the page", async () => {
	for (const url of [
		"/",
		"/?a=1",
		"/sign-in",
		"/setup",
		"/projects/proj_1/webhooks/wh_1?tab=log",
		"/v1projects",
		"/documents",
		"/assets-of-mine",
		"/no/such/page.html",
	]) {
		const { statusCode, headers, payload } = await get(url);
		expect(statusCode, url).toBe(200);
		expect(headers["content-type"]).toBe("text/html; charset=utf-8");
		expect(headers["cache-control"]).toBe("no-cache");
		expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" });
		expect(payload).toContain("/assets/app-1a2b.js");
	}
	const head = await get("/", HTML, "HEAD");
	expect(head.statusCode).toBe(200);
	expect(head.payload).toBe("");
});

test("each page has a policy with a fresh nonce, which the page contains", async () => {
	const nonces = new Set<string>();
	for (let i = 0; i < 5; i++) {
		const { headers, payload } = await get("/");
		const policy = String(headers["content-security-policy"]);
		const nonce = /'nonce-([\w-]{24})'/.exec(policy)?.[1] ?? "";
		expect(policy).toBe(
			`default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
		);
		expect(payload).toBe(PAGE.replace("__CSP_NONCE__", nonce));
		nonces.add(nonce);
	}
	expect(nonces.size).toBe(5);
});

test("browsers cache assets forever, since changed files have new names", async () => {
	const { statusCode, headers, payload } = await get("/assets/app-1a2b.js", { accept: "*/*" });
	expect(statusCode).toBe(200);
	expect(payload).toBe(SCRIPT);
	expect(headers["content-type"]).toBe("application/javascript; charset=utf-8");
	expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
	expect(headers["x-content-type-options"]).toBe("nosniff");
	const again = await get("/assets/app-1a2b.js", { "if-none-match": String(headers.etag) });
	expect(again.statusCode).toBe(304);
});

test("assets are sent in the smallest form that the client accepts", async () => {
	const etags = new Set<unknown>();
	for (const [accepted, encoding, bytes] of [
		["gzip, deflate, br, zstd", "br", BROTLI],
		["BR;q=0.5", "br", BROTLI],
		["*", "br", BROTLI],
		["gzip", "gzip", GZIP],
		["br;q=0, *;q=0.1", "gzip", GZIP],
		["identity", undefined, Buffer.from(STYLE)],
		["br;q=0, gzip;q=0.0", undefined, Buffer.from(STYLE)],
		["broccoli", undefined, Buffer.from(STYLE)],
		["", undefined, Buffer.from(STYLE)],
	] as const) {
		const url = "/assets/style-3c4d.css";
		const { headers, rawPayload } = await get(url, { "accept-encoding": accepted });
		expect(headers["content-encoding"], accepted).toBe(encoding);
		expect(rawPayload.equals(bytes), accepted).toBe(true);
		expect(headers["content-type"]).toBe("text/css; charset=utf-8");
		expect(headers.vary).toBe("Accept-Encoding");
		etags.add(headers.etag);
		const again = await get(url, { "accept-encoding": accepted, "if-none-match": String(headers.etag) });
		expect(again.statusCode).toBe(304);
	}
	expect(etags.size).toBe(3);
	// One that isn't smaller is never used, and none is a file of its own.
	expect((await get("/assets/app-1a2b.js", { "accept-encoding": "br" })).payload).toBe(SCRIPT);
	expect((await get("/assets/style-3c4d.css.br", { "accept-encoding": "br" })).statusCode).toBe(404);
});

// Each unread download held a file descriptor; with enough of them, deliveries had to wait.
test("assets are read once, at startup, so downloads hold no file open", async () => {
	writeFileSync(join(folder, "assets", "app-1a2b.js"), "changed");
	writeFileSync(join(folder, "assets", "late.js"), "changed");
	expect((await get("/assets/app-1a2b.js")).payload).toBe(SCRIPT);
	expect((await get("/assets/late.js")).statusCode).toBe(404);
	expect((await get("/assets/app-1a2b.js", HTML, "HEAD")).headers["content-length"]).toBe(String(SCRIPT.length));
});

test("a missing path is a problem for programs, and an asset never falls back to the page", async () => {
	for (const [url, headers] of [
		["/", JSON_TYPE],
		["/sign-in", JSON_TYPE],
		["/sign-in", {}],
		["/sign-in", { accept: "*/*" }],
		["/assets/app-0000.js", HTML],
		["/assets", HTML],
		// The folder itself was refused as a bad request.
		["/assets/", HTML],
		["/assets/", JSON_TYPE],
		["/assets/?x", HTML],
		["/v1", HTML],
		["/v1/nothing", HTML],
		["/v1?x", HTML],
		["/docs/nothing", HTML],
		["/healthz/x", HTML],
	] as const) {
		const { statusCode, headers: answered, payload } = await get(url, headers);
		expect(statusCode, url).toBe(404);
		expect(answered["content-type"]).toMatch(/^application\/problem\+json/);
		expect(answered["cache-control"]).toBe("no-store");
		expect(JSON.parse(payload)).toMatchObject({ type: "/problems/not-found", status: 404 });
	}
	expect((await get("/sign-in", HTML, "POST")).statusCode).toBe(404);
	expect((await get("/v1/event-types", HTML)).statusCode).toBe(401);
	expect((await get("/healthz", HTML)).json()).toEqual({ status: "ok" });
});

test("serves only the assets from disk", async () => {
	for (const url of [
		"/assets/../secret.txt",
		"/assets/..%2fsecret.txt",
		"/assets/%2e%2e/secret.txt",
		"/assets/..%5csecret.txt",
		"/assets//../../secret.txt",
		"/assets/%00",
		"/assets/",
		"/assets/../index.html",
		"/secret.txt",
		"/index.html",
	])
		for (const headers of [HTML, JSON_TYPE]) {
			const { statusCode, payload } = await get(url, headers);
			expect(payload, url).not.toContain("findable");
			expect([200, 400, 403, 404], url).toContain(statusCode);
			if (statusCode !== 200) expect(JSON.parse(payload), url).toMatchObject({ status: statusCode });
		}
});

test("without a build, the page says how to build it, and the API works", async () => {
	const bare = await TestApi.start();
	const { statusCode, headers, payload } = await bare.app.inject({ url: "/", headers: HTML });
	expect(statusCode).toBe(503);
	expect(headers["content-type"]).toBe("text/html; charset=utf-8");
	expect(headers["content-security-policy"]).toMatch(/^default-src 'none'/);
	expect(payload).toContain("The dashboard is not built");
	expect(payload).toContain("npm run setup");
	expect((await bare.app.inject({ url: "/assets/x.js", headers: HTML })).statusCode).toBe(404);
	expect((await bare.call("GET", "/v1/projects")).status).toBe(200);
	await bare.close();
});

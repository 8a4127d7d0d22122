import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { afterEach, expect, test } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { Browser, setUp } from "../../test/api/browser.ts";
import { SessionCookie } from "./auth/authorize.ts";

const THIRTY_DAYS_S = 30 * 86_400;

let api: TestApi;
afterEach(() => api.close());

const attributesOf = (cookie: string | undefined): string[] => String(cookie).split("; ").slice(1).toSorted();

test("scripts and other sites can't access the cookie", async () => {
	api = await TestApi.start();
	await setUp(api);
	const { headers } = await new Browser(api).signIn("operator@example.com");
	expect(headers["set-cookie"]).toMatch(/^posthorn_session=[\w-]{43};/);
	expect(attributesOf(headers["set-cookie"])).toEqual([
		"HttpOnly",
		`Max-Age=${THIRTY_DAYS_S}`,
		"Path=/",
		"SameSite=Lax",
	]);
});

test("over https it is only sent encrypted, and only this host can set it", async () => {
	const publicUrl = "https://hooks.example.com";
	api = await TestApi.start({ publicUrl });
	await setUp(api, { origin: publicUrl });
	const browser = new Browser(api, { origin: publicUrl });
	const { headers } = await browser.signIn("operator@example.com");
	expect(headers["set-cookie"]).toMatch(/^__Host-posthorn_session=[\w-]{43};/);
	expect(attributesOf(headers["set-cookie"])).toEqual([
		"HttpOnly",
		`Max-Age=${THIRTY_DAYS_S}`,
		"Path=/",
		"SameSite=Lax",
		"Secure",
	]);
	expect((await browser.call("GET", "/v1/session")).status).toBe(200);
	const unprefixed = `posthorn_session=${browser.token}`;
	expect((await browser.call("GET", "/v1/session", { headers: { cookie: unprefixed } })).status).toBe(401);
	const out = await browser.call("DELETE", "/v1/session");
	expect(out.headers["set-cookie"]).toMatch(/^__Host-posthorn_session=;/);
	expect(attributesOf(out.headers["set-cookie"])).toEqual(expect.arrayContaining(["Path=/", "Secure"]));
});

// Browsers send a host's cookies to all of its ports, so signing in to a service signed out of the one on another port.
test("the cookie is named by the port of the URL, unless it is the scheme's default", async () => {
	const [host, port] = ["127.0.0.1", 8421];
	const nameFor = (publicUrl: string | null, asked?: string): string => {
		const cookie = new SessionCookie(publicUrl);
		const request = { headers: { host: asked } };
		let given = "";
		const setCookie = (name: string) => {
			given = name;
		};
		cookie.set({ request, setCookie } as never, "token");
		expect(cookie.read({ ...request, cookies: { [given]: "token", other: "x" } } as never)).toBe("token");
		return given;
	};
	expect(nameFor(null, `${host}:${port}`)).toBe(`posthorn_session_${port}`);
	expect(nameFor(null, `[::1]:${port}`)).toBe(`posthorn_session_${port}`);
	for (const asked of [host, `${host}:80`, "not a host", undefined])
		expect(nameFor(null, asked)).toBe("posthorn_session");
	// A proxy may rewrite the host.
	expect(nameFor("http://hooks.example.com", `${host}:${port}`)).toBe("posthorn_session");
	expect(nameFor("https://hooks.example.com", `${host}:${port}`)).toBe("__Host-posthorn_session");
	expect(nameFor("https://hooks.example.com:8443", host)).toBe("__Host-posthorn_session_8443");
	api = await TestApi.start({ publicUrl: "http://dashboard.test:8421" });
	const browser = await setUp(api, { origin: "http://dashboard.test:8421" });
	expect(browser.cookie).toMatch(/^posthorn_session_8421=/);
	expect((await browser.call("GET", "/v1/session")).status).toBe(200);
	const plain = { cookie: `posthorn_session=${browser.token}` };
	expect((await browser.call("GET", "/v1/session", { headers: plain })).status).toBe(401);
});

test("the browser keeps the cookie as long as the service keeps the session", async () => {
	const clock = new VirtualClock(Date.now());
	api = await TestApi.start({ peopleClock: clock });
	const browser = await setUp(api);
	clock.advance(29 * 86_400_000);
	const { token } = browser;
	const { headers } = await browser.call("GET", "/v1/session");
	expect(headers["set-cookie"]).toMatch(`posthorn_session=${token}; Max-Age=${THIRTY_DAYS_S};`);
});

test("an unknown cookie is not a session", async () => {
	api = await TestApi.start();
	const { cookie } = await setUp(api);
	for (const wrong of [
		"posthorn_session=",
		"posthorn_session=x",
		"posthorn_session=%00%ff",
		`posthorn_session=${"x".repeat(5_000)}`,
		`${cookie}x`,
		`other=1; ${cookie?.toUpperCase()}`,
	])
		expect((await new Browser(api).call("GET", "/v1/session", { headers: { cookie: wrong } })).status).toBe(401);
	expect((await new Browser(api).call("GET", "/v1/session", { headers: { cookie: `a=b; ${cookie}` } })).status).toBe(
		200,
	);
});

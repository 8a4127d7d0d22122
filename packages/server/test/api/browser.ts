import { PUBLIC_URL, type TestApi } from "./api.ts";
import type { ApiResponse } from "./response.ts";

export const PASSWORD = "correct horse battery staple";

export interface BrowserOptions {
	/** Its address; by default, 127.0.0.1. */
	readonly from?: string;
	/** The page that its requests come from. */
	readonly origin?: string;
	readonly userAgent?: string;
}

export interface BrowserCall {
	readonly body?: unknown;
	/** Added to those that the dashboard sends, or replacing them; undefined removes one. */
	readonly headers?: Record<string, string | undefined>;
}

/** A browser on the dashboard: keeps the session's cookie, and sends the CSRF token with each change. */
export class Browser {
	/** The cookie as it is sent back, `name=value`; null while signed out. */
	cookie: string | null = null;
	csrfToken: string | undefined;
	/** The account that signed in last. */
	accountId = "";
	readonly #api: TestApi;
	readonly #options: BrowserOptions;

	constructor(api: TestApi, options: BrowserOptions = {}) {
		this.#api = api;
		this.#options = options;
	}

	/** The session's token, which only the cookie has. */
	get token(): string {
		return this.cookie?.split("=")[1] ?? "";
	}

	async call(method: string, url: string, { body, headers = {} }: BrowserCall = {}): Promise<ApiResponse> {
		const answer = await this.#api.call(method, url, {
			key: null,
			body,
			...this.#from,
			headers: this.#headers(method, headers),
		});
		this.#keep(answer);
		return answer;
	}

	/** Signs in with e-mail and password. */
	signIn(email: string, password = PASSWORD): Promise<ApiResponse> {
		return this.call("POST", "/v1/session", { body: { email, password } });
	}

	/** Headers of the dashboard's requests. */
	headersFor(method: string): Record<string, string> {
		return this.#headers(method, {});
	}

	#headers(method: string, others: Record<string, string | undefined>): Record<string, string> {
		const { origin = PUBLIC_URL, userAgent = "Test browser" } = this.#options;
		const all = {
			"user-agent": userAgent,
			...(this.cookie !== null && { cookie: this.cookie }),
			...(method !== "GET" && { origin, "x-csrf-token": this.csrfToken }),
			...others,
		};
		return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
	}

	get #from(): { from?: string } {
		return this.#options.from === undefined ? {} : { from: this.#options.from };
	}

	#keep({ headers, json }: ApiResponse): void {
		const [, name, value] = /^([^=]+)=([^;]*)/.exec(headers["set-cookie"] ?? "") ?? [];
		if (name !== undefined) this.cookie = value ? `${name}=${value}` : null;
		if (json?.csrf_token === undefined) return;
		this.csrfToken = json.csrf_token;
		this.accountId = json.account.id;
	}
}

/** Creates the operator's account, `operator@example.com`, and signs it in. */
export async function setUp(api: TestApi, options: BrowserOptions = {}): Promise<Browser> {
	const browser = new Browser(api, options);
	const token = await api.parts.people.createSetupToken();
	const person = { email: "operator@example.com", name: "Operator", password: PASSWORD };
	const { status } = await browser.call("POST", "/v1/setup", { body: { token, ...person } });
	if (status !== 201) throw new Error(`The operator's account could not be created: ${status}.`);
	return browser;
}

/** The token of a new invitation. */
export async function invite(api: TestApi, project: string, role: string): Promise<string> {
	const { json } = await api.call("POST", `${project}/invitations`, { body: { role } });
	return tokenOf(json.url);
}

/** A new account, `NAME@example.com`, that accepted an invitation to the project and is signed in. */
export async function member(
	api: TestApi,
	project: string,
	role: string,
	name: string,
	options: BrowserOptions = {},
): Promise<Browser> {
	const browser = new Browser(api, options);
	const token = await invite(api, project, role);
	const person = { email: `${name}@example.com`, name, password: PASSWORD };
	const { status } = await browser.call("POST", "/v1/invitations/accept", { body: { token, ...person } });
	if (status !== 200) throw new Error(`${name} could not join: ${status}.`);
	return browser;
}

/** The part of a link after its #. */
export function tokenOf(link: string): string {
	return new URL(link).hash.slice(1);
}

import { readFileSync } from "node:fs";
import { ApiError, type Client, createClient, type OnRetry } from "@posthorn/client";
import { localUrl, readConfig } from "@posthorn/server/config";
import { UsageError } from "../command-error.ts";
import { isThere } from "../is-there.ts";
import { checkIds } from "./ids.ts";
import { clean, note, warn } from "./output.ts";
import { allOf } from "./pages.ts";
import { type Login, readLogin } from "./stored.ts";

/** Options of every command that talks to a service. */
export interface ConnectionOptions {
	readonly url?: string;
	readonly project?: string;
	readonly json?: boolean;
}

export interface Connection {
	readonly url: string;
	readonly project: string;
	readonly client: Client;
}

/** Names below `localhost` are left out: DNS decides where they lead. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

export const isLoopback = ({ hostname }: URL): boolean => LOOPBACK.test(hostname);

/**
 * The service to talk to: flags, then POSTHORN_URL, POSTHORN_API_KEY (or _FILE) and POSTHORN_PROJECT, then what `posthorn
 * login` stored. A stored key is only ever sent to the address that it was stored with.
 *
 * @throws UsageError if something is missing
 */
export async function connect(options: ConnectionOptions, env = process.env): Promise<Connection> {
	checkIds({ project: options.project });
	const given = {
		url: options.url ?? (env.POSTHORN_URL || undefined),
		key: givenKey(env),
		project: options.project ?? (env.POSTHORN_PROJECT || undefined),
	};
	// If nothing is missing, a damaged file doesn't matter.
	const stored = Object.values(given).includes(undefined) ? readLogin() : null;
	const url = checkedUrl(given.url ?? stored?.url);
	const login = stored?.url === url ? stored : null;
	const key = given.key ?? login?.key;
	if (!key)
		throw new UsageError([
			`There is no API key for ${url}. Run "posthorn login", or set POSTHORN_API_KEY, or POSTHORN_API_KEY_FILE to a file with it.`,
		]);
	warnIfReadable(url);
	const sameKey = key === login?.key;
	const project = given.project ?? (sameKey ? login?.project : undefined) ?? (await onlyProject(url, key));
	return { url, project, client: clientFor({ url, key, project }) };
}

/**
 * The service as its operator calls it, for commands about all of it: by default the one that would listen on this
 * machine with these settings, wherever `posthorn login` leads. There the key is the one that the service itself reads
 * from its settings or left in a file. Another service gets that of its settings only if there is no other key for it.
 *
 * @throws UsageError if there is no key
 */
export function connectAsOperator(options: Pick<ConnectionOptions, "url">): Omit<Connection, "project"> {
	const { env } = process;
	const result = readConfig({ env });
	const apiKey = givenKey(env);
	if (!result.ok && apiKey === undefined) throw new UsageError(result.faults);
	const config = result.ok ? result.config : null;
	const givenUrl = options.url ?? (env.POSTHORN_URL || undefined);
	const url = checkedUrl(givenUrl ?? localUrl(config ?? { host: "127.0.0.1", port: 8420 }));
	const isHere = givenUrl === undefined || isLoopback(new URL(url));
	// If nothing is missing, a damaged file doesn't matter.
	const stored = givenUrl === undefined || apiKey !== undefined ? null : readLogin();
	const userKey = apiKey ?? (stored?.url === url ? stored.key : undefined);
	const serviceKey = config?.operatorKey;
	const keyInFile = () => (config?.operatorKeyFile ? readKeyFile(config.operatorKeyFile) : undefined);
	const key = isHere ? (serviceKey ?? userKey ?? keyInFile()) : (userKey ?? serviceKey);
	if (!key)
		throw new UsageError([
			`There is no operator key for ${url}. Set POSTHORN_OPERATOR_KEY, or POSTHORN_OPERATOR_KEY_FILE to a file with it, or run "posthorn login" with it and name the service with --url.`,
			'If the key is lost, an operator can do the same in the dashboard, or "posthorn operator-key --new" replaces it.',
		]);
	if (!isHere) warnIfReadable(url);
	return { url, client: clientFor({ url, key, project: "proj_unknown" }) };
}

/**
 * The API key in POSTHORN_API_KEY, or in the file that POSTHORN_API_KEY_FILE names.
 *
 * @throws UsageError if both are set, or the file has no key
 */
export function givenKey({ POSTHORN_API_KEY: key, POSTHORN_API_KEY_FILE: file } = process.env): string | undefined {
	if (!file) return key || undefined;
	if (key) throw new UsageError(["POSTHORN_API_KEY and POSTHORN_API_KEY_FILE are both set; set one of them."]);
	try {
		const found = readFileSync(file, "utf8").trim();
		if (found !== "") return found;
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		throw new UsageError([`POSTHORN_API_KEY_FILE is "${file}"; it must be a file that can be read (${code}).`]);
	}
	throw new UsageError([`POSTHORN_API_KEY_FILE is "${file}", which is empty.`]);
}

function readKeyFile(path: string): string | undefined {
	return isThere(path) ? readFileSync(path, "utf8").trim() : undefined;
}

/** Warns before an API key is sent to another machine without encryption. */
export function warnIfReadable(url: string): void {
	if (url.startsWith("http:") && !isLoopback(new URL(url)))
		warn(`${url} isn't encrypted: anyone between here and there can read the API key.`);
}

/** @throws UsageError unless it is the URL of a service */
export function checkedUrl(text: string | undefined): string {
	if (text === undefined)
		throw new UsageError(['There is no service to talk to. Run "posthorn login", or set POSTHORN_URL.']);
	if (!/^https?:\/\/[^?#]+$/.test(text) || !URL.canParse(text))
		throw new UsageError([`The URL is "${text}"; it must be one such as https://hooks.example.com.`]);
	const url = new URL(text);
	if (url.username || url.password) throw new UsageError(["The URL must not contain a user name or password."]);
	return text.replace(/\/+$/, "");
}

/** @throws UsageError if the key can't be one */
export function clientFor(login: Login): Client {
	if (login.key.trim() === "") throw new UsageError(["The API key is empty: paste or set all of it (phk_…)."]);
	if (!/^\s*[\x21-\x7e]+\s*$/.test(login.key))
		throw new UsageError([
			"The API key has characters that keys don't have: copy all of it (phk_…), without a space or line break.",
		]);
	const retry = { giveUpAfterMs: GIVE_UP_MS, onRetry: sayRetries() };
	const client = createClient({ ...login, retry, ...(process.stderr.isTTY && { fetch: sayWaits() }) });
	client.api.use({
		async onResponse({ request, response, options }) {
			// The client checks what it reads itself, as text.
			if (options.parseAs !== "json" || !response.ok || isPosthorn(response)) return;
			const text = await response.clone().text();
			throw new ApiError(`${request.method} ${new URL(request.url).pathname}`, response, text);
		},
	});
	return client;
}

/** Whether the service sent a response, by headers that all of its responses have. Other servers send JSON, too. */
function isPosthorn({ headers }: Response): boolean {
	if (headers.has("posthorn-api")) return true;
	// Earlier versions of the service.
	return headers.has("x-request-id") && (headers.get("content-security-policy") ?? "").includes("default-src 'none'");
}

/** As long as one try may take, so a call that gets no response isn't retried, milliseconds. */
const GIVE_UP_MS = 30_000;
/** How long a response may take before a user at a terminal learns what the command waits for, milliseconds. */
const PATIENCE_MS = 3_000;

/** A `fetch` that says if a response takes long. It says so once, because a slow service may be called often. */
export function sayWaits(doFetch = fetch, say = note): typeof fetch {
	let hasSaid = false;
	return async (input, init) => {
		// The client never passes a Request.
		const { host, searchParams } = new URL(input as URL);
		// Reads that wait for new events are meant to take long.
		if (hasSaid || Number(searchParams.get("wait")) > 0) return doFetch(input, init);
		const timer = setTimeout(() => {
			hasSaid = true;
			say(`Waiting for a response from ${host} …`);
		}, PATIENCE_MS);
		try {
			return await doFetch(input, init);
		} finally {
			clearTimeout(timer);
		}
	};
}

/** Retries that follow another one within this time belong to the same series, which gets one line, milliseconds. */
const NEWS_MS = 10_000;

/** Says why a call takes long. */
function sayRetries(): OnRetry {
	let lastAt = Number.NEGATIVE_INFINITY;
	return (error) => {
		const now = performance.now();
		if (now - lastAt > NEWS_MS) warn(`${clean(error.message)} Trying again.`);
		lastAt = now;
	};
}

export interface KnownProject {
	readonly id: string;
	readonly name: string;
}

/** The projects that a key can see: its own, or for the operator's key all. */
export async function projectsOf(url: string, key: string): Promise<readonly KnownProject[]> {
	const { api } = clientFor({ url, key, project: "proj_unknown" });
	return allOf((query) => api.GET("/v1/projects", { params: { query } }));
}

/** The id of the only project; null if there are several. @throws UsageError if there is none */
export function onlyOf([first, ...others]: readonly KnownProject[]): string | null {
	if (first === undefined)
		throw new UsageError(["This key can't access any project yet. Create one in the dashboard."]);
	return others.length === 0 ? first.id : null;
}

async function onlyProject(url: string, key: string): Promise<string> {
	const projects = await projectsOf(url, key);
	const only = onlyOf(projects);
	if (only !== null) return only;
	throw new UsageError([
		"This key can access several projects. Choose one with --project or POSTHORN_PROJECT:",
		...projects.slice(0, 20).map(({ id, name }) => `  ${id}  ${clean(name)}`),
	]);
}

/** `posthorn login` and `posthorn logout`. */
import { existsSync } from "node:fs";
import { ApiError } from "@posthorn/client";
import { UsageError } from "../command-error.ts";
import { ask, canAsk } from "./ask.ts";
import { checkedUrl, clientFor, givenKey, onlyOf, projectsOf, warnIfReadable } from "./connection.ts";
import { checkIds } from "./ids.ts";
import { clean, note, printJson, warn } from "./output.ts";
import { forget, type Login, loginFile, readLogin, store } from "./stored.ts";

export interface LoginOptions {
	readonly url?: string;
	readonly project?: string;
	readonly json?: boolean;
}

const DEFAULT_URL = "http://127.0.0.1:8420";

/** Asks for what flags and variables leave out, tries the key, and stores it. */
export async function login(options: LoginOptions): Promise<void> {
	checkIds({ project: options.project });
	const { POSTHORN_URL, POSTHORN_PROJECT } = process.env;
	const given = options.url ?? (POSTHORN_URL || undefined);
	const url = checkedUrl(given ?? (await askUrl(storedUrl() ?? DEFAULT_URL)));
	warnIfReadable(url);
	const key = givenKey() ?? (await askKey());
	const projects = await projectsOf(url, key);
	const wanted = options.project ?? (POSTHORN_PROJECT || undefined);
	if (wanted !== undefined && !projects.some(({ id }) => id === wanted))
		throw new UsageError([`This key can't access ${wanted}.`]);
	const project = wanted ?? (await choose(projects));
	store(loginFile(), { url, key, project } satisfies Login);
	const name = clean(projects.find(({ id }) => id === project)?.name ?? project);
	if (options.json) return printJson({ url, project, file: loginFile() });
	console.log(`Signed in to ${url} for the project ${name}.`);
	note(`Stored in ${loginFile()}, which only you can read.`);
	if (!(await mayRead({ url, key, project })))
		warn('This key may not read: "listen", "logs" and "verify --event" need one with the scope read.');
}

/** Every key can list its project, regardless of scopes, so only a read shows this. */
async function mayRead(login: Login): Promise<boolean> {
	try {
		await clientFor(login).end();
	} catch (error) {
		if (!(error instanceof ApiError)) throw error;
		// Other refusals have nothing to do with the key.
		return error.status !== 403;
	}
	return true;
}

export function logout(options: Pick<LoginOptions, "json">): void {
	const wasStored = existsSync(loginFile());
	forget(loginFile());
	if (options.json) printJson({ deleted: wasStored ? loginFile() : null });
	note(
		wasStored
			? `Deleted ${loginFile()}. The key itself stays valid: revoke it in the dashboard, under API keys.`
			: "Nothing was stored, so nothing was deleted.",
	);
}

/** Undefined if nothing is stored, or if the file is damaged: it is replaced. */
function storedUrl(): string | undefined {
	try {
		return readLogin()?.url;
	} catch {
		return undefined;
	}
}

async function askUrl(known: string): Promise<string> {
	needTerminal("--url or POSTHORN_URL");
	const { default: input } = await import("@inquirer/input");
	return ask((context) => input({ message: "Where is the service?", default: known }, context));
}

async function askKey(): Promise<string> {
	needTerminal("POSTHORN_API_KEY");
	const { default: password } = await import("@inquirer/password");
	const message = "API key (phk_…), from the dashboard, under API keys";
	return ask((context) => password({ message, mask: true }, context));
}

async function choose(projects: Awaited<ReturnType<typeof projectsOf>>): Promise<string> {
	const only = onlyOf(projects);
	if (only !== null) return only;
	needTerminal("--project or POSTHORN_PROJECT");
	const { default: select } = await import("@inquirer/select");
	const choices = projects.map(({ id, name }) => ({ value: id, name: `${clean(name)}  ${id}` }));
	return ask((context) => select({ message: "Which project?", choices }, context));
}

function needTerminal(otherwise: string): void {
	if (!canAsk()) throw new UsageError([`There is no terminal to ask at. Set ${otherwise}.`]);
}

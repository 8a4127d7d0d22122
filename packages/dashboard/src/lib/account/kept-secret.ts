import { readTab, removeTab, writeTab } from "../tab-storage.ts";
import { parseJson } from "../text/parse-json.ts";
import type { KeyScope } from "./key-scopes.ts";

/**
 * A secret that is shown once survives a reload of its dialog, in the tab's session storage. Only this origin reads
 * that, and other tabs don't share it. Browsers may save it to disk to restore tabs, so it's deleted as soon as its user
 * is done, on signing out, and after ten minutes in any case.
 */
export interface KeptSecret {
	/** Whom it's shown to. */
	readonly account: string;
	/** What it belongs to. */
	readonly owner: string;
	readonly title: string;
	readonly secret: string;
	/** What an API key may do, so that a command can try it. */
	readonly scopes?: readonly KeyScope[];
	/** When it was first shown, milliseconds since 1970. */
	readonly at: number;
}

const KEY = "posthorn-shown-secret";
const KEPT_MS = 10 * 60_000;

/** The page's own copy. Undefined until the store has been read once. */
let current: KeptSecret | null | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

function set(kept: KeptSecret | null): void {
	current = kept;
	for (const listener of listeners) listener();
}

/** Calls `listener` whenever the secret changes; returns how to stop. */
export function onSecretChange(listener: () => void): () => void {
	listeners.add(listener);
	return () => listeners.delete(listener);
}

export function keepSecret(kept: KeptSecret): void {
	writeTab(KEY, JSON.stringify(kept));
	forgetIn(KEPT_MS);
	set(kept);
}

export function releaseSecret(): void {
	clearTimeout(timer);
	removeTab(KEY);
	set(null);
}

/** The secret that is being shown; null if there is none, or it had expired when the page was loaded. */
export function keptSecret(): KeptSecret | null {
	if (current === undefined) current = read(Date.now());
	return current;
}

function read(now: number): KeptSecret | null {
	const kept = parse(readTab(KEY));
	const left = kept === null ? 0 : kept.at + KEPT_MS - now;
	if (left <= 0 || left > KEPT_MS) {
		removeTab(KEY);
		return null;
	}
	forgetIn(left);
	return kept;
}

/** Deletes it from the store in time, even while its dialog stays open. */
function forgetIn(ms: number): void {
	clearTimeout(timer);
	timer = setTimeout(() => removeTab(KEY), ms);
}

function parse(text: string | null): KeptSecret | null {
	const value = parseJson(text ?? "") as Partial<Record<keyof KeptSecret, unknown>> | null | undefined;
	const { account, owner, title, secret, at } = value ?? {};
	const texts = [account, owner, title, secret];
	return texts.every((one) => typeof one === "string") && typeof at === "number" ? (value as KeptSecret) : null;
}

import { readTab, writeTab } from "./tab-storage.ts";

/** A part of the dashboard that couldn't be loaded: the browser is offline, or an upgrade has replaced its file. */
export class MissingPart extends Error {
	override readonly name = "MissingPart";

	constructor(cause: unknown) {
		// Not the cause's own message, by which the router recognizes a missing file and reloads the page itself.
		super("A part of the dashboard couldn't be loaded.", { cause });
	}
}

/** Loads a part of the dashboard. Rejects with {@link MissingPart}. */
export const part =
	<Module>(load: () => Promise<Module>) =>
	() =>
		load().catch((cause: unknown): never => {
			throw new MissingPart(cause);
		});

const RELOADED = "posthorn-reloaded-at";
/** After a reload, a part that is missing again within this time, in milliseconds, isn't worth another one. */
const PATIENCE_MS = 60_000;

/** Reloads the page to get the current version, unless that was just tried. Returns whether it does. */
export function reloadOnce(now: number): boolean {
	if (now - Number(readTab(RELOADED)) < PATIENCE_MS) return false;
	// Without a record of it, the page would reload forever.
	if (!writeTab(RELOADED, String(now))) return false;
	window.location.reload();
	return true;
}

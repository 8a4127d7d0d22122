import { BoundedMap } from "../../../base/bounded-map.ts";
import { CACHED_NAMES } from "../../../base/budgets.ts";

/** What numbers stand for, as far as it was looked up: within an epoch a number is never given to another name. */
export class NameCache {
	readonly projects = new BoundedMap<string, number>(CACHED_NAMES);
	/** The ids of the projects above. */
	readonly projectIds = new BoundedMap<number, string>(CACHED_NAMES);
	readonly webhooks = new BoundedMap<string, { readonly no: number; readonly projectNo: number }>(CACHED_NAMES);
	readonly types = new BoundedMap<string, number>(CACHED_NAMES);
}

import { BoundedMap } from "../../shared/bounded-map.ts";

/** What numbers stand for, as far as it was looked up: within an epoch a number is never given to another name. */
export class NameCache {
	readonly projects = new BoundedMap<string, number>();
	/** The ids of the projects above. */
	readonly projectIds = new BoundedMap<number, string>();
	readonly webhooks = new BoundedMap<string, { readonly no: number; readonly projectNo: number }>();
	readonly types = new BoundedMap<string, number>();
}

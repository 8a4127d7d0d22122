import { parseTypes } from "./event-types.ts";
import { checkIds } from "./ids.ts";
import { spanStart } from "./listen/listen-position.ts";

/** Options that choose deliveries, or attempts of them. */
export interface SelectionOptions {
	readonly webhook?: string;
	readonly type?: readonly string[];
	readonly status?: string;
	readonly event?: string;
	readonly since?: string;
}

/** The API's filter for these options, apart from the status. @throws UsageError */
export function selectionOf({ webhook, type, event, since }: SelectionOptions) {
	checkIds({ webhook, event });
	return {
		...(webhook !== undefined && { webhook_id: [webhook] }),
		...(type !== undefined && { type: parseTypes(type) }),
		...(event !== undefined && { event_id: event }),
		...(since !== undefined && { since: spanStart(since) }),
	};
}

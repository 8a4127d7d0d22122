import { UsageError } from "../command-error.ts";

const PREFIXES = { webhook: "wh_", event: "evt_" } as const;

/**
 * Checks ids to filter by: for one of another kind, or a script's empty variable, the service would find nothing.
 *
 * @throws UsageError
 */
export function checkIds(given: { readonly [Kind in keyof typeof PREFIXES]?: string }): void {
	for (const kind of ["webhook", "event"] as const) {
		const id = given[kind];
		if (id !== undefined && !id.startsWith(PREFIXES[kind]))
			throw new UsageError([`--${kind} is "${id}"; give the id of the ${kind}, ${PREFIXES[kind]}….`]);
	}
}

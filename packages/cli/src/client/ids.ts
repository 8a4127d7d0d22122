import { UsageError } from "../command-error.ts";

const PREFIXES = { project: "proj_", webhook: "wh_", event: "evt_", attempt: "att_" } as const;

type Kind = keyof typeof PREFIXES;

/**
 * Checks the ids in options: with one of another kind, or a script's empty variable, the service would find nothing, or
 * something else.
 *
 * @throws UsageError
 */
export function checkIds(given: { readonly [Of in Exclude<Kind, "attempt">]?: string | undefined }): void {
	for (const kind of ["project", "webhook", "event"] as const) {
		const id = given[kind];
		if (id !== undefined && !isId(id, kind))
			throw new UsageError([`--${kind} is "${id}"; give the id of the ${kind}, ${PREFIXES[kind]}….`]);
	}
}

/** The same for an argument, which must be the id of one of these kinds. @throws UsageError */
export function checkArgument(id: string, ...kinds: readonly Kind[]): void {
	if (kinds.some((kind) => isId(id, kind))) return;
	const which = kinds.map((kind) => `of the ${kind}, ${PREFIXES[kind]}…`).join(", or ");
	throw new UsageError([`The id is "${id}"; give the id ${which}.`]);
}

const isId = (id: string, kind: Kind): boolean => id.startsWith(PREFIXES[kind]);

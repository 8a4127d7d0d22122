import type { EventType } from "@posthorn/protocol";
import type { TSchema } from "typebox";
import type { Fault } from "../../base/text.ts";
import type { FactRecorded, FactRefused } from "../../store/index.ts";
import { invalid, notFound, notWritten, Problem } from "../http/problem.ts";
import { formatTime } from "../http/time.ts";
import { faultsBySchema } from "../http/validate.ts";

/** Members that a report may have before each of them is checked. */
const MAX_MEMBERS = 20;

/** The faults in a report's form. A report may be large, so checks stop at the most that a valid one can have. */
export function formFaults(schema: TSchema, report: unknown): Fault[] {
	const isObject = typeof report === "object" && report !== null && !Array.isArray(report);
	if (isObject && Object.keys(report).length > MAX_MEMBERS)
		return [{ pointer: "", detail: `must have at most ${MAX_MEMBERS} members` }];
	return faultsBySchema(schema, report);
}

/** The report, in the form of the schema. Throws 422 otherwise. */
export function readReport<T>(schema: TSchema, report: unknown): T {
	const faults = formFaults(schema, report);
	if (faults.length > 0) throw invalid(faults);
	return report as T;
}

export function presentFact(projectId: string, { at, events }: Pick<FactRecorded, "at" | "events">) {
	return {
		recorded_at: formatTime(at),
		events: events.map(({ id, seq, type, createdAt }) => ({
			id,
			seq,
			type: type as EventType,
			created_at: formatTime(createdAt),
			project_id: projectId,
		})),
	};
}

/** The response to a fact. Throws the reason if it wasn't recorded; `what` names it, such as "order". */
export function answerFact(
	what: string,
	projectId: string,
	result: FactRecorded | FactRefused | { readonly kind: "no_order" | "no_subscription" },
) {
	if (result.kind !== "recorded" && result.kind !== "repeated") throw refusedFact(what, result);
	return presentFact(projectId, result);
}

/** The error for a fact that wasn't recorded. `what` names it, such as "order". */
export function refusedFact(
	what: string,
	result: FactRefused | { readonly kind: "no_order" | "no_subscription" },
): Problem {
	switch (result.kind) {
		case "invalid":
			return invalid(result.faults);
		case "too_large":
			return new Problem(
				"too-large",
				`The event's data would have ${result.bytes} bytes; ${result.limit} are allowed. Report less of the items.`,
			);
		case "conflict":
			return new Problem(
				"conflict",
				`This ${what} was recorded before with different content, which remains. Nothing was recorded now.`,
			);
		case "no_project":
			return notFound("project");
		case "busy":
			return notWritten(result);
		case "no_order":
			return new Problem(
				"not-found",
				`There is no such order, or this key may not see it. Report the order first. Nothing was recorded now.`,
			);
		case "no_subscription":
			return notFound("subscription");
	}
}

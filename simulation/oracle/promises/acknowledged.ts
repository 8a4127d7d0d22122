import type { Happening } from "../../happenings.ts";
import type { Check, Witness } from "../check.ts";

/** Each acknowledged event is in its project's log once, at the acknowledged position. */
export function acknowledged(witness: Witness): Check {
	/** By project and event id, the number that was answered. */
	const answered = new Map<string, { projectId: string; eventId: string; seq: number }>();
	return {
		promise: "an acknowledged event is in the log, once",
		on(happening) {
			if (happening.kind === "appended") checkAppend(happening, witness);
			if (happening.kind === "restored") answered.clear();
			if (happening.kind !== "answered" || !happening.events) return;
			const { act, askedAt } = happening;
			const { projectId } = act;
			for (const { id: eventId, seq } of happening.events) {
				const event = witness.ledger.projects.get(projectId)?.events.get(eventId);
				const about = { projectId, eventId };
				// An event stored before a failover and acknowledged after it may be lost.
				if (!event && askedAt <= witness.restoredAt()) continue;
				if (!event) witness.broken(about, "it was acknowledged, and the log does not have it");
				else if (event.seq !== seq)
					witness.broken(about, `it was acknowledged as number ${seq}, and the log has it at ${event.seq}`);
				answered.set(`${projectId}/${eventId}`, { projectId, eventId, seq });
			}
		},
		end() {
			for (const { projectId, eventId, seq } of answered.values()) {
				const event = witness.ledger.projects.get(projectId)?.events.get(eventId);
				if (event?.seq !== seq)
					witness.broken(
						{ projectId, eventId },
						`it was acknowledged as number ${seq}, and isn't in the log at that number`,
					);
			}
		},
	};
}

function checkAppend({ projectId, events }: Extract<Happening, { kind: "appended" }>, witness: Witness): void {
	const project = witness.ledger.projects.get(projectId);
	if (!project) {
		witness.broken({ projectId }, "events were appended to the log of a project that does not exist");
		return;
	}
	let next = project.log.length + 1;
	for (const { id: eventId, seq } of events) {
		if (seq !== next) witness.broken({ projectId, eventId }, `it was appended as number ${seq}, expected ${next}`);
		if (project.events.has(eventId))
			witness.broken({ projectId, eventId }, `it was appended as number ${seq}, and the log has it already`);
		next += 1;
	}
}

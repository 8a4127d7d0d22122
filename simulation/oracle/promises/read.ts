import type { Happening, ReadResult } from "../../happenings.ts";
import type { Check, Witness } from "../check.ts";

/** Who polls a project's log. */
interface Reader {
	readonly projectId: string;
	/** By number, the ids of the events it has got and hasn't been told to forget. */
	readonly got: Map<number, string>;
	/** The last number that it got. */
	last: number;
	/** When it last asked and got a response; true time. */
	askedAt: number;
}

/** A reader that continues from each page's position gets each event of the log once, in order, or learns what was lost. */
export function read(witness: Witness): Check {
	const readers = new Map<number, Reader>();

	function page(reader: Reader, { askedAt, read }: Read & { read: { events: readonly Got[] } }): void {
		const { projectId, got } = reader;
		const isCurrent = askedAt > witness.restoredAt();
		const log = witness.ledger.projects.get(projectId)?.log ?? [];
		for (const { id: eventId, seq } of read.events) {
			const about = { projectId, eventId };
			if (seq <= reader.last) witness.broken(about, `a reader got number ${seq} after ${reader.last}`);
			got.set(seq, eventId);
			// The next page says what the database has lost since.
			if (isCurrent) {
				if (log[seq - 1]?.id !== eventId)
					witness.broken(about, `a reader got it as number ${seq}, where the log has ${log[seq - 1]?.id}`);
				checkGap(projectId, reader.last, seq);
			}
			reader.last = seq;
		}
	}

	/** Events between two numbers may only be missing if they have been deleted because of their age. */
	function checkGap(projectId: string, after: number, before: number): void {
		const { projects, eventsSince } = witness.ledger;
		const log = projects.get(projectId)?.log ?? [];
		for (let seq = after + 1; seq < before; seq++) {
			const event = log[seq - 1]!;
			if (event.publishedAt >= eventsSince)
				witness.broken({ projectId, eventId: event.id }, `a reader got number ${before} after ${after}`);
		}
	}

	return {
		promise: "a reader of the log gets each event once, in order, or learns which were lost",
		on(happening) {
			if (happening.kind !== "answered" || happening.act.act !== "read" || !happening.read) return;
			const { act, read } = happening;
			const { projectId } = act;
			const reader = readers.get(act.reader) ?? { projectId, got: new Map(), last: 0, askedAt: 0 };
			reader.askedAt = happening.askedAt;
			readers.set(act.reader, reader);
			if ("events" in read) page(reader, { ...happening, act, read });
			else {
				if (witness.restoredAt() < 0)
					witness.broken({ projectId }, "a reader was told that events were lost, and none were");
				for (const seq of reader.got.keys()) if (seq > read.continueAfter) reader.got.delete(seq);
				reader.last = Math.min(reader.last, read.continueAfter);
			}
		},
		end() {
			for (const { projectId, got, askedAt } of readers.values()) {
				if (askedAt <= witness.restoredAt()) continue;
				const log = witness.ledger.projects.get(projectId)?.log ?? [];
				for (const [seq, eventId] of got) {
					const found = log[seq - 1]?.id;
					if (found !== eventId)
						witness.broken(
							{ projectId, eventId },
							`a reader got it as number ${seq}, which is ${found ?? "nothing"} now`,
						);
				}
			}
		},
	};
}

type Got = Extract<ReadResult, { events: unknown }>["events"][number];
type Answered = Extract<Happening, { kind: "answered" }>;
type Read = Answered & { act: Extract<Answered["act"], { act: "read" }> };

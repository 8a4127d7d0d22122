import { NOT_SENT, PER_OCTAVE } from "../../shared/response-times.ts";

/** The class under which an attempt's response time is counted. */
export function responseClass({ sent, responseMs }: { sent: object | null; responseMs: number }): number {
	return sent === null ? NOT_SENT : Math.floor(PER_OCTAVE * Math.log2(Math.max(responseMs, 1)));
}

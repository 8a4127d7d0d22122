import type { LaneState } from "../port.ts";

/** Closing needs no request, so it is as fast as commits are. */
const CLOSED_AT_ONCE = 100;

/** The lane of a deleted webhook, at the end of the log. */
export function closingLane(webhookId: string, url: string, lastSeq: number): LaneState {
	return {
		webhookId,
		url,
		status: "deleted",
		maxInFlight: CLOSED_AT_ONCE,
		sealedDigest: new Uint8Array(0),
		subscriptions: new Map(),
		position: lastSeq,
		open: [],
		skipThrough: 0,
	};
}

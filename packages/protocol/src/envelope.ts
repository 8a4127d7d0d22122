import { isoTime } from "./iso-time.ts";

/** The content of a webhook request's body (the specification's section 2.2). */
export interface Envelope {
	/** The event's identifier, `evt_…`; receivers deduplicate by it. */
	readonly id: string;
	readonly type: string;
	/** When the event was generated: milliseconds since the Unix epoch, within the years 0 to 9999. */
	readonly createdAt: number;
	/** The store project's identifier, `proj_…`. */
	readonly projectId: string;
	/** The event's data as JSON text, copied into the envelope character for character. */
	readonly data: string;
}

/** Length of `2026-11-21T03:47:36.123Z`. */
const CREATED_AT_BYTES = 24;

function untilCreatedAt(id: string, type: string): string {
	return `{"id":${JSON.stringify(id)},"type":${JSON.stringify(type)},"created_at":"`;
}

/**
 * The exact bytes of an envelope in UTF-8, as stored, signed and sent. Doesn't check that `data` is valid JSON. Throws a
 * RangeError unless `createdAt` is a time in the years 0 to 9999.
 */
export function encodeEnvelope({ id, type, createdAt, projectId, data }: Envelope): Buffer {
	const time = isoTime(createdAt);
	if (time.length !== CREATED_AT_BYTES) {
		throw new RangeError(`Event ${id} has created_at ${time}, outside the years 0 to 9999; give a time within them.`);
	}
	return Buffer.from(`${untilCreatedAt(id, type)}${time}","project_id":${JSON.stringify(projectId)},"data":${data}}`);
}

/**
 * Whether two encoded envelopes of the event `id` have the same content: the same bytes or, if the publisher didn't set
 * `created_at`, the same bytes except its value, which then only says when the service first saw the event. `type` is
 * the incoming event's type. Bytes that aren't an envelope of `id` and `type` must match completely.
 */
export function sameContent(
	id: string,
	type: string,
	stored: Uint8Array,
	incoming: Uint8Array,
	createdAtGiven: boolean,
): boolean {
	if (stored.length !== incoming.length) return false;
	if (createdAtGiven) return Buffer.compare(stored, incoming) === 0;
	const head = Buffer.from(untilCreatedAt(id, type));
	const tail = head.length + CREATED_AT_BYTES;
	const isEnvelope = stored.length > tail && head.equals(incoming.subarray(0, head.length));
	if (!isEnvelope) return Buffer.compare(stored, incoming) === 0;
	return (
		head.equals(stored.subarray(0, head.length)) && Buffer.compare(stored.subarray(tail), incoming.subarray(tail)) === 0
	);
}

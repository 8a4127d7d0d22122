/** The type of the events that are published. */
export const EVENT_TYPE = "delivery.success";

/** The size of an event's envelope as delivered, bytes; it varies slightly with the digits of the event's number. */
const ENVELOPE_BYTES = 1_024;

const EVENT_ID = `evt_${"0".repeat(26)}`;
const PROJECT_ID = `proj_${"0".repeat(26)}`;
const CREATED_AT = "2026-01-01T00:00:00.000Z";
const PAD = "x".repeat(ENVELOPE_BYTES - envelope(dataOf(10_000, 1_767_225_600_000, "")).length);

/** This machine's time in milliseconds since the Unix epoch, with a resolution of a microsecond or better. */
export function now(): number {
	return performance.timeOrigin + performance.now();
}

/** An event's data: its number among those of its webhook, its publish time, and padding to 1 KB in total. */
export function eventData(n: number, at: number): string {
	return dataOf(n, at, PAD);
}

/** The names of two more fields, of 8 and 14 characters, so that all events have the same size. */
export interface ReferenceFields {
	readonly order: string;
	readonly customer: string;
}

/** The same size, with an order id and an e-mail address that each event has to itself, in fields of these names. */
export function referenceEventData(n: number, at: number, { order, customer }: ReferenceFields): string {
	const fields = `"${order}":"ord_${n}","${customer}":"buyer${n}@example.com",`;
	const start = dataOf(n, at, "");
	return start.replace('"pad":""', `${fields}"pad":"${PAD.slice(fields.length)}"`);
}

/** The same without padding. */
export function smallEventData(n: number, at: number): string {
	return dataOf(n, at, "");
}

/** The body of a publish call for one event. */
export function eventInput(data: string): string {
	return `{"type":"${EVENT_TYPE}","data":${data}}`;
}

/** An envelope of the size and shape that the service delivers. */
export function envelope(data: string): string {
	return `{"id":"${EVENT_ID}","type":"${EVENT_TYPE}","created_at":"${CREATED_AT}","project_id":"${PROJECT_ID}","data":${data}}`;
}

function dataOf(n: number, at: number, pad: string): string {
	return `{"n":${n},"at":${at.toFixed(3)},"pad":"${pad}"}`;
}

import {
	type AttemptFilter,
	type AttemptStatus,
	type CodeRange,
	type ResponseFilter,
	type RetryQueue,
	StorageError,
} from "../port.ts";

/** How the delivery log stores statuses. */
export const STATUS_CODE = { delivered: 1, retrying: 2, failed: 3 } as const satisfies Record<AttemptStatus, number>;
export const STATUSES = ["delivered", "retrying", "failed"] as const satisfies readonly AttemptStatus[];

export function statusOf(code: unknown): AttemptStatus {
	const status = STATUSES[(code as number) - 1];
	if (status === undefined) throw new StorageError("unusable", `The delivery log holds an unknown status (${code}).`);
	return status;
}

/** How queues are stored. */
export const QUEUE_CODE = { retry: 0, replay: 1, requested: 2 } as const satisfies Record<RetryQueue, number>;
export const QUEUES = ["retry", "replay", "requested"] as const satisfies readonly RetryQueue[];
export const queueOf = (code: unknown): RetryQueue => QUEUES[code as number]!;

const ATTEMPT_PREFIX = "att_";

/** Attempt ids are stored without their prefix; what follows sorts by time. */
export const toStoredId = (id: string): string => id.slice(ATTEMPT_PREFIX.length);
export const toAttemptId = (stored: unknown): string => ATTEMPT_PREFIX + (stored as string);

/** Represents a missing response among status codes. */
export const NO_RESPONSE = 0;

/**
 * The stored statuses that attempts of this filter may have. Only a 2xx is delivered (engine/settle/lifecycle.ts), so a
 * search for errors never reads delivered attempts.
 */
export function statusesOf({ status, response }: Pick<AttemptFilter, "status" | "response">): number[] {
	const asked = status === undefined ? STATUSES : [status];
	const possible = asked.filter(
		(each) => response === undefined || response.codes.some((range) => admits(range, each)),
	);
	return possible.map((each) => STATUS_CODE[each]);
}

const admits = ({ from, to }: CodeRange, status: AttemptStatus): boolean =>
	status === "delivered" ? from <= 299 && to >= 200 : from < 200 || to > 299;

export function fitsResponse({ codes }: ResponseFilter, statusCode: number | null): boolean {
	const code = statusCode ?? NO_RESPONSE;
	return codes.some(({ from, to }) => from <= code && code <= to);
}

import type { AttemptFilter, AttemptStatus, CodeRange, ResponseFilter } from "../port.ts";
import { STATUS_CODE, STATUSES } from "./attempt-codes.ts";

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

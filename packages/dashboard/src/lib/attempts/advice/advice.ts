import type { Certificate } from "@posthorn/protocol";
import type { Hold } from "../../text/hold.ts";
import { formatMs } from "../../text/numbers.ts";
import { serverNow } from "../../text/server-time.ts";
import { type AttemptStatus, type ResponseFacts, statusText } from "../attempt-words.ts";
import { byStatus } from "./by-status.ts";
import type { Advice, Failure } from "./failure.ts";
import { INTERMEDIARIES } from "./intermediaries.ts";
import { RECEIVERS } from "./receivers.ts";
import { REFUSALS } from "./refusals.ts";
import type { AdviceRule } from "./rule.ts";
import { withoutResponse } from "./without-response.ts";

/** The first rule that matches applies. */
export const ADVICE_RULES: readonly AdviceRule[] = [...REFUSALS, ...INTERMEDIARIES, ...RECEIVERS];

/** The fields of an attempt that the advice needs. */
export interface AdviceFacts extends ResponseFacts {
	readonly status: AttemptStatus;
	readonly url: string;
	readonly started_at?: string;
	readonly response_ms: number;
	/** The beginning of the response's body, if it is known. */
	readonly response_body?: string;
	/** Some of its header fields, if they are known. */
	readonly response_headers?: Readonly<Record<string, string>>;
	/** What name servers answered, if that is why there was no response. */
	readonly dns?: string | null;
	/** The certificate that was rejected. */
	readonly certificate?: Certificate | null;
}

/** A delivery's state: `open` while more attempts follow, why they are held up, or `over` if none follows. */
export type Prospect = "delivered" | "open" | Hold | "over";

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : url);

/**
 * An attempt's result in plain words, and what its owner can do about it.
 *
 * @param prospect by default, as the attempt itself shows it
 */
export function adviceFor(attempt: AdviceFacts, prospect = prospectOf(attempt)): Advice {
	const advice = explain(attempt, prospect);
	return prospect === "delivered" ? { ...advice, tries: [] } : advice;
}

const PROSPECTS = { delivered: "delivered", retrying: "open", failed: "over" } as const;
const prospectOf = ({ status }: AdviceFacts): Prospect => PROSPECTS[status];

function explain(attempt: AdviceFacts, prospect: Prospect): Advice {
	const { status, status_code, error_code, url, response_ms, response_body: body = "" } = attempt;
	const { response_headers: headers = {}, dns = null, certificate = null } = attempt;
	const about = { url, host: hostOf(url), took: formatMs(response_ms) };
	const startedAt = attempt.started_at === undefined ? serverNow() : Date.parse(attempt.started_at);
	const hold = prospect === "paused" || prospect === "unsigned" ? prospect : null;
	const failure: Failure = {
		...about,
		isRetried: hold !== null || prospect === "open",
		hold,
		body,
		headers,
		dns,
		certificate,
		startedAt,
	};
	if (status === "delivered") {
		const result = status_code === null ? "accepted it" : `returned ${statusText(status_code)}`;
		return { why: `${failure.host} ${result} after ${failure.took}.`, tries: [] };
	}
	if (status_code === null) return withoutResponse(error_code)(failure);
	const rule = ADVICE_RULES.find(({ statuses, fits }) => statuses(status_code) && fits(failure));
	return rule === undefined ? byStatus(status_code, failure) : rule.advice(failure);
}

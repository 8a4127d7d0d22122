import type { Certificate } from "@posthorn/protocol";
import { HOLDS, type Hold } from "../../text/hold.ts";

/** Why an attempt ended as it did, and what to try. */
export interface Advice {
	readonly why: string;
	/**
	 * Most likely first; none for a delivered attempt, or for a failed one whose delivery has succeeded since. The first one
	 * makes sense without `why` and the response: a webhook's page shows only that.
	 */
	readonly tries: readonly string[];
}

/** What the advice is made from. */
export interface Failure {
	readonly url: string;
	readonly host: string;
	/** Whether more attempts follow. */
	readonly isRetried: boolean;
	/** Why they wait although they may be due. */
	readonly hold: Hold | null;
	/** How long the attempt took: `15.0 s`. */
	readonly took: string;
	/** The beginning of the response's body. */
	readonly body: string;
	/** Some of its header fields, names in lower case. */
	readonly headers: Readonly<Record<string, string>>;
	readonly dns: string | null;
	readonly certificate: Certificate | null;
	/** When the attempt began, milliseconds since the Unix epoch. */
	readonly startedAt: number;
}

export type Explanation = (failure: Failure) => Advice;

export const SETTINGS = "in the webhook's settings";

type Ahead = Pick<Failure, "isRetried" | "hold">;

/** How the event arrives once the cause is gone: `Once it's back, replay what failed.` */
export function once(isGone: string, { isRetried, hold }: Ahead): string {
	return `Once ${isGone}, ${hold !== null ? HOLDS[hold].release : isRetried ? "retries arrive automatically" : "replay what failed"}.`;
}

export const onceFixed = (failure: Ahead): string => once("it's fixed", failure);

/** What sends the event again, after `then`. */
export const nextAction = ({ isRetried, hold }: Ahead): string =>
	hold !== null ? HOLDS[hold].release : isRetried ? "retry now" : "replay";

/** Whether retries follow without anyone doing anything. */
export const isOpen = ({ isRetried, hold }: Ahead): boolean => isRetried && hold === null;

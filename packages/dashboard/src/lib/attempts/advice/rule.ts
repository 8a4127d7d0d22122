import type { Explanation, Failure } from "./failure.ts";

/** Advice that follows from what a receiver says about itself, in the body or the header fields of its response. */
export interface AdviceRule {
	readonly name: string;
	readonly statuses: (status: number) => boolean;
	readonly fits: (failure: Failure) => boolean;
	readonly advice: Explanation;
}

export const among =
	(...codes: readonly number[]) =>
	(status: number): boolean =>
		codes.includes(status);

/** Whether the response's body matches one of these. */
export const says =
	(...patterns: readonly RegExp[]) =>
	({ body }: Failure): boolean =>
		patterns.some((pattern) => pattern.test(body));

/** Not what a page loads from its CDN. */
export const CLOUDFLARE = /(?<!cdnjs\.)cloudflare/i;

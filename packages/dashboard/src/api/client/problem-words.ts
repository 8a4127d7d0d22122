import { sentence } from "../../lib/text/case.ts";
import { ApiError } from "./error.ts";

/** An error in the words of the dashboard. */
export interface ProblemWords {
	readonly title: string;
	/** What happened and what to do. */
	readonly detail: string;
}

type Wording = (error: ApiError) => Partial<ProblemWords>;

const NOT_UNDERSTOOD: ProblemWords = {
	title: "The service didn't understand the request",
	detail: "Reload the page and try again.",
};

/** Where the API's own words are meant for programs, by code. */
const WORDS: Readonly<Record<string, Wording>> = {
	unauthorized: ({ detail }) =>
		/API key|session/i.test(detail)
			? { title: "You're signed out", detail: "Your session has ended. Sign in again." }
			: { title: "You couldn't be signed in" },
	forbidden: ({ detail }) =>
		// The session is refetched, so the next attempt has the right token.
		/CSRF/i.test(detail)
			? {
					title: "This browser has a new session",
					detail: "Someone signed in from another tab. Check the account at the top right, then try again.",
				}
			: /Origin/i.test(detail)
				? { title: "This page is outdated", detail: "Reload the page and try again." }
				: { title: "You don't have permission", detail: detail.replace(/\bthis key\b/g, "you") },
	"not-found": ({ detail }) => ({
		title: "Not found",
		detail: /no such/i.test(detail)
			? `${detail.split(",", 1)[0]?.replace(/\.$/, "")}. It may have been deleted, or you no longer have access.`
			: detail,
	}),
	conflict: () => ({ title: "That isn't possible now" }),
	invalid: ({ errors }) => ({
		title: "That can't be saved",
		detail:
			errors.length === 0
				? "Some of the values aren't allowed."
				: errors.map(({ detail }) => sentence(detail)).join(" "),
	}),
	"malformed-request": () => NOT_UNDERSTOOD,
	"unsupported-media-type": () => NOT_UNDERSTOOD,
	"method-not-allowed": () => ({
		title: "The dashboard and the service don't match",
		detail: "One of them may just have been upgraded. Reload the page and try again.",
	}),
	internal: () => ({ title: "Something went wrong on our side" }),
};

const BEYOND: ProblemWords = {
	title: "Something went wrong",
	detail: "The page couldn't read the response. Reload it, and report the problem if it keeps happening.",
};

/** What to tell people about an error. */
export function problemWords(error: unknown): ProblemWords {
	if (!(error instanceof ApiError)) return BEYOND;
	const { title, detail } = error;
	return { title, detail, ...WORDS[error.code]?.(error) };
}

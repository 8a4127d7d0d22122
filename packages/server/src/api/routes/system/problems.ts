import { PROBLEMS, Problem, type ProblemKind } from "../../http/problem.ts";
import { RawResponse, type Route, routeIn } from "../../route.ts";
import { Type } from "../../schema.ts";

const ProblemExplanation = Type.Object(
	{
		type: Type.String({ description: "The problem's type: the path of this explanation." }),
		title: Type.String(),
		status: Type.Integer(),
		meaning: Type.String({ description: "When it is returned." }),
		action: Type.String({ description: "What to do." }),
	},
	{ title: "ProblemExplanation" },
);

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
const isKind = (name: string): name is ProblemKind => Object.hasOwn(PROBLEMS, name);

/** Explains each problem type at its own URL, for people and for programs. */
export function problemRoutes(): Route[] {
	return [
		routeIn("System")("GET", "/problems/{problem}", "explainProblem", {
			summary: "What a problem type means, and what to do",
			description: "Each error's `type` is such a path. Browsers get a page.",
			access: "open",
			success: { status: 200, description: "The explanation.", schema: ProblemExplanation },
			handler({ params: { problem }, request }) {
				if (!isKind(problem))
					throw new Problem(
						"not-found",
						`There is no such problem type. There are: ${Object.keys(PROBLEMS).join(", ")}.`,
					);
				const { title, status, meaning, action } = PROBLEMS[problem];
				const explanation = { type: `/problems/${problem}`, title, status, meaning, action };
				if (!/\btext\/html\b/.test(request.headers.accept ?? "")) return explanation;
				return new RawResponse(pageOf(explanation), "text/html; charset=utf-8", { "Content-Security-Policy": POLICY });
			},
		}),
	];
}

/** The texts are this service's own, so nothing needs escaping. */
function pageOf({
	type,
	title,
	status,
	meaning,
	action,
}: Record<"type" | "title" | "meaning" | "action", string> & { status: number }) {
	return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}</style>
<p><code>${type}</code>, status ${status}</p><h1>${title}</h1><p>${meaning}</p><h2>What to do</h2><p>${action}</p>
</html>
`;
}

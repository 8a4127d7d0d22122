import { isoTime } from "@posthorn/protocol";
import type { Static } from "typebox";
import { METRICS } from "../../../base/budgets.ts";
import { RateLimit } from "../../../base/throttle.ts";
import { quarantineNotice } from "../../../engine/quarantine.ts";
import { holdText } from "../../../engine/retention-clock.ts";
import { SHORTAGE_TEXT } from "../../../net/shortages.ts";
import { acceptedEncodings } from "../../http/encodings.ts";
import { PROBLEMS, Problem, type ProblemKind } from "../../http/problem.ts";
import { REFERENCE_PAGE, REFERENCE_POLICY, referenceScript } from "../../openapi/reference/reference.ts";
import { type ApiParts, RawResponse, type Route, routeIn } from "../../route.ts";
import { component, orNull, Time, Type } from "../../schema.ts";
import type { StorageCheck, StorageState } from "../../storage-check.ts";

const route = routeIn("System", "operator");

const ClockState = component("ClockState")({
	now: Time,
	on_hold: Type.Boolean({
		description: "Whether nothing is deleted or dead-lettered for its age, because the clock isn't trusted.",
	}),
	detail: orNull(Type.String(), "Why, and what to do."),
});

const Health = component("Health")({
	status: Type.Enum(["ok"]),
	notice: Type.Optional(Type.String({ description: "What delays some deliveries without making the node unready." })),
});

const STORAGE_TEXT: Record<Exclude<StorageState, "ok">, string> = {
	full: "Storage has no space left, so events are refused: free some. This node is ready again within seconds of that.",
	silent: "Storage doesn't respond. Check the database; the service's log has the details.",
};

const FEW_CONNECTIONS =
	"PostgreSQL had no connection left for this node within the last minute, so deliveries and calls may wait. posthorn doctor says which limit to raise.";

export function systemRoutes(parts: ApiParts, storageCheck: Pick<StorageCheck, "read">): Route[] {
	const { metrics, clock, logger, shortages, retention, quarantine, lacksConnections, ready } = parts;

	function presentClock() {
		const { hold } = retention;
		return { now: isoTime(clock.now()), on_hold: hold !== null, detail: hold && holdText(hold) };
	}

	const renders = new RateLimit(METRICS.renders, clock);
	let rendered: Promise<Uint8Array> | undefined;
	/**
	 * The last text while there were too many renders: it takes milliseconds of the main thread, and anyone may ask. Its
	 * bytes are shared by all responses, which no budget counts.
	 */
	function renderMetrics(): Promise<Uint8Array> {
		if (renders.take("all") === null || rendered === undefined)
			rendered = metrics.registry.metrics().then((text) => Buffer.from(text));
		return rendered;
	}

	return [
		route("GET", "/healthz", "isLive", {
			summary: "Is the process alive?",
			access: "open",
			success: { status: 200, description: "The process is alive.", schema: Health },
			handler: () => ({ status: "ok" as const }),
		}),
		route("GET", "/readyz", "isReady", {
			summary: "Can it serve?",
			access: "open",
			success: { status: 200, description: "Storage reads and commits, and the engine accepts work.", schema: Health },
			problems: {
				unavailable:
					"Storage didn't respond within two seconds or has no space left, the engine is stopping, or the machine has run out of something that deliveries need.",
			},
			async handler() {
				if (!ready()) throw new Problem("unavailable", "The engine doesn't accept work: it is starting or stopping.");
				const state = await storageCheck.read();
				if (state !== "ok") throw new Problem("unavailable", STORAGE_TEXT[state]);
				const shortage = shortages.current;
				// A receiver can use up the ports towards itself. That must not take the node out of service for everyone else.
				if (shortage === "ports") return { status: "ok" as const, notice: SHORTAGE_TEXT[shortage] };
				if (shortage !== null) throw new Problem("unavailable", SHORTAGE_TEXT[shortage]);
				const { mark } = quarantine;
				const few = lacksConnections?.() === true ? FEW_CONNECTIONS : null;
				const notices = [mark && quarantineNotice(mark), retention.notice, few].filter((text) => text !== null);
				return { status: "ok" as const, ...(notices.length > 0 && { notice: notices.join(" ") }) };
			},
		}),
		route("GET", "/v1/clock", "getClock", {
			summary: "Is the clock trusted?",
			description:
				"If this node's clock is far ahead of the last recorded time, nothing is deleted or dead-lettered for its age until the clock is confirmed or set.",
			success: { status: 200, description: "This node's clock.", schema: ClockState },
			handler: presentClock,
		}),
		route("POST", "/v1/clock/confirm", "confirmClock", {
			summary: "Confirm that the clock is right",
			description:
				"Call this if the clock is right: the service was off for that long, or the clock was far behind before. All nodes follow within a minute. Data past its retention is then deleted, and events that waited too long are dead-lettered.",
			success: { status: 200, description: "This node's clock.", schema: ClockState },
			async handler() {
				await retention.confirm();
				logger.warn({ now: clock.now() }, "an operator confirmed the clock");
				return presentClock();
			},
		}),
		route("GET", "/metrics", "readMetrics", {
			summary: "Metrics for Prometheus",
			description:
				"Covers the whole instance, and names no project. Like `/healthz`, it needs no key; if the port is public, block this path in the proxy.",
			access: "open",
			success: { status: 200, description: "Prometheus text.", contentType: "text/plain" },
			handler: async () => new RawResponse(await renderMetrics(), metrics.registry.contentType),
		}),
	];
}

/** @param openApi the document's JSON text, generated at the first request and shared by all responses */
export function docsRoutes(openApi: () => string | Uint8Array): Route[] {
	return [
		route("GET", "/openapi.json", "getOpenApi", {
			summary: "This API as an OpenAPI 3.1 document",
			access: "open",
			success: { status: 200, description: "The document.", schema: Type.Object({}) },
			handler: () => new RawResponse(openApi(), "application/json"),
		}),
		route("GET", "/docs", "readDocs", {
			summary: "The API reference for humans",
			access: "open",
			success: { status: 200, description: "A page.", contentType: "text/html" },
			handler: () =>
				new RawResponse(REFERENCE_PAGE, "text/html; charset=utf-8", {
					"Content-Security-Policy": REFERENCE_POLICY,
				}),
		}),
		route("GET", "/docs/reference.js", "readDocsScript", {
			summary: "The script of the API reference",
			access: "open",
			success: { status: 200, description: "A script, compressed.", contentType: "text/javascript" },
			async handler({ request }) {
				const takesGzip = acceptedEncodings(request.headers["accept-encoding"])("gzip");
				return new RawResponse(await referenceScript({ gzip: takesGzip }), "text/javascript; charset=utf-8", {
					"Cache-Control": "no-cache",
					Vary: "Accept-Encoding",
					...(takesGzip && { "Content-Encoding": "gzip" }),
				});
			},
		}),
	];
}

const ProblemExplanation = component("ProblemExplanation")({
	type: Type.String({ description: "The problem's type: the path of this explanation." }),
	title: Type.String(),
	status: Type.Integer(),
	meaning: Type.String({ description: "When it is returned." }),
	action: Type.String({ description: "What to do." }),
});

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
const isKind = (name: string): name is ProblemKind => Object.hasOwn(PROBLEMS, name);

/** Explains each problem type at its own URL, for people and for programs. */
export function problemRoutes(): Route[] {
	return [
		route("GET", "/problems/{problem}", "explainProblem", {
			summary: "Explain a problem type",
			description: "Each error's `type` is such a path. Browsers get a page.",
			access: "open",
			success: { status: 200, description: "The explanation.", schema: ProblemExplanation },
			handler({ params: { problem }, request }) {
				if (!isKind(problem))
					throw new Problem(
						"not-found",
						`There is no such problem type. Known types: ${Object.keys(PROBLEMS).join(", ")}.`,
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
function pageOf({ type, title, status, meaning, action }: Static<typeof ProblemExplanation>) {
	return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}</style>
<p><code>${type}</code>, status ${status}</p><h1>${title}</h1><p>${withCode(meaning)}</p><h2>What to do</h2><p>${withCode(action)}</p>
</html>
`;
}

/** Marks what is between backticks as code. */
const withCode = (text: string): string => text.replaceAll(/`([^`]+)`/g, "<code>$1</code>");

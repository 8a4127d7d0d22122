import { shortageText } from "../../engine/send/shortages.ts";
import { Problem } from "../http/problem.ts";
import { REFERENCE_PAGE, referencePolicy, referenceScript } from "../openapi/reference/reference.ts";
import type { ApiParts } from "../parts.ts";
import { defineRoute, RawAnswer, type Route } from "../route.ts";
import { Health } from "../schemas/index.ts";
import { Type } from "../schemas/type.ts";

/** Storage must answer within this time to count as ready. */
const PING_MS = 2_000;

type SystemParts = Pick<ApiParts, "storage" | "metrics" | "clock" | "logger" | "ready" | "shortages">;

export function systemRoutes({ storage, metrics, clock, logger, shortages, ready = () => true }: SystemParts): Route[] {
	const tag = "System";

	async function storageAnswers(): Promise<boolean> {
		let timer: { cancel(): void } | undefined;
		const late = new Promise<boolean>((resolve) => {
			timer = clock.setTimeout(() => resolve(false), PING_MS);
		});
		try {
			return await Promise.race([
				storage.ping().then(
					() => true,
					(error: unknown) => {
						logger.warn({ err: error }, "storage did not respond");
						return false;
					},
				),
				late,
			]);
		} finally {
			timer?.cancel();
		}
	}

	return [
		defineRoute({
			method: "GET",
			path: "/healthz",
			operationId: "isLive",
			tag,
			summary: "Is the process alive?",
			access: "open",
			success: { status: 200, description: "It is.", schema: Health },
			handler: () => ({ status: "ok" as const }),
		}),
		defineRoute({
			method: "GET",
			path: "/readyz",
			operationId: "isReady",
			tag,
			summary: "Can it serve?",
			access: "open",
			success: { status: 200, description: "Storage answers and the engine takes work.", schema: Health },
			problems: {
				unavailable:
					"Storage did not answer within two seconds, the engine is stopping, or the machine is out of something that deliveries need.",
			},
			async handler() {
				if (!ready()) throw new Problem("unavailable", "The engine does not take work: it is starting or stopping.");
				if (!(await storageAnswers()))
					throw new Problem("unavailable", "Storage does not answer. Check the database; the log says more.");
				const shortage = shortages?.current ?? null;
				// A receiver can use up the ports towards itself. That must not take the node away from everyone else.
				if (shortage === "ports") return { status: "ok" as const, notice: shortageText(shortage) };
				if (shortage !== null) throw new Problem("unavailable", shortageText(shortage));
				return { status: "ok" as const };
			},
		}),
		defineRoute({
			method: "GET",
			path: "/metrics",
			operationId: "readMetrics",
			tag,
			summary: "Metrics for Prometheus",
			description:
				"Counts over the whole instance; nothing in them names a project. Open like `/healthz`: where the port is public, let the proxy before it keep this path to yourself.",
			access: "open",
			success: { status: 200, description: "Prometheus text.", contentType: "text/plain" },
			handler: async () => new RawAnswer(await metrics.registry.metrics(), metrics.registry.contentType),
		}),
	];
}

/** @param openApi the document's JSON text, made when it is first asked for */
export function docsRoutes(openApi: () => string): Route[] {
	const tag = "System";
	return [
		defineRoute({
			method: "GET",
			path: "/openapi.json",
			operationId: "getOpenApi",
			tag,
			summary: "This API as an OpenAPI 3.1 document",
			access: "open",
			success: { status: 200, description: "The document.", schema: Type.Object({}) },
			handler: () => new RawAnswer(openApi(), "application/json"),
		}),
		defineRoute({
			method: "GET",
			path: "/docs",
			operationId: "readDocs",
			tag,
			summary: "The API's reference for people",
			access: "open",
			success: { status: 200, description: "A page.", contentType: "text/html" },
			handler: () =>
				new RawAnswer(REFERENCE_PAGE, "text/html; charset=utf-8", {
					"Content-Security-Policy": referencePolicy(REFERENCE_PAGE),
				}),
		}),
		defineRoute({
			method: "GET",
			path: "/docs/reference.js",
			operationId: "readDocsScript",
			tag,
			summary: "The script of that page",
			access: "open",
			success: { status: 200, description: "A script, compressed.", contentType: "text/javascript" },
			async handler({ request }) {
				const takesGzip = /\bgzip\b/.test(request.headers["accept-encoding"] ?? "");
				return new RawAnswer(await referenceScript({ gzip: takesGzip }), "text/javascript; charset=utf-8", {
					"Cache-Control": "no-cache",
					Vary: "Accept-Encoding",
					...(takesGzip && { "Content-Encoding": "gzip" }),
				});
			},
		}),
	];
}

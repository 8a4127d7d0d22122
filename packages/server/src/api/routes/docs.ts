import { loadReference, referencePolicy } from "../reference/reference.ts";
import { defineRoute, RawAnswer, type Route } from "../route.ts";
import { Type } from "../schemas/type.ts";

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
			async handler() {
				const { html } = await loadReference();
				return new RawAnswer(html, "text/html; charset=utf-8", { "Content-Security-Policy": referencePolicy(html) });
			},
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
				const { script, plain } = await loadReference();
				const takesGzip = /\bgzip\b/.test(request.headers["accept-encoding"] ?? "");
				return new RawAnswer(takesGzip ? script : await plain(), "text/javascript; charset=utf-8", {
					"Cache-Control": "no-cache",
					Vary: "Accept-Encoding",
					...(takesGzip && { "Content-Encoding": "gzip" }),
				});
			},
		}),
	];
}

import { parentPort } from "node:worker_threads";
import { gzipSync } from "node:zlib";
import scalar from "@scalar/fastify-api-reference";
import Fastify from "fastify";
import type { MadeReference } from "./reference.ts";

/** Where the page finds its document and its script; no fonts, telemetry or tools from elsewhere. */
const OPTIONS = {
	routePrefix: "/docs",
	configuration: {
		url: "/openapi.json",
		cdn: "/docs/reference.js",
		pageTitle: "Posthorn API",
		withDefaultFonts: false,
		telemetry: false,
		showDeveloperTools: "never",
		hideClientButton: true,
		agent: { disabled: true },
		mcp: { disabled: true },
	},
} as const;

/** The library is a plug-in that can only be added before a server starts, so a server of its own answers for it. */
const inner = Fastify({ logger: false });
await inner.register(scalar, OPTIONS);
const page = await inner.inject("/docs/");
const script = await inner.inject("/docs/js/scalar.js");
if (page.statusCode !== 200 || script.statusCode !== 200)
	throw new Error("The reference library did not answer with its page and script: is its version another one?");
const reference: MadeReference = { html: page.payload, script: gzipSync(script.rawPayload) };
parentPort?.postMessage(reference);

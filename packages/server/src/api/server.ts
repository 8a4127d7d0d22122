import helmet from "@fastify/helmet";
import rateLimit from "@fastify/rate-limit";
import Fastify, { type FastifyInstance, type FastifyRequest, type RouteOptions } from "fastify";
import { type AuthParts, authorize, WRONG_KEYS_A_MINUTE } from "./auth.ts";
import { BODY_LIMIT, checkBody, readJsonBodies } from "./body.ts";
import { refuseConnection, sendProblem } from "./errors.ts";
import { allowedMethods } from "./methods.ts";
import { openApiDocument } from "./openapi.ts";
import type { ApiParts } from "./parts.ts";
import { invalid, Problem } from "./problem.ts";
import { readQuery } from "./query.ts";
import { RawAnswer, type Route } from "./route.ts";
import { apiRoutes } from "./routes/index.ts";

/** A whole request, its body included, must come within this time. */
const REQUEST_TIMEOUT_MS = 60_000;
/** Longer than the minute that load balancers commonly keep idle connections, so that it is they who close them. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
const MINUTE_MS = 60_000;
const REQUEST_ID = /^[\w.:-]{1,100}$/;

/**
 * The HTTP API, ready to `listen()` or `inject()`. `close()` takes no new connections, finishes the requests that are
 * under way and closes their connections, and lets go of nothing that was handed in.
 */
export async function createApi(parts: ApiParts): Promise<FastifyInstance> {
	const { metrics, logger, ids } = parts;
	let requests = 0;
	const origin = ids.next("node");
	const app = Fastify({
		logger: false,
		bodyLimit: BODY_LIMIT,
		requestTimeout: REQUEST_TIMEOUT_MS,
		keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
		return503OnClosing: false,
		genReqId(request) {
			const given = request.headers["x-request-id"];
			return typeof given === "string" && REQUEST_ID.test(given) ? given : `${origin}-${++requests}`;
		},
		frameworkErrors(error, request, reply) {
			// The router gave up before any hook could run.
			reply.headers({ ...ownHeaders(request), "X-Content-Type-Options": "nosniff" });
			return sendProblem(error, request, reply, logger);
		},
		clientErrorHandler: refuseConnection,
	});
	await app.register(helmet, {
		contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
		// TLS is the proxy's matter, and so is what it promises for its host name and those below it.
		strictTransportSecurity: false,
	});
	await app.register(rateLimit, { global: false });
	const limit = app.createRateLimit({ max: WRONG_KEYS_A_MINUTE, timeWindow: MINUTE_MS });
	const auth: AuthParts = {
		...parts,
		async countWrongKey(request) {
			const state = await limit(request);
			return !state.isAllowed && state.isExceeded ? Math.max(1, state.ttlInSeconds) : null;
		},
	};
	readJsonBodies(app);

	let closing = false;
	app.addHook("preClose", async () => {
		closing = true;
	});
	let openApi: string | undefined;
	const routes: Route[] = apiRoutes(parts, () => {
		openApi ??= JSON.stringify(openApiDocument(routes, parts.config));
		return openApi;
	});
	app.addHook("onRequest", async (request, reply) => {
		reply.headers(ownHeaders(request));
		if (request.is404) refuseUnrouted(request, routes);
	});
	app.addHook("onSend", async (_request, reply) => {
		if (closing) reply.header("Connection", "close");
	});
	app.addHook("onResponse", async (request, reply) => {
		const { url: route = "none", method } = request.routeOptions;
		const seconds = reply.elapsedTime / 1_000;
		metrics.request(route, typeof method === "string" ? method : "none", reply.statusCode, seconds);
		if (!logger.isLevelEnabled("debug")) return;
		const fields = { requestId: request.id, method: request.method, route, status: reply.statusCode, seconds };
		logger.debug(fields, "request");
	});
	app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply, logger));
	app.setNotFoundHandler((request) => refuseUnrouted(request, routes));
	for (const route of routes) app.route(fastifyRoute(route, auth));
	metrics.watch(parts);
	await app.ready();
	return app;
}

function fastifyRoute(route: Route, auth: AuthParts): RouteOptions {
	const { success } = route;
	return {
		method: route.method,
		url: route.path.replaceAll(/\{(\w+)\}/g, ":$1"),
		...(route.bodyLimit !== undefined && { bodyLimit: route.bodyLimit }),
		async onRequest(request) {
			await authorize(request, route.access, auth);
			const encoding = request.headers["content-encoding"];
			if (route.method !== "GET" && encoding !== undefined && encoding !== "identity")
				throw new Problem("unsupported-media-type", "Send the body as it is: no Content-Encoding is taken.");
		},
		async handler(request, reply) {
			checkBody(route, request.body);
			const query = readQuery(route.query, request.query as Record<string, unknown>);
			// Whoever checks health or scrapes may add what they like.
			if (!query.ok && route.access !== "open") throw invalid(query.faults);
			const { params, body } = request;
			const answer = await route.handler({ params, query: query.ok ? query.value : {}, body, request, reply } as never);
			reply.code(success.status);
			if (answer instanceof RawAnswer) return reply.headers(answer.headers).type(answer.contentType).send(answer.body);
			return reply.send(answer);
		},
	};
}

const ownHeaders = ({ id }: FastifyRequest) => ({ "X-Request-Id": id, "Cache-Control": "no-store" });

/** 405 where the path is known with other methods, else 404. */
function refuseUnrouted(request: FastifyRequest, routes: readonly Route[]): never {
	const [path = ""] = request.url.split("?", 1);
	const allowed = allowedMethods(path, routes);
	if (allowed.length > 0 && !allowed.includes(request.method))
		throw new Problem("method-not-allowed", `This path takes ${allowed.join(", ")} only.`, {
			headers: { Allow: allowed.join(", ") },
		});
	throw new Problem("not-found", "There is nothing at this path. GET /openapi.json describes what there is.");
}

/**
 * Routes pass no schemas to Fastify: {@link checkBody} and {@link readQuery} check requests. Fastify's own compilers
 * aren't even loaded.
 */
import cookie from "@fastify/cookie";
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import Fastify from "fastify";
import { type AuditNote, actorOf, type Person, type Principal, stillAllowed, stillMember } from "../accounts/index.ts";
import { REQUESTS } from "../base/budgets.ts";
import { Turns } from "../base/turns.ts";
import type { Actor, StillAllowed, StillMember } from "../storage/port.ts";
import { authorize, authorizeAgain, isStillAllowed, principalOf, requireApp } from "./auth/authorize.ts";
import { KnownCallers, principalName } from "./auth/callers.ts";
import { EVENT_STREAM } from "./changes.ts";
import { serveDashboard } from "./dashboard.ts";
import { Admission, inSlices } from "./http/admission.ts";
import { Bodies, checkBody, OneByOne, readJsonBodies, releaseBody, turnOf } from "./http/body.ts";
import { Connections } from "./http/connections.ts";
import { FailureLog } from "./http/failure-log.ts";
import { lengthOfList } from "./http/json-body.ts";
import { invalid, notFound, Problem, refuseConnection, sendProblem } from "./http/problem.ts";
import { readQuery } from "./http/validate.ts";
import { openApiDocument } from "./openapi/document.ts";
import {
	type ApiParts,
	allowedMethods,
	matchesPath,
	pathsOfOthers,
	RawResponse,
	type Route,
	ratesOf,
	readPathParams,
	roleFor,
} from "./route.ts";
import { apiRoutes } from "./routes/index.ts";
import { StorageCheck } from "./storage-check.ts";

declare module "fastify" {
	interface FastifyRequest {
		/** Whether it has waited since it was authorized: for the rest of its body, or for its turn. */
		hasWaited: boolean;
	}
}

const refuseSchemas = (): never => {
	throw new Error("Routes must not name schemas to Fastify.");
};
const REQUEST_ID = /^[\w.:-]{1,100}$/;

/**
 * The HTTP API, ready to `listen()` or `inject()`. `close()` accepts no new connections, finishes the requests in
 * progress and closes their connections, and leaves everything that was passed in open.
 */
export async function createApi(parts: ApiParts): Promise<FastifyInstance> {
	const { metrics, ids } = parts;
	let requests = 0;
	const origin = ids.next("node");
	const callers = new KnownCallers();
	const connections = new Connections({
		...parts,
		...parts.config,
		...parts.connectionLimits,
		callerOf: (request) => callers.find(request),
	});
	const storageCheck = new StorageCheck(parts);
	const failures = new FailureLog({ ...parts, storageCheck });
	const app = Fastify({
		logger: false,
		serverFactory: (handle) => connections.serve(handle),
		return503OnClosing: false,
		schemaController: { compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas } },
		trustProxy: [...parts.config.trustProxy],
		genReqId(request) {
			const given = request.headers["x-request-id"];
			return typeof given === "string" && REQUEST_ID.test(given) ? given : `${origin}-${++requests}`;
		},
		frameworkErrors(error, request, reply) {
			// The router failed before any hook could run.
			reply.headers(ownHeaders(request, connections));
			return sendProblem(error, request, reply, failures);
		},
		clientErrorHandler(error, socket) {
			if (error.code === "ECONNRESET" || !connections.endAfterAnswers(socket))
				refuseConnection(error, socket, parts.clock);
		},
	});
	await app.register(cookie);
	app.decorateRequest("principal", null);
	app.decorateRequest("projectId", null);
	app.decorateRequest("countsAsRead", false);
	app.decorateRequest("room", null);
	app.decorateRequest("hasWaited", false);
	app.decorateRequest("isRecorded", false);
	app.decorateRequest("isHandled", false);
	const turns = new Turns(REQUESTS.turnMs, parts.clock);
	const bodies = new Bodies({
		largest: Math.max(parts.config.maxBatchBytes, parts.config.maxEventBytes + REQUESTS.envelopeBytes),
		inFlight: parts.config.maxBodyBytesInFlight,
	});
	const admission = new Admission(parts.clock);
	metrics.watchBudgets([...bodies.budgets, connections.budget, admission.budget]);
	metrics.watchRates(() => admission.refusedByRate);
	const largeBodies = new OneByOne(parts.clock, REQUESTS.largeBodyWaitMs);
	readJsonBodies(app, bodies, turns, largeBodies);
	const { isPage, sendPage } = serveDashboard(app, parts.dashboardFolder);

	let closing = false;
	app.addHook("preClose", async () => {
		closing = true;
		parts.changes.close();
		connections.end();
	});
	let openApi: Uint8Array | undefined;
	const document = () => (openApi ??= Buffer.from(JSON.stringify(openApiDocument(routes, parts.config))));
	const routes: Route[] = apiRoutes(parts, document, storageCheck);
	// None of these hooks is async: a promise for each would cost every request.
	app.addHook("onRequest", (request, reply, done) => {
		reply.headers(ownHeaders(request, connections));
		if (request.is404 && !isPage(request)) refuseUnrouted(request, routes);
		done();
	});
	app.addHook("onSend", (request, reply, payload, done) => {
		if (closing) reply.header("Connection", "close");
		admission.charge(request, reply, payload);
		done(null, inSlices(reply, payload));
	});
	app.addHook("onResponse", (request, reply, done) => {
		observe(request, reply, parts);
		done();
	});
	app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply, failures));
	app.setNotFoundHandler((request, reply) => (isPage(request) ? sendPage(reply) : refuseUnrouted(request, routes)));
	for (const route of routes) app.route(fastifyRoute(route, parts, { turns, largeBodies, admission, callers, routes }));
	metrics.watchStorage({ ...parts, storageCheck });
	metrics.watchHealth(parts.health);
	app.addHook("onClose", async () => failures.close());
	await app.ready();
	return app;
}

/** Records a response in metrics and, at debug, in the log. */
function observe(request: FastifyRequest, reply: FastifyReply, { metrics, logger }: ApiParts): void {
	// How long a call listened or waited says nothing about how fast requests are handled.
	const { wait } = request.query as { wait?: string };
	if (reply.getHeader("content-type") === EVENT_STREAM || Number(wait) > 0) return;
	const { url: route = "none", method } = request.routeOptions;
	const seconds = reply.elapsedTime / 1_000;
	metrics.request(route, typeof method === "string" ? method : "none", reply.statusCode, seconds);
	if (!logger.isLevelEnabled("debug")) return;
	logger.debug({ requestId: request.id, method: request.method, route, status: reply.statusCode, seconds }, "request");
}

/** After these, a client that listens or waits may have lost the right to. */
const ENDS_RIGHTS = new Set(["api_key.revoked", "app.removed", "member.removed", "member.role_changed"]);

interface Noted {
	readonly by: Actor;
	readonly note: AuditNote;
}

/**
 * The parts of a {@link Call} that are read when they are used. With these getters in an object literal, each request
 * would get a hidden class of its own, which V8 keeps until the next full collection, with the request and its response.
 */
class LateParts {
	readonly request: FastifyRequest;
	readonly #route: Route;

	constructor(request: FastifyRequest, route: Route) {
		this.request = request;
		this.#route = route;
	}

	get body(): unknown {
		return this.request.body;
	}

	get principal(): Principal {
		return principalOf(this.request);
	}

	get by(): StillAllowed | null {
		return stillAllowed(this.principal, roleFor(this.#route));
	}

	get byMember(): StillMember | null {
		return stillMember(this.principal, roleFor(this.#route));
	}

	get person(): Person {
		if (this.principal.kind !== "person") throw new Error("Callers of this route needn't be signed in.");
		return this.principal;
	}
}

interface Serving {
	readonly turns: Turns;
	readonly largeBodies: OneByOne;
	readonly admission: Admission;
	readonly callers: KnownCallers;
	readonly routes: readonly Route[];
}

function fastifyRoute(route: Route, parts: ApiParts, serving: Serving): RouteOptions {
	const { turns, largeBodies, admission, callers, routes } = serving;
	const { success } = route;
	const others = [...pathsOfOthers(route.path, routes)];
	const mayBeLarge = (route.bodyLimit ?? REQUESTS.bodyBytes) > REQUESTS.sliceBytes;
	const { auditLog, longPolls, changes, logger } = parts;
	const mayRecord = ratesOf(route).some((rate) => rate === "changes" || rate === "recordedReads");

	/** The action is done by now, so a failed audit write doesn't fail the request. */
	async function record(notes: readonly Noted[], request: FastifyRequest): Promise<void> {
		for (const { note } of notes) {
			if (note.action.startsWith("webhook.")) changes.note(note.projectId, "webhooks");
			if (!ENDS_RIGHTS.has(note.action)) continue;
			changes.recheckProject(note.projectId);
			longPolls.recheck(note.projectId);
		}
		try {
			for (const { by, note } of notes) await auditLog.record(by, note);
		} catch (error) {
			logger.error({ err: error, notes, requestId: request.id }, "failed to write the audit log");
		}
	}

	const countRefused = (request: FastifyRequest): void => {
		if (route.rate === "recordedReads" && !request.isRecorded) admission.notRecorded(request);
	};

	return {
		method: route.method,
		url: route.path.replaceAll(/\{(\w+)\}/g, ":$1"),
		config: { bodyForm: route },
		async onRequest(request, reply) {
			if (others.some((path) => matchesPath(path, request.url.split("?", 1)[0]!))) refuseUnrouted(request, routes);
			try {
				await authorize(request, route, parts);
			} finally {
				if (route.access !== "open") callers.note(request.raw, request.principal);
			}
			if (mayBeLarge && !isSmall(request))
				reply.raw.once("close", () => {
					// Once the handler runs, it ends the turn: its work continues without the client.
					if (!request.isHandled) largeBodies.leave(request);
				});
			admission.count(request, route);
			try {
				if (route.access === "developer") await requireApp(request, route, parts);
			} catch (error) {
				countRefused(request);
				throw error;
			}
			// The client decides when the rest arrives.
			if (route.access !== "open" && request.raw.complete === false) request.hasWaited = true;
			const encoding = request.headers["content-encoding"];
			if (route.method !== "GET" && encoding !== undefined && encoding !== "identity")
				throw new Problem("unsupported-media-type", "Send the body without a Content-Encoding: none is supported.");
		},
		async handler(request, reply) {
			request.isHandled = true;
			try {
				return await respond(request, reply);
			} finally {
				countRefused(request);
				releaseBody(request);
				largeBodies.leave(request);
			}
		},
	};

	async function respond(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
		// The right to do this may have ended while the body was arriving or waiting.
		if (request.hasWaited) await authorizeAgain(request, route, parts);
		checkBody(route, request.body);
		const query = readQuery(route.query, request.query as Record<string, unknown>);
		// Health checks and scrapers may add any parameters.
		if (!query.ok && route.access !== "open") throw invalid(query.faults);
		const params = readPathParams(request.params as Readonly<Record<string, string>>);
		// What is done now couldn't be recorded, either.
		if (mayRecord && params.projectId !== undefined && auditLog.isBehind(params.projectId)) {
			await auditLog.catchUp(params.projectId);
			await authorizeAgain(request, route, parts);
		}
		const heavy = <T>(make: () => Promise<T>): Promise<T> => {
			let hasWaited = false;
			const reading = admission.read(request, async () => {
				// … or while it waited for other reads.
				if (hasWaited) await authorizeAgain(request, route, parts);
				return make();
			});
			hasWaited = true;
			return reading;
		};
		const notes: Noted[] = [];
		const call = Object.assign(new LateParts(request, route), {
			params,
			query: query.ok ? query.value : {},
			reply,
			audit: (note: AuditNote, by = actorOf(principalOf(request))) => notes.push({ by, note }),
			pause: turns.slices(turnOf(request), REQUESTS.sliceBytes, REQUESTS.pieceBytes),
			heavy,
			isStillAllowed: () => isStillAllowed(request, route, parts),
			authorizeAgain: () => authorizeAgain(request, route, parts),
			async gone(what: string): Promise<never> {
				await authorizeAgain(request, route, parts);
				throw notFound(what);
			},
		});
		if (route.list) {
			const bytes = lengthOfList(request.body, route.list) * (route.resultBytes ?? 0);
			admission.makeRoom(request, reply, bytes);
		}
		const make = () => route.handler(call as never);
		let result: Awaited<ReturnType<typeof make>>;
		try {
			result = await (route.heavy ? heavy(async () => make()) : make());
		} finally {
			// Recorded even if the request failed: these changes were made.
			if (notes.length > 0) {
				request.isRecorded = true;
				await record(notes, request);
			}
		}
		if (route.access === "signed_in" && route.method !== "GET") {
			changes.recheckListener(principalName(call.principal));
			longPolls.recheckAccount(principalName(call.principal));
		}
		reply.code(success.status);
		if (result instanceof RawResponse) return reply.headers(result.headers).type(result.contentType).send(result.body);
		return reply.send(result);
	}
}

/** Whether its body is known to need no turn. */
const isSmall = ({ headers }: FastifyRequest) => Number(headers["content-length"]) <= REQUESTS.sliceBytes;

/**
 * On every response; routes for browsers set their own policies. TLS and its headers are up to the proxy. The command
 * line recognizes the service by `Posthorn-Api`.
 */
const ownHeaders = ({ id, raw }: FastifyRequest, connections: Connections) => ({
	...connections.keepAliveOf(raw),
	"Posthorn-Api": "v1",
	"X-Request-Id": id,
	"Cache-Control": "no-store",
	"Content-Security-Policy": "default-src 'none';frame-ancestors 'none'",
	"Referrer-Policy": "no-referrer",
	"X-Content-Type-Options": "nosniff",
});

/** 405 if the path is known with other methods, else 404. */
function refuseUnrouted(request: FastifyRequest, routes: readonly Route[]): never {
	const [path = ""] = request.url.split("?", 1);
	const allowed = allowedMethods(path, routes);
	if (allowed.length > 0 && !allowed.includes(request.method))
		throw new Problem("method-not-allowed", `This path only accepts ${allowed.join(", ")}.`, {
			headers: { Allow: allowed.join(", ") },
		});
	throw new Problem("not-found", "There is nothing at this path. GET /openapi.json lists all paths.");
}

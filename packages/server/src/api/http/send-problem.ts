import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import { REQUESTS } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { StorageError } from "../../storage/port.ts";
import { closeAfter } from "./connections.ts";
import { SMALL_CHUNKS } from "./parser-limits.ts";
import { comeAgain, PROBLEM_TYPE, PROBLEMS, Problem, type ProblemKind, RETRY_S } from "./problem.ts";

const AWAY = "Storage is temporarily unavailable.";
const LOCKED =
	"Another transaction in the store's database holds this project's rows for too long. Nothing was changed.";
const FULL = "Storage is full: the operator must free some space. Nothing was stored.";

/** Sends whatever was thrown as a problem, and logs internal errors. */
export function sendProblem(
	error: unknown,
	request: FastifyRequest,
	reply: FastifyReply,
	logger: Logger,
): FastifyReply {
	const problem = problemOf(error);
	// The remainder isn't read: Node closes the connection after the response.
	if (!request.raw.complete && hasBody(request)) reply.header("Connection", "close");
	if (problem.statusCode >= 500 && problem !== error)
		logger.error({ err: error, requestId: request.id, route: request.routeOptions.url }, "a request failed");
	return reply
		.code(problem.statusCode)
		.headers(problem.headers)
		.type(PROBLEM_TYPE)
		.serializer((body: string) => body)
		.send(JSON.stringify(problem));
}

function hasBody({ headers }: FastifyRequest): boolean {
	return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

function problemOf(error: unknown): Problem {
	if (error instanceof Problem) return error;
	if (error instanceof StorageError && error.code === "busy")
		return comeAgain("own", `${error.message} Nothing was changed.`);
	if (error instanceof StorageError)
		return comeAgain("node", error.code === "full" ? FULL : error.code === "locked" ? LOCKED : AWAY, RETRY_S.later);
	const { code, statusCode } = error as { code?: string; statusCode?: number };
	const [kind, detail] = OF_FASTIFY[code ?? ""] ?? [];
	if (kind && detail) return new Problem(kind, detail);
	if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
		return new Problem("malformed-request", "The request could not be read.");
	return new Problem("internal", "The request failed because of an internal error; the service's log has the details.");
}

/** Errors that Fastify and Node find in a request before a route handles it. */
const OF_FASTIFY: Record<string, [ProblemKind, string]> = {
	FST_ERR_CTP_BODY_TOO_LARGE: ["too-large", "The body is larger than this call accepts."],
	FST_ERR_CTP_INVALID_MEDIA_TYPE: [
		"unsupported-media-type",
		"Send the body as JSON, with Content-Type: application/json.",
	],
	FST_ERR_CTP_INVALID_CONTENT_LENGTH: ["malformed-request", "The body's length doesn't match its Content-Length."],
	FST_ERR_BAD_URL: ["malformed-request", "The path is not validly percent-encoded."],
	FST_ERR_MAX_PARAM_LENGTH: [
		"not-found",
		"There is nothing at this path: one of its segments is longer than any identifier.",
	],
	ECONNRESET: ["malformed-request", "The connection was closed before the body was complete."],
};

/** Errors that Node's parser finds in a request. */
const OF_NODE: Record<string, [ProblemKind, string]> = {
	HPE_HEADER_OVERFLOW: [
		"header-too-large",
		`The request's header is larger than ${REQUESTS.headerBytes.toLocaleString("en")} bytes. Send fewer or shorter headers and cookies, or a shorter path.`,
	],
	[SMALL_CHUNKS]: ["malformed-request", "The body has too many small chunks. Send it in larger ones."],
	ERR_HTTP_REQUEST_TIMEOUT: ["request-timeout", "The request did not arrive in time."],
};
const NO_HTTP: [ProblemKind, string] = ["malformed-request", "This is not a valid HTTP request."];

/** Responds, on the bare socket, to input that didn't become an HTTP request. */
export function refuseConnection(
	error: Error & { code?: string },
	socket: Socket,
	clock: Pick<Clock, "setTimeout">,
): void {
	if (error.code === "ECONNRESET" || !socket.writable || socket.writableLength > 0) {
		socket.destroy();
		return;
	}
	const [kind, detail] = OF_NODE[error.code ?? ""] ?? NO_HTTP;
	const body = JSON.stringify(new Problem(kind, detail));
	const { status, title } = PROBLEMS[kind];
	closeAfter(
		socket,
		clock,
		`HTTP/1.1 ${status} ${title}\r\nConnection: close\r\nContent-Type: ${PROBLEM_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
	);
}

import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from "fastify";
import { REQUESTS } from "../base/budgets.ts";
import type { Turns } from "../base/turns.ts";
import type { Fault } from "../registry/index.ts";
import { principalOrNull } from "./auth.ts";
import { type Bodies, releaseBody } from "./bodies.ts";
import { comeAgain } from "./come-again.ts";
import { parseBody } from "./json-body.ts";
import type { OneByOne } from "./one-by-one.ts";
import { payerOf, strangerName } from "./owner.ts";
import { invalid, Problem } from "./problem.ts";
import type { Route } from "./route.ts";
import { faultsBySchema } from "./validate.ts";

declare module "fastify" {
	interface FastifyContextConfig {
		/** What the body of the route may be. */
		readonly bodyForm?: Pick<Route, "access" | "bodyLimit" | "list">;
	}
}

/** The text of bodies that were parsed, for those who need the exact source of a part. */
const texts = new WeakMap<FastifyRequest, string>();

/** The JSON text that the request's body was parsed from. */
export function bodyText(request: FastifyRequest): string {
	return texts.get(request) ?? "";
}

/** Lets go of a body that has been read, for requests that wait long for their answer. */
export function forgetBody(request: FastifyRequest): void {
	texts.delete(request);
	request.body = undefined;
	releaseBody(request);
}

/** Takes bodies of `application/json` alone, each within its owner's budget. */
export function readJsonBodies(app: FastifyInstance, bodies: Bodies, turns: Turns, largeBodies: OneByOne): void {
	app.removeAllContentTypeParsers();
	app.addContentTypeParser("application/json", async (request: FastifyRequest) => {
		const { bodyForm } = request.routeOptions.config as FastifyContextConfig;
		const usual = bodyForm?.access === "open" ? REQUESTS.strangerBodyBytes : REQUESTS.bodyBytes;
		const bytes = await bodies.read(request, bodyForm?.bodyLimit ?? usual);
		if (bytes.length === 0) return undefined;
		try {
			if (bytes.length > REQUESTS.sliceBytes) {
				if (!(await largeBodies.enter(request, turnOf(request))))
					throw comeAgain("own", "Other large requests of this project take too long. Send one at a time.");
				await turns.take(turnOf(request));
				// The client may have gone meanwhile: nobody would read the answer.
				if (request.raw.socket.destroyed) throw new Problem("malformed-request", "The connection was closed.");
			}
			const { value, text } = parseBody(bytes, bodyForm?.list);
			texts.set(request, text);
			return value;
		} catch (error) {
			releaseBody(request);
			largeBodies.leave(request);
			throw error;
		}
	});
}

/** Whose turn it is to compute for a request. */
export function turnOf(request: FastifyRequest): string {
	return payerOf(request, principalOrNull(request)) ?? strangerName(request);
}

/** Throws what is wrong with the request's body. */
export function checkBody(route: Route, body: unknown): void {
	if (!route.body) {
		if (body === undefined || (isObject(body) && Object.keys(body).length === 0)) return;
		throw invalid([{ pointer: "", detail: "must be left out: this call takes no body" }]);
	}
	if (body === undefined)
		throw new Problem(
			"malformed-request",
			"The body is empty. Send a JSON object with Content-Type: application/json.",
		);
	if (route.checksOwnBody) return;
	const faults = faultsBySchema(route.body, body);
	if (route.faults && isObject(body)) {
		const found: readonly Fault[] = route.faults(wellTyped(body, faults) as never);
		// Nothing can be said of the whole while parts of it were left out.
		const known = faults.length === 0 ? found : found.filter(({ pointer }) => pointer !== "");
		faults.push(...known.filter(({ pointer }) => !faults.some((fault) => covers(fault.pointer, pointer))));
	}
	if (faults.length > 0) throw invalid(faults);
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The body without the members that a fault was found in or below. */
function wellTyped(body: Record<string, unknown>, faults: readonly Fault[]): Record<string, unknown> {
	const bad = new Set(faults.map(({ pointer }) => pointer.split("/")[1]));
	return Object.fromEntries(Object.entries(body).filter(([name]) => !bad.has(name)));
}

const covers = (one: string, other: string): boolean => one === other || other.startsWith(`${one}/`);

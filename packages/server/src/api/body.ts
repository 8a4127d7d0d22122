import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Fault } from "../registry/index.ts";
import { invalid, Problem } from "./problem.ts";
import type { Route } from "./route.ts";
import { faultsBySchema } from "./validate.ts";

/** Bodies of all routes but those that say otherwise, bytes. */
export const BODY_LIMIT = 64 * 1024;

const utf8 = new TextDecoder("utf-8", { fatal: true });

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
}

/**
 * Takes bodies of `application/json` alone. They are parsed as they are: keys such as `__proto__` are names like any
 * other, since JSON.parse makes them plain members and nothing here copies members from one object to another.
 */
export function readJsonBodies(app: FastifyInstance): void {
	app.removeAllContentTypeParsers();
	app.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (request, bytes, done) => {
		if (bytes.length === 0) return done(null, undefined);
		let text: string;
		try {
			text = utf8.decode(bytes);
		} catch (error) {
			if (!(error instanceof TypeError)) throw error;
			return done(new Problem("malformed-request", "The body is not valid UTF-8."));
		}
		try {
			const body: unknown = JSON.parse(text);
			texts.set(request, text);
			done(null, body);
		} catch (error) {
			if (!(error instanceof SyntaxError)) throw error;
			done(
				new Problem("malformed-request", `The body is not valid JSON: ${error.message.slice(0, 200).toWellFormed()}.`),
			);
		}
	});
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

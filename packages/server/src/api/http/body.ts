import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from "fastify";
import { Budget, type Refusal } from "../../base/budget.ts";
import { REQUESTS } from "../../base/budgets.ts";
import type { Clock, Timer } from "../../base/clock.ts";
import { type Fault, grouped } from "../../base/text.ts";
import type { Turns } from "../../base/turns.ts";
import { payerOf, unauthenticatedOwner } from "../auth/callers.ts";
import type { Route } from "../route.ts";
import { checkPresent } from "./admission.ts";
import { letContinue } from "./connections.ts";
import { parseBody } from "./json-body.ts";
import { invalid, Problem, retryLater } from "./problem.ts";
import { faultsBySchema, isObject } from "./validate.ts";

declare module "fastify" {
	interface FastifyContextConfig {
		/** What the route's body may be. */
		readonly bodyForm?: Pick<Route, "access" | "bodyLimit" | "list">;
	}

	interface FastifyRequest {
		/** The JSON text from which the body was parsed, for handlers that need the exact source of a part. */
		bodyText: string;
		/** The body's share of its budget; null if it has none. */
		bodyClaim: BodyClaim | null;
		/** Whether its handler has begun. */
		isHandled: boolean;
	}
}

/** Drops a body that has been read, for requests that wait long for their response. */
export function forgetBody(request: FastifyRequest): void {
	request.bodyText = "";
	request.body = undefined;
	releaseBody(request);
}

/** Accepts only `application/json` bodies, each within its owner's budget. */
export function readJsonBodies(app: FastifyInstance, bodies: Bodies, turns: Turns, largeBodies: OneByOne): void {
	app.decorateRequest("bodyText", "");
	app.decorateRequest("bodyClaim", null);
	app.removeAllContentTypeParsers();
	app.addContentTypeParser("application/json", async (request: FastifyRequest) => {
		const { bodyForm } = request.routeOptions.config as FastifyContextConfig;
		const usual = bodyForm?.access === "open" ? REQUESTS.unauthenticatedBodyBytes : REQUESTS.bodyBytes;
		const bytes = await bodies.read(request, bodyForm?.bodyLimit ?? usual);
		if (bytes.length === 0) return undefined;
		try {
			if (bytes.length > REQUESTS.sliceBytes) {
				request.hasWaited = true;
				if (!(await largeBodies.enter(request, turnOf(request))))
					throw retryLater("own", "Other large requests of this project take too long. Send one at a time.");
				await turns.take(turnOf(request));
				checkPresent(request);
			}
			const { value, text } = parseBody(bytes, bodyForm?.list);
			request.bodyText = text;
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
	return payerOf(request) ?? unauthenticatedOwner(request);
}

export function checkBody(route: Route, body: unknown): void {
	if (!route.body) {
		if (body === undefined || (isObject(body) && Object.keys(body).length === 0)) return;
		throw invalid([{ pointer: "", detail: "must be omitted: this call takes no body" }]);
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
		// Rules about the whole can't be checked if parts of it were left out.
		const known = faults.length === 0 ? found : found.filter(({ pointer }) => pointer !== "");
		faults.push(...known.filter(({ pointer }) => !faults.some((fault) => covers(fault.pointer, pointer))));
	}
	if (faults.length > 0) throw invalid(faults);
}

/** The body without the members in which a fault was found. */
function wellTyped(body: Record<string, unknown>, faults: readonly Fault[]): Record<string, unknown> {
	const bad = new Set(faults.map(({ pointer }) => pointer.split("/")[1]));
	return Object.fromEntries(Object.entries(body).filter(([name]) => !bad.has(name)));
}

const covers = (one: string, other: string): boolean => one === other || other.startsWith(`${one}/`);

interface BodiesOptions {
	/** The largest body of any route, bytes: a project may always have one such body in flight. */
	readonly largest: number;
	/** All authenticated bodies, bytes. */
	readonly inFlight: number;
}

/** A body's share of a budget, held until its handler is done with it. */
interface BodyClaim {
	/** Takes more. @throws Problem if the budget has no room */
	take(bytes: number): void;
	/** Returns everything, once. */
	release(): void;
}

export function releaseBody(request: FastifyRequest): void {
	request.bodyClaim?.release();
}

/** Request bodies being received or processed, each charged to its project before it is read. */
export class Bodies {
	readonly #known: Budget;
	readonly #unauthenticated: Budget;

	constructor({ largest, inFlight }: BodiesOptions) {
		const share = REQUESTS.bodyBytesPerProject / REQUESTS.bodyBytesInFlight;
		const perOwner = Math.max(largest, Math.floor(inFlight * share));
		this.#known = new Budget({ name: "request_body_bytes", limit: Math.max(inFlight, perOwner), perOwner });
		this.#unauthenticated = new Budget({
			name: "stranger_body_bytes",
			limit: REQUESTS.unauthenticatedBodyBytesInFlight,
			perOwner: REQUESTS.unauthenticatedBodyBytesPerNetwork,
		});
	}

	get budgets(): readonly Budget[] {
		return [this.#known, this.#unauthenticated];
	}

	/**
	 * Reads the whole body, charged to its owner until {@link releaseBody}.
	 *
	 * @param limit of this route, bytes
	 * @throws Problem 413, 429 or 503, before reading anything, if the body doesn't fit; 400 if it is incomplete
	 */
	async read(request: FastifyRequest, limit: number): Promise<Buffer> {
		const length = request.headers["content-length"];
		const declared = length === undefined ? null : Number(length);
		// The client may have left during its key's lookup; no more events will come.
		if (request.raw.destroyed) throw brokenOff();
		if (declared !== null && declared > limit) throw tooLarge(limit, declared);
		const claim = this.#claim(request);
		request.bodyClaim = claim;
		try {
			if (declared !== null) claim.take(declared);
			letContinue(request.raw);
			const bytes = await collect(request, declared, (chunk, received) => {
				if (received > limit) throw tooLarge(limit);
				if (declared === null) claim.take(chunk);
			});
			if (declared !== null && bytes.length !== declared)
				throw new Problem("malformed-request", "The body's length doesn't match its Content-Length.");
			return bytes;
		} catch (error) {
			claim.release();
			throw error;
		}
	}

	#claim(request: FastifyRequest): BodyClaim {
		const payer = payerOf(request);
		const budget = payer === null ? this.#unauthenticated : this.#known;
		const owner = payer ?? unauthenticatedOwner(request);
		let held = 0;
		return {
			take(bytes) {
				const refusal = budget.take(owner, bytes);
				if (refusal !== null) throw refused(refusal, bytes, budget, budget.heldBy(owner), payer === null);
				held += bytes;
			},
			release() {
				budget.give(owner, held);
				held = 0;
			},
		};
	}
}

/** A body of unknown length starts with a buffer of this size, bytes, which is doubled as needed. */
const FIRST_ROOM = 16_384;

/**
 * Collects the body in one buffer: a client may send it byte by byte, and a buffer for each would take hundreds of
 * times the memory that the body is charged for.
 *
 * @param declared its length, if known
 * @param onChunk is called before each chunk is kept, with its length and the total so far
 */
function collect(
	request: FastifyRequest,
	declared: number | null,
	onChunk: (bytes: number, received: number) => void,
): Promise<Buffer> {
	const { raw } = request;
	// A small body has usually come along with the head. At its high-water mark Node has stopped reading from the socket,
	// and only a flowing stream continues that.
	if (raw.complete && raw.readableLength === declared && declared > 0 && declared < raw.readableHighWaterMark) {
		onChunk(declared, declared);
		return Promise.resolve(raw.read());
	}
	return new Promise((resolve, reject) => {
		let gathered: Buffer | null = null;
		let received = 0;
		const onData = (chunk: Buffer): void => {
			received += chunk.length;
			try {
				onChunk(chunk.length, received);
			} catch (error) {
				fail(error);
				return;
			}
			if (gathered === null && received === declared) {
				gathered = chunk;
				return;
			}
			const before = received - chunk.length;
			gathered ??= Buffer.allocUnsafeSlow(declared ?? Math.max(FIRST_ROOM, received));
			if (gathered.length < received) {
				const larger = Buffer.allocUnsafeSlow(Math.max(2 * gathered.length, received));
				gathered.copy(larger, 0, 0, before);
				gathered = larger;
			}
			chunk.copy(gathered, before);
		};
		const onEnd = (): void => {
			stop();
			resolve(gathered?.subarray(0, received) ?? Buffer.alloc(0));
		};
		const onClose = (): void => fail(brokenOff());
		const stop = (): void => {
			raw.off("data", onData).off("end", onEnd).off("error", onClose).off("close", onClose);
		};
		const fail = (error: unknown): void => {
			stop();
			// The remainder isn't read: the connection is closed after the response.
			raw.pause();
			raw.on("error", () => {});
			reject(error);
		};
		raw.on("data", onData).on("end", onEnd).on("error", onClose).on("close", onClose);
	});
}

const brokenOff = (): Problem =>
	new Problem("malformed-request", "The connection was closed before the body was complete.");

function tooLarge(limit: number, declared?: number): Problem {
	const has = declared === undefined ? `more than ${grouped(limit)} bytes` : `${grouped(declared)} bytes`;
	return new Problem(
		"too-large",
		`The body has ${has}; this call accepts at most ${grouped(limit)}. Send less in one request.`,
	);
}

function refused(refusal: Refusal, bytes: number, budget: Budget, held: number, unauthenticated: boolean): Problem {
	const whose = unauthenticated ? "this network address" : "this project";
	if (refusal === "never")
		return new Problem(
			"too-large",
			`The body has ${grouped(bytes)} bytes; all bodies of ${whose} that are in flight may have ${grouped(budget.perOwner)}. Send less in one request.`,
		);
	if (refusal === "own")
		return retryLater(
			"own",
			`Request bodies of ${whose} hold ${grouped(held)} bytes, and this one needs ${grouped(bytes)} more; the limit is ${grouped(budget.perOwner)}. Send fewer at a time.`,
		);
	return retryLater(
		"node",
		`All request bodies in flight hold ${grouped(budget.used)} bytes, and this one needs ${grouped(bytes)} more; the limit is ${grouped(budget.limit)}.`,
	);
}

interface Waiting {
	readonly request: object;
	readonly go: (isItsTurn: boolean) => void;
	readonly patience: Timer;
}

/**
 * Processes one owner's requests one at a time. For large bodies: concurrent ones from one publisher would keep the
 * event loop, the garbage collector and the disk busy for everyone.
 */
export class OneByOne {
	readonly #clock: Pick<Clock, "setTimeout">;
	readonly #patienceMs: number;
	/** Waiting requests, by the owner whose request has its turn. */
	readonly #lines = new Map<string, Waiting[]>();
	readonly #owners = new WeakMap<object, string>();

	/** @param patienceMs how long a request waits at most */
	constructor(clock: Pick<Clock, "setTimeout">, patienceMs: number) {
		this.#clock = clock;
		this.#patienceMs = patienceMs;
	}

	/**
	 * Resolves when it is the request's turn, which lasts until {@link leave}.
	 *
	 * @returns false if it waited too long and has no turn
	 */
	enter(request: object, owner: string): Promise<boolean> {
		const line = this.#lines.get(owner);
		if (!line) {
			this.#lines.set(owner, []);
			this.#owners.set(request, owner);
			return Promise.resolve(true);
		}
		return new Promise((go) => {
			const patience = this.#clock.setTimeout(() => {
				line.splice(line.indexOf(one), 1);
				go(false);
			}, this.#patienceMs);
			const one: Waiting = { request, go, patience };
			line.push(one);
		});
	}

	/** The work is done, successfully or not. Harmless if repeated, or without a turn. */
	leave(request: object): void {
		const owner = this.#owners.get(request);
		if (owner === undefined) return;
		this.#owners.delete(request);
		const line = this.#lines.get(owner)!;
		const next = line.shift();
		if (!next) {
			this.#lines.delete(owner);
			return;
		}
		next.patience.cancel();
		this.#owners.set(next.request, owner);
		next.go(true);
	}
}

import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Budget } from "../../base/budget.ts";
import { RATES, type RateName, RESPONSES } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";
import { grouped } from "../../base/text.ts";
import { RateLimit, type RateLimitOptions } from "../../base/throttle.ts";
import { FairQueue } from "../../base/turns.ts";
import { principalOf } from "../auth/authorize.ts";
import { payerOf, principalName } from "../auth/callers.ts";
import { type Route, ratesOf } from "../route.ts";
import { Problem, retryLater } from "./problem.ts";

declare module "fastify" {
	interface FastifyRequest {
		/** Whether the request counts by the rate of reads; then its response also counts by size. */
		countsAsRead: boolean;
		/** What is held for its response; see {@link Admission.makeRoom}. */
		room: HeldRoom | null;
		/** Whether the audit log has it. */
		isRecorded: boolean;
	}
}

/** Whose budgets a response counts against. */
interface Reader {
	/** The principal. */
	readonly owner: string;
	/** As for bodies, except that the operator's responses count against no project. */
	readonly project: string;
}

interface HeldRoom {
	/** The largest response that is no longer refused. */
	readonly bytes: number;
	/** Returns it, once. */
	release(): void;
}

/**
 * Limits on expensive requests: their rate, their number at a time, and the bytes of unread responses. Rates apply to
 * everyone except the operator's key; the other limits apply to all.
 */
export class Admission {
	readonly budget = new Budget({
		name: "response_bytes",
		limit: RESPONSES.bytesInFlight,
		perOwner: RESPONSES.bytesPerPrincipal,
	});
	/** The same bytes by project, which may have any number of keys and members. */
	readonly #byProject = new Budget({
		name: "response_bytes",
		limit: RESPONSES.bytesInFlight,
		perOwner: RESPONSES.bytesPerProject,
	});
	readonly #reads = new FairQueue({
		perOwner: RESPONSES.readsPerPrincipal,
		running: Number.POSITIVE_INFINITY,
		waiting: RESPONSES.readsWaiting,
	});
	/** Reads whose principals may read now. */
	readonly #readsByProject = new FairQueue({
		perOwner: RESPONSES.readsPerProject,
		running: RESPONSES.reads,
		waiting: Number.POSITIVE_INFINITY,
	});
	readonly #rates: Readonly<Record<RateName, RateLimit>>;

	constructor(clock: Pick<Clock, "elapsed">) {
		const rates = Object.entries<RateLimitOptions>(RATES).map(([name, rate]) => [name, new RateLimit(rate, clock)]);
		this.#rates = Object.fromEntries(rates) as Record<RateName, RateLimit>;
	}

	/** How often each rate refused a request. */
	get refusedByRate(): [RateName, number][] {
		return Object.entries(this.#rates).map(([name, { refusals }]) => [name as RateName, refusals]);
	}

	/** Counts a request by the rates of its route. @throws Problem 429 or 503 if there were too many */
	count(request: FastifyRequest, route: Route): void {
		if (isUnlimited(request)) return;
		const names = ratesOf(route);
		for (const [i, name] of names.entries()) {
			const tooSoon = this.#rates[name].take(ownerOf(name, request));
			if (tooSoon) {
				for (const other of names.slice(0, i)) this.#rates[other].giveBack(ownerOf(other, request));
				if (tooSoon.whose === "own") throw retryLater("own", tooMany(name), tooSoon.wait);
				throw retryLater("node", `This node is receiving too many ${RATED[name][0]}.`, tooSoon.wait);
			}
			if (name === "reads") request.countsAsRead = true;
		}
	}

	/** Counts a read that was refused, and so not recorded, as a lookup instead. */
	notRecorded(request: FastifyRequest): void {
		if (isUnlimited(request)) return;
		this.#rates.recordedReads.giveBack(ownerOf("recordedReads", request));
		this.#rates.lookups.charge(ownerOf("lookups", request), 1);
	}

	/**
	 * Creates a large response in its principal's turn.
	 *
	 * @throws Problem 429 or 503, before doing any work, if too many wait or there is no room
	 */
	async read<T>(request: FastifyRequest, make: () => Promise<T> | T): Promise<T> {
		const reader = readerOf(request);
		const read = async (): Promise<T> => {
			checkPresent(request);
			this.#checkRoom(reader);
			return make();
		};
		const made = this.#reads.run(reader.owner, () => this.#readsByProject.run(reader.project, read)!);
		if (made === null)
			throw retryLater(
				"own",
				`${RESPONSES.readsWaiting} of your requests for lists and statistics are already waiting, and ${RESPONSES.readsPerPrincipal} are processed at a time. Send fewer at a time.`,
			);
		return made;
	}

	/**
	 * Call before a change whose response may have this many bytes: once it is made, refusing the response would say that
	 * it wasn't, and the client would repeat it. The bytes are held until the response is sent or the client has left.
	 *
	 * @throws Problem 429 or 503 if there is no room
	 */
	makeRoom(request: FastifyRequest, reply: FastifyReply, bytes: number): void {
		if (bytes <= RESPONSES.sliceBytes || hasLeft(request, reply)) return;
		const reader = readerOf(request);
		this.#checkRoom(reader, bytes);
		const release = this.#hold(reader, bytes);
		request.room = { bytes, release };
		reply.raw.once("close", release);
	}

	/**
	 * Charges a large response to its principal: its bytes until the client has read it or left and, for a list, further
	 * reads.
	 *
	 * @throws Problem 429 or 503 if there is no room
	 */
	charge(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
		const { room } = request;
		room?.release();
		const isText = typeof payload === "string";
		if (!(isText || payload instanceof Uint8Array) || payload.length <= RESPONSES.sliceBytes) return;
		if (request.principal === null) return;
		const reader = readerOf(request);
		const bytes = isText ? Buffer.byteLength(payload) : payload.length;
		// The work was done, whether or not the client reads the response.
		if (request.countsAsRead) this.#rates.reads.charge(reader.owner, Math.floor(bytes / RESPONSES.countedBytes));
		// Its response has no body.
		if (request.method === "HEAD") return;
		if (hasLeft(request, reply)) return;
		if (bytes > (room?.bytes ?? 0)) this.#checkFit(reader, bytes);
		reply.raw.once("close", this.#hold(reader, bytes));
	}

	/** @returns a function that returns the bytes, once */
	#hold({ owner, project }: Reader, bytes: number): () => void {
		this.budget.hold(owner, bytes);
		this.#byProject.hold(project, bytes);
		let left = bytes;
		return () => {
			this.budget.give(owner, left);
			this.#byProject.give(project, left);
			left = 0;
		};
	}

	/** Refuses a response for which there is no room. */
	#checkFit({ owner, project }: Reader, bytes: number): void {
		if (this.#byProject.refusal(project, bytes) === "own") throw this.#refused(this.#byProject, project, false);
		const refusal = this.budget.refusal(owner, bytes);
		if (refusal !== null && !(refusal === "never" && this.#mayExceed(owner, bytes)))
			throw this.#refused(this.budget, owner, refusal === "node", bytes);
	}

	/** A response that can't be paged may take its project's share, if its client has read all others. */
	#mayExceed(owner: string, bytes: number): boolean {
		const { budget } = this;
		const isAlone = budget.heldBy(owner) === 0;
		return isAlone && bytes <= RESPONSES.bytesPerProject && budget.used + bytes <= budget.limit;
	}

	/** Refuses, before doing any work, a response for which there can't be room. */
	#checkRoom({ owner, project }: Reader, bytes: number = RESPONSES.pageBytes): void {
		if (this.budget.used + bytes > this.budget.limit) throw this.#refused(this.budget, owner, true);
		const hasRoom = (budget: Budget, name: string) => budget.heldBy(name) + bytes <= budget.perOwner;
		if (!hasRoom(this.budget, owner)) throw this.#refused(this.budget, owner, false);
		if (!hasRoom(this.#byProject, project)) throw this.#refused(this.#byProject, project, false);
	}

	/** Counts a refusal, whichever budget has no room, in the one that metrics show. */
	#refused(budget: Budget, owner: string, full: boolean, bytes = 0): Problem {
		this.budget.refuse();
		const { used, limit, perOwner } = budget;
		if (bytes > RESPONSES.bytesPerProject)
			return retryLater(
				"own",
				`The response has ${grouped(bytes)} bytes, and may have at most ${grouped(RESPONSES.bytesPerProject)}. Request less at a time.`,
			);
		if (full)
			return retryLater(
				"node",
				`Responses that clients have not read yet hold ${grouped(used)} of ${grouped(limit)} bytes: there is no room for another.`,
			);
		const whose = budget === this.budget ? "you have" : "clients of this project have";
		return retryLater(
			"own",
			`Responses that ${whose} not read yet hold ${grouped(budget.heldBy(owner))} of ${grouped(perOwner)} bytes: there is no room for another. Read them first.`,
		);
	}
}

/**
 * A large payload as a stream of slices, so that at most one slice is in a connection's buffer while the client doesn't
 * read, and stalled clients are noticed. Anything else is returned unchanged.
 */
export function inSlices(reply: FastifyReply, payload: unknown): unknown {
	if (reply.request.method === "HEAD") return payload;
	const isText = typeof payload === "string";
	if (!isText && !(payload instanceof Uint8Array)) return payload;
	if (payload.length <= RESPONSES.sliceBytes) return payload;
	const bytes = isText ? Buffer.from(payload) : payload;
	reply.header("Content-Length", bytes.length);
	return Readable.from(slices(bytes), { highWaterMark: 1 });
}

function* slices(bytes: Uint8Array): Generator<Uint8Array> {
	for (let at = 0; at < bytes.length; at += RESPONSES.sliceBytes) yield bytes.subarray(at, at + RESPONSES.sliceBytes);
}

/** What each rate limits, in words. One with a second part applies to a project, the others to each principal. */
const RATED: Record<RateName, readonly [what: string, ofProject?: string]> = {
	changes: ["changes", "in this project"],
	facts: ["store facts", "of this project"],
	testEvents: ["test events", "of this project"],
	urlChecks: ["checks of URLs and signatures", "of this project"],
	replays: ["replays", "of this project"],
	bulkReplays: ["replays by filter", "of this project"],
	reads: ["requests for lists and statistics"],
	lookups: ["lookups"],
	recordedReads: ["exports and listeners", "of this project"],
};

/** Whether the client has left: nothing more needs to be read or sent, and "close" has fired and would release nothing. */
export const hasLeft = (request: FastifyRequest, { raw }: FastifyReply): boolean =>
	request.raw.socket.destroyed || raw.destroyed || raw.closed;

/** For requests that have waited. @throws Problem if the client has left, so that no one would read the response */
export function checkPresent({ raw }: FastifyRequest): void {
	if (raw.socket.destroyed) throw new Problem("malformed-request", "The connection was closed.");
}

function readerOf(request: FastifyRequest): Reader {
	const principal = principalOf(request);
	const owner = principalName(principal);
	return { owner, project: principal.kind === "operator" ? owner : payerOf(request)! };
}

const isUnlimited = ({ principal }: FastifyRequest): boolean => principal === null || principal.kind === "operator";

/** Who a request of an authenticated caller counts for. */
const ownerOf = (name: RateName, request: FastifyRequest): string =>
	RATED[name][1] === undefined ? principalName(principalOf(request)) : payerOf(request)!;

/** Why a request over its owner's rate is refused; also its description in the OpenAPI document. */
export function tooMany(name: RateName): string {
	const { burst, perMinute } = RATES[name];
	const large = name === "reads" ? ", large responses counting as several" : "";
	return `Too many ${RATED[name].join(" ")}: up to ${grouped(burst)} at once and ${grouped(perMinute)} per minute${large}.`;
}

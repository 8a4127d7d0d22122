import { parseEvent, type WebhookEvent } from "./event.ts";
import { type Handler, handleHeld, handlerOf } from "./handlers.ts";
import { milliseconds, type ReceiverOptions, type Settings, settingsOf } from "./options.ts";
import { type Receiver, type Reply, receive } from "./request.ts";
import { utf8 } from "./signature.ts";
import type { InboxStore } from "./store.ts";

const POLL_S = 5;
const LONGEST_RETRY_MS = 3_600_000;

export interface InboxOptions extends ReceiverOptions {
	readonly store: InboxStore;
	/** How often to look for retries, and for events that other processes stored or left behind, seconds. 5 by default. */
	readonly poll?: number;
	/** How often to try an event before `onDead` gets it. Without a limit by default. */
	readonly maxAttempts?: number;
	/**
	 * Gets an event whose last attempt failed, with its error, or undefined if the process died then. Once it returns, the
	 * event is done and its body deleted, so keep what you need. If it throws, it is called again later.
	 */
	readonly onDead?: (event: WebhookEvent, error: unknown) => unknown;
}

/** When to give up on an event. */
interface GivingUp {
	readonly maxAttempts: number;
	readonly onDead: NonNullable<InboxOptions["onDead"]>;
}

/** A receiver that stores events before it responds, and handles them afterwards. */
export interface Inbox extends Receiver {
	/** Handles events as they arrive, until `stop`. */
	start(): void;
	/** Handles all due events, and resolves when none is left, or after `stop`: for a timer or a serverless function. */
	drain(): Promise<void>;
	/** Stops taking events, and resolves when the current handler has ended. */
	stop(): Promise<void>;
}

/**
 * Stores each event and responds immediately; the handlers run afterwards, one at a time, oldest event first. A handler
 * that fails runs again after 2 s, 4 s, 8 s and so on, at most an hour apart, until it succeeds or has been tried
 * `maxAttempts` times. A store has one inbox: it handles every event in it.
 *
 * @throws {TypeError | RangeError} if the secret is empty, the store is missing or can't hold events, or an option is out of range
 */
export function createInbox(options: InboxOptions): Inbox {
	const { store } = options;
	if (typeof store?.put !== "function")
		throw new TypeError(
			`store ${store ? "can't hold events" : "is missing"}: pass sqliteStore(database) or postgresStore(pool), so that events are kept until handled.`,
		);
	const settings = settingsOf(options);
	const pollMs = milliseconds("poll", options.poll ?? POLL_S);
	const worker = new Worker({ store, settings, pollMs, givingUp: givingUpOf(options) });

	async function handle(event: WebhookEvent): Promise<Reply> {
		if (!handlerOf(settings.on, event)) return { status: 200, body: { result: "ignored" } };
		const isNew = await store.put(settings.keyOf(event), event.raw);
		if (isNew) worker.look();
		return { status: 200, body: { result: isNew ? "stored" : "duplicate" } };
	}

	return {
		maxBytes: settings.maxBytes,
		receive: (request) => receive(request, settings, handle),
		start: () => worker.start(),
		drain: () => worker.drain(),
		stop: () => worker.stop(),
	};
}

function givingUpOf({ maxAttempts, onDead }: InboxOptions): GivingUp | undefined {
	if (maxAttempts === undefined && onDead === undefined) return undefined;
	if (maxAttempts === undefined || onDead === undefined) {
		throw new TypeError("Give maxAttempts and onDead together: without onDead, an event that fails would be lost.");
	}
	if (Number.isInteger(maxAttempts) && maxAttempts > 0) return { maxAttempts, onDead };
	throw new RangeError(`maxAttempts is ${maxAttempts}; give a whole number from 1.`);
}

interface WorkerOptions {
	readonly store: InboxStore;
	readonly settings: Settings;
	readonly pollMs: number;
	readonly givingUp: GivingUp | undefined;
}

/** Takes events out of an inbox, one at a time. */
class Worker {
	readonly #store: InboxStore;
	readonly #settings: Settings;
	readonly #pollMs: number;
	readonly #givingUp: GivingUp | undefined;
	#isStarted = false;
	#isDraining = false;
	#timer: ReturnType<typeof setTimeout> | undefined;
	/** The loop that takes events now, if one does. */
	#loop: Promise<void> | undefined;
	/** The event that the loop took last. */
	#current: Promise<boolean> | undefined;
	/** Whether an event may have arrived since the loop last looked. */
	#mayHaveMore = false;

	constructor({ store, settings, pollMs, givingUp }: WorkerOptions) {
		this.#store = store;
		this.#settings = settings;
		this.#pollMs = pollMs;
		this.#givingUp = givingUp;
	}

	start(): void {
		this.#isStarted = true;
		this.look();
	}

	async stop(): Promise<void> {
		this.#isStarted = false;
		this.#isDraining = false;
		clearTimeout(this.#timer);
		await this.#current?.catch(() => undefined);
	}

	/** Takes due events, unless stopped, and looks again later. */
	look(): void {
		clearTimeout(this.#timer);
		if (!this.#isStarted) return;
		this.#takeAll()
			.catch((error: unknown) => this.#settings.onError(error, undefined))
			.finally(() => {
				clearTimeout(this.#timer);
				if (this.#isStarted) this.#timer = setTimeout(() => this.look(), this.#pollMs);
			});
	}

	drain(): Promise<void> {
		this.#isDraining = true;
		return this.#takeAll();
	}

	#takeAll(): Promise<void> {
		this.#mayHaveMore = true;
		this.#loop ??= this.#run();
		return this.#loop;
	}

	async #run(): Promise<void> {
		try {
			while (this.#mayHaveMore && this.#isWanted) {
				this.#mayHaveMore = false;
				do this.#current = this.#takeOne();
				while ((await this.#current) && this.#isWanted);
			}
		} finally {
			// Right after the last look, so that no caller joins a loop that won't look again.
			this.#loop = undefined;
			this.#isDraining = false;
		}
	}

	get #isWanted(): boolean {
		return this.#isStarted || this.#isDraining;
	}

	/** False if nothing is due. */
	async #takeOne(): Promise<boolean> {
		const { on, leaseMs } = this.#settings;
		const token = crypto.randomUUID();
		const takenAt = performance.now();
		const entry = await this.#store.next(token, leaseMs);
		if (!entry) return false;
		const event = parseEvent(utf8(entry.body));
		const retryMs = Math.min(1_000 * 2 ** entry.tries, LONGEST_RETRY_MS);
		const onError = (error: unknown) => this.#settings.onError(error, event);
		const held = { store: this.#store, key: entry.key, token, leaseMs, event, takenAt, retryMs, onError };
		const handler = handlerOf(on, event);
		await handleHeld(handler && this.#limited(handler, entry.tries, onError), held);
		return true;
	}

	/** Gives an event up, under its claim, once its last attempt has failed. */
	#limited(handler: Handler, tries: number, onError: (error: unknown) => void): Handler {
		const givingUp = this.#givingUp;
		if (!givingUp || tries < givingUp.maxAttempts) return handler;
		// The last attempt ended with its process, or `onDead` threw.
		if (tries > givingUp.maxAttempts) return (event) => givingUp.onDead(event, undefined);
		return async (event, context) => {
			try {
				await handler(event, context);
			} catch (error) {
				// The claim was lost, so the event is given up, if at all, by the process that takes it next.
				if (context.signal.aborted) throw error;
				onError(error);
				await givingUp.onDead(event, error);
			}
		};
	}
}

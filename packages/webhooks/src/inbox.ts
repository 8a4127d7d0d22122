import { parseEvent, type WebhookEvent } from "./event.ts";
import { handleHeld, handlerOf } from "./handlers.ts";
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
}

/** A receiver that stores events before it responds, and handles them afterwards. */
export interface Inbox extends Receiver {
	/** Handles events as they arrive, until `stop`. */
	start(): void;
	/** Handles what is due now, and resolves when nothing is left, or after `stop`: for a timer or a serverless function. */
	drain(): Promise<void>;
	/** Stops taking events, and resolves when the current handler has ended. */
	stop(): Promise<void>;
}

/**
 * Stores each event and responds immediately; the handlers run afterwards, one at a time, oldest event first. A handler
 * that fails runs again after 2 s, 4 s, 8 s and so on, at most an hour apart, until it succeeds. A store has one inbox:
 * it handles every event in it.
 *
 * @throws {TypeError | RangeError} if the secret is empty or an option is out of range
 */
export function createInbox(options: InboxOptions): Inbox {
	const { store } = options;
	const settings = settingsOf(options);
	const worker = new Worker(store, settings, milliseconds("poll", options.poll ?? POLL_S));

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

/** Takes events out of an inbox, one at a time. */
class Worker {
	readonly #store: InboxStore;
	readonly #settings: Settings;
	readonly #pollMs: number;
	#isStarted = false;
	#isDraining = false;
	#timer: ReturnType<typeof setTimeout> | undefined;
	/** The loop that takes events now, if one does. */
	#loop: Promise<void> | undefined;
	/** The event that the loop took last. */
	#current: Promise<boolean> | undefined;
	/** Whether an event may have arrived since the loop last looked. */
	#mayHaveMore = false;

	constructor(store: InboxStore, settings: Settings, pollMs: number) {
		this.#store = store;
		this.#settings = settings;
		this.#pollMs = pollMs;
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

	/** Takes what is due, unless stopped, and looks again later. */
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
			// Right after the last look, so that nobody joins a loop that won't look again.
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
		await handleHeld(handlerOf(on, event), held);
		return true;
	}
}

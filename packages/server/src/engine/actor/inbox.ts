/**
 * An actor's messages, in order. A microtask handles everything posted before it runs, so a message posted during a
 * call is never handled in the middle of that call.
 */
export class Inbox<T> {
	readonly #work: (messages: readonly T[]) => void;
	/**
	 * Two arrays used alternately and emptied by popping. V8 pretenures arrays at allocation sites whose arrays mostly
	 * survive, so a fresh array each time would retain its contents until the next full collection.
	 */
	#messages: T[] = [];
	#spare: T[] = [];
	#scheduled = false;
	readonly #run = (): void => {
		this.#scheduled = false;
		const messages = this.#messages;
		this.#messages = this.#spare;
		this.#spare = messages;
		try {
			this.#work(messages);
		} finally {
			while (messages.length > 0) messages.pop();
		}
	};

	constructor(work: (messages: readonly T[]) => void) {
		this.#work = work;
	}

	get isEmpty(): boolean {
		return this.#messages.length === 0;
	}

	post(message: T): void {
		this.#messages.push(message);
		if (this.#scheduled) return;
		this.#scheduled = true;
		queueMicrotask(this.#run);
	}
}

/**
 * An actor's messages, in order. A microtask handles all that have come until then, so a message posted while something
 * runs never finds it halfway.
 */
export class Inbox<T> {
	readonly #work: (messages: readonly T[]) => void;
	#messages: T[] = [];
	#scheduled = false;
	readonly #run = (): void => {
		this.#scheduled = false;
		const messages = this.#messages;
		this.#messages = [];
		this.#work(messages);
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

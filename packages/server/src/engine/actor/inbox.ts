/**
 * An actor's messages, in order. A microtask handles all that have come until then, so a message posted while something
 * runs never finds it halfway.
 */
export class Inbox<T> {
	readonly #work: (messages: readonly T[]) => void;
	/**
	 * Two arrays that take turns, emptied place by place. V8 allocates arrays that mostly live for a while where objects are
	 * old from the start; new ones would keep what was in them until the next full collection.
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

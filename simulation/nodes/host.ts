/**
 * The process that a node runs in. Whatever reaches it from outside (a timer, bytes, an answer of the database) comes
 * through here: it waits while the process stands still, and is lost once the process is dead.
 */
export class Host {
	readonly name: string;
	#state: "running" | "frozen" | "dead" = "running";
	readonly #waiting: (() => void)[] = [];
	readonly #later: (run: () => void) => void;

	/** @param later has something happen at the same time, as an event of its own */
	constructor(name: string, later: (run: () => void) => void) {
		this.name = name;
		this.#later = later;
	}

	get isDead(): boolean {
		return this.#state === "dead";
	}

	get isFrozen(): boolean {
		return this.#state === "frozen";
	}

	get isRunning(): boolean {
		return this.#state === "running";
	}

	/** Something reaches the process. */
	run(fn: () => void): void {
		// Queued work comes first, even after resuming.
		if (this.#state === "frozen" || (this.#state === "running" && this.#waiting.length > 0)) this.#waiting.push(fn);
		else if (this.#state === "running") fn();
	}

	freeze(): void {
		if (this.#state === "running") this.#state = "frozen";
	}

	/** Everything that has waited happens now, one after another. */
	thaw(): void {
		if (this.#state !== "frozen") return;
		this.#state = "running";
		this.#drain();
	}

	kill(): void {
		this.#state = "dead";
		this.#waiting.length = 0;
	}

	#drain(): void {
		if (this.#waiting.length === 0) return;
		this.#later(() => {
			if (this.#state !== "running") return;
			this.#waiting.shift()?.();
			this.#drain();
		});
	}
}

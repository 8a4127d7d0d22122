export interface FairQueueOptions {
	/** Concurrent pieces of work: of one owner, and of all. */
	readonly perOwner: number;
	readonly running: number;
	/** How many pieces of one owner may wait. */
	readonly waiting: number;
}

interface Owner {
	running: number;
	readonly waiting: (() => void)[];
}

/** Limits how many pieces of work run concurrently. Waiting ones run in order, owners in turn. */
export class FairQueue {
	readonly #options: FairQueueOptions;
	/** Owners with work; the one whose turn is next comes first. */
	readonly #owners = new Map<string, Owner>();
	#running = 0;

	constructor(options: FairQueueOptions) {
		this.#options = options;
	}

	/**
	 * Runs `work` when there is room, and resolves or rejects with it. Returns null if `waiting` pieces of this owner
	 * already wait; that limit comes from the options by default.
	 */
	run<T>(name: string, work: () => Promise<T>, waiting = this.#options.waiting): Promise<T> | null {
		const owner = this.#owners.get(name) ?? { running: 0, waiting: [] };
		if (this.#hasRoom(owner)) {
			this.#owners.set(name, owner);
			return this.#start(name, owner, work);
		}
		if (owner.waiting.length >= waiting) return null;
		this.#owners.set(name, owner);
		return new Promise<void>((resolve) => owner.waiting.push(resolve)).then(() => this.#finish(name, owner, work));
	}

	#hasRoom({ running, waiting }: Owner): boolean {
		const { perOwner, running: most } = this.#options;
		return this.#running < most && running < perOwner && waiting.length === 0;
	}

	#start<T>(name: string, owner: Owner, work: () => Promise<T>): Promise<T> {
		this.#running++;
		owner.running++;
		return this.#finish(name, owner, work);
	}

	async #finish<T>(name: string, owner: Owner, work: () => Promise<T>): Promise<T> {
		try {
			return await work();
		} finally {
			this.#running--;
			owner.running--;
			if (owner.running === 0 && owner.waiting.length === 0) this.#owners.delete(name);
			this.#next();
		}
	}

	/** Starts the first waiting piece of the owner whose turn it is. */
	#next(): void {
		for (const [name, owner] of this.#owners) {
			if (this.#running >= this.#options.running) return;
			if (owner.waiting.length === 0 || owner.running >= this.#options.perOwner) continue;
			this.#owners.delete(name);
			this.#owners.set(name, owner);
			this.#running++;
			owner.running++;
			owner.waiting.shift()!();
			return;
		}
	}
}

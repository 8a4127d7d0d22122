/**
 * Large bodies of one owner are worked on one by one, until each is answered: what one publisher sends at the same time
 * keeps the event loop, the garbage collector and the disk busy for everyone.
 */
export class OneByOne {
	/** Those being worked on, by owner, with those that wait. */
	readonly #lines = new Map<string, { readonly request: object; readonly enter: () => void }[]>();
	readonly #owners = new WeakMap<object, string>();

	/** Resolves when it is the request's turn, which it has until it leaves. */
	enter(request: object, owner: string): Promise<void> {
		this.#owners.set(request, owner);
		const line = this.#lines.get(owner);
		return new Promise((enter) => {
			if (line) {
				line.push({ request, enter });
				return;
			}
			this.#lines.set(owner, [{ request, enter }]);
			enter();
		});
	}

	/** The request was answered, or its client has gone. Harmless when repeated, and for one that never entered. */
	leave(request: object): void {
		const owner = this.#owners.get(request);
		if (owner === undefined) return;
		this.#owners.delete(request);
		const line = this.#lines.get(owner)!;
		const at = line.findIndex((one) => one.request === request);
		// One that waits goes on, to find that its client has gone.
		line.splice(at, 1)[0]!.enter();
		if (line.length === 0) this.#lines.delete(owner);
		else if (at === 0) line[0]!.enter();
	}
}

import { Posthorn, until, unusedPort } from "@posthorn/testkit";
import type { Shop } from "../shop.ts";

/** A shop's nodes: its own, and others with the same settings, each with a fixed port. */
export class FactNodes {
	readonly urls: readonly string[];
	readonly #shop: Shop;
	readonly #others: (Posthorn | null)[];

	private constructor(shop: Shop, others: readonly Posthorn[]) {
		this.#shop = shop;
		this.#others = [...others];
		this.urls = [shop.service.url, ...others.map(({ url }) => url)];
	}

	static async of(shop: Shop, count: number): Promise<FactNodes> {
		const ports = await Promise.all(Array.from({ length: count - 1 }, unusedPort));
		const start = (port: number) => Posthorn.start({ settings: { ...shop.settings, POSTHORN_PORT: String(port) } });
		return new FactNodes(shop, await Promise.all(ports.map(start)));
	}

	/** Ends it as `kill -9` does. */
	async kill(index: number): Promise<void> {
		await this.#node(index).kill();
		if (this.urls.length > 1) return;
		// What the dead process had written may still arrive, before anything that the next one sends.
		const { receivers } = this.#shop;
		await until("connections to close", () => receivers.every((receiver) => receiver.openConnections === 0));
	}

	/** Ends it gracefully. */
	async stop(index: number): Promise<void> {
		await this.#node(index).stop();
	}

	async start(index: number): Promise<void> {
		if (index === 0) return this.#shop.start();
		const { port } = new URL(this.urls[index]!);
		this.#others[index - 1] = await Posthorn.start({ settings: { ...this.#shop.settings, POSTHORN_PORT: port } });
	}

	each(change: (index: number) => Promise<void>): Promise<unknown> {
		return Promise.all(this.urls.map((_, index) => change(index)));
	}

	#node(index: number): Posthorn {
		return index === 0 ? this.#shop.service : this.#others[index - 1]!;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await Promise.all(this.#others.map((node) => node?.kill()));
	}
}

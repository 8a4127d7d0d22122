import { patience } from "@posthorn/testkit";
import { expect } from "vitest";
import type { ApiResponse, Shop } from "../shop.ts";

/** Pause before a report that wasn't acknowledged is repeated, milliseconds. */
const AGAIN_MS = 25;

/** Reports facts to any of several nodes, and repeats each one until it is acknowledged. */
export class FactClient {
	/** Reports that were repeated because they weren't acknowledged. */
	repeats = 0;
	readonly #shop: Shop;
	readonly #urls: readonly string[];
	readonly #random: () => number;

	constructor(shop: Shop, urls: readonly string[], random: () => number) {
		this.#shop = shop;
		this.#urls = urls;
		this.#random = random;
	}

	/** A node's final response: that it recorded the fact, or why it never will. */
	async report(method: string, path: string, body?: object): Promise<ApiResponse> {
		const stillInTime = patience(`a response to ${method} ${path}`);
		for (;;) {
			const answer = await this.#try(method, this.#shop.path(path), body);
			if (answer !== null && answer.status < 500) return answer;
			stillInTime();
			this.repeats++;
			await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
		}
	}

	/**
	 * Records a fact. Sometimes reports it twice concurrently, again later, or with different content.
	 *
	 * @returns the events it created
	 */
	async record(path: string, body?: object): Promise<{ id: string; seq: number; type: string }[]> {
		const reports = [
			this.report("POST", path, body),
			...(this.#random() < 0.2 ? [this.report("POST", path, body)] : []),
		];
		const [answer, ...others] = await Promise.all(reports);
		if (this.#random() < 0.2) others.push(await this.report("POST", path, body));
		expect(answer!.status, `${path} ${JSON.stringify(answer!.body)}`).toBeLessThan(300);
		for (const other of others) expect(other).toEqual(answer);
		if (body && "amount_cents" in body && this.#random() < 0.1)
			expect((await this.report("POST", path, { ...body, amount_cents: 1 })).status, `${path} again`).toBe(409);
		return answer!.body.events;
	}

	async #try(method: string, path: string, body?: object): Promise<ApiResponse | null> {
		const url = this.#urls[Math.floor(this.#random() * this.#urls.length)]! + path;
		const headers = { authorization: `Bearer ${this.#shop.operatorKey}`, "content-type": "application/json" };
		try {
			const options = body
				? { method, headers, body: JSON.stringify(body) }
				: { method, headers: { authorization: headers.authorization } };
			const response = await fetch(url, options);
			const text = await response.text();
			return { status: response.status, body: text === "" ? null : JSON.parse(text) };
		} catch {
			return null; // killed, or not up yet
		}
	}
}

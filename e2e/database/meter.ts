import type { PostgresProxy } from "@posthorn/testkit";
import { expect } from "vitest";
import type { SiteNode } from "./node.ts";

/** What a node may do per second on its own while the database is unavailable: it polls for work about once. */
const ACTS_A_SECOND = 10;
/** The maximum cost of a call that the node can't serve: a connection, a retry, and a log line. */
const ACTS_A_CALL = 4;
/** The maximum share of time that a node may use the CPU while it can't do anything … */
const BUSY_PART = 0.3;
/** … and in addition for each call, milliseconds. */
const BUSY_A_CALL_MS = 20;

interface Reading {
	readonly ms: number;
	readonly cpuMs: number;
	readonly lines: number;
	readonly connections: number;
	readonly statements: number;
}

/** Measures the cost of a node and of the database behind a proxy since its creation. */
export class Meter {
	readonly #node: SiteNode;
	readonly #proxy: PostgresProxy;
	readonly #start: Reading;

	constructor(node: SiteNode, proxy: PostgresProxy) {
		this.#node = node;
		this.#proxy = proxy;
		this.#start = this.#read();
	}

	/** The cost of losing the database must stay proportional to the number of calls. */
	expectCalm(calls: number): void {
		const now = this.#read();
		const since = (what: keyof Reading): number => now[what] - this.#start[what];
		const most = calls * ACTS_A_CALL + (since("ms") / 1_000) * ACTS_A_SECOND;
		for (const what of ["lines", "connections", "statements"] as const)
			expect(since(what), `${what} in ${since("ms")} ms with ${calls} calls`).toBeLessThan(most);
		expect(since("cpuMs")).toBeLessThan(since("ms") * BUSY_PART + calls * BUSY_A_CALL_MS);
	}

	#read(): Reading {
		const { cpuMs, logLines } = this.#node;
		const { accepted, statements } = this.#proxy;
		return { ms: performance.now(), cpuMs: cpuMs ?? 0, lines: logLines, connections: accepted, statements };
	}
}

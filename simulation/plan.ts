/** A plan: how the world is, and an explicit list of all that people do and that goes wrong. */
import type { StorageFault } from "./storage/hostile.ts";

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export interface Plan {
	readonly seed: number;
	readonly shape: Shape;
	/** In the order of their times. */
	readonly steps: readonly Step[];
}

/** How a world is, all the time. */
export interface Shape {
	readonly name: string;
	/** Nodes that share the database; with one, it is a database for one node. */
	readonly nodes: number;
	readonly projects: number;
	readonly webhooksPerProject: number;
	/** How long things happen, milliseconds. Then all faults end, and attempts in flight may finish. */
	readonly durationMs: number;
	readonly retryDelaysMs: readonly number[];
	readonly attemptTimeoutMs: number;
	readonly leaseTermMs: number;
	readonly retentionMs: number;
	readonly basketIdleMs: number;
	/** Projects that a node works at once; null: as many as it may. */
	readonly activeProjects: number | null;
	readonly sendsInFlight: number | null;
	readonly databaseLatencyMs: number;
	readonly networkLatencyMs: number;
}

/** What a receiver does with a request, and how likely it is. */
export type Answer =
	| "ok"
	| "error"
	| "slow"
	| "hang"
	| "drip"
	| "close"
	| "reset"
	| "garbage"
	| "large"
	| "redirect"
	| "interim"
	| "cut"
	/** Accepts, and closes the connection. */
	| "last";
export type Mood = readonly (readonly [weight: number, Answer])[];

interface OfWebhook {
	readonly project: number;
	readonly webhook: number;
}

export type Deed =
	| { readonly do: "project"; readonly project: number }
	| ({
			readonly do: "webhook";
			readonly types: readonly string[];
			readonly maxInFlight: number;
			readonly mood: Mood;
	  } & OfWebhook)
	| { readonly do: "publish"; readonly project: number; readonly types: readonly string[]; readonly bytes: number }
	| { readonly do: "orders"; readonly project: number; readonly count: number; readonly basket: number | null }
	| { readonly do: "refund"; readonly project: number; readonly part: number }
	| { readonly do: "basket"; readonly project: number; readonly basket: number; readonly isEmpty: boolean }
	| { readonly do: "subscription"; readonly project: number; readonly subscription: number; readonly ends: boolean }
	| ({ readonly do: "rotate" | "pause" | "delete" | "url" } & OfWebhook)
	| ({ readonly do: "resume"; readonly from: "backlog" | "now" } & OfWebhook)
	| ({ readonly do: "types"; readonly types: readonly string[] } & OfWebhook)
	| ({ readonly do: "width"; readonly maxInFlight: number } & OfWebhook)
	| ({ readonly do: "test" | "replay one" | "replay failed" | "retry one" | "retry all" } & OfWebhook)
	| { readonly do: "replay project"; readonly project: number }
	| { readonly do: "read"; readonly project: number; readonly everyMs: number }
	| { readonly do: "app"; readonly project: number; readonly installed: boolean }
	| ({ readonly do: "mood"; readonly mood: Mood } & OfWebhook)
	| ({
			readonly do: "name";
			readonly answer: "private" | "mixed" | "nxdomain" | "servfail" | "silence";
			readonly ms: number;
	  } & OfWebhook)
	| { readonly do: "crash" | "restart"; readonly node: number; readonly ms: number }
	| { readonly do: "freeze" | "sleep"; readonly node: number; readonly ms: number }
	| { readonly do: "drift"; readonly node: number; readonly rate: number; readonly ms: number }
	| { readonly do: "set clock"; readonly node: number; readonly ms: number }
	| {
			readonly do: "storage";
			/** Null: of all nodes. */
			readonly node: number | null;
			readonly fault: StorageFault;
			readonly ms: number;
			readonly probability: number;
			readonly method: string | null;
	  }
	| { readonly do: "lock"; readonly project: number; readonly ms: number }
	| { readonly do: "failover"; readonly lostMs: number }
	| { readonly do: "cut"; readonly node: number; readonly ms: number; readonly how: "held" | "lost" }
	| { readonly do: "name servers"; readonly node: number; readonly ms: number; readonly state: "silent" | "refusing" }
	| { readonly do: "shortage"; readonly node: number; readonly ms: number; readonly code: string };

/** `id` names its randomness: it stays the same when others are left out. */
export type Step = { readonly id: number; readonly at: number } & Deed;

/** Messages to a hostile neighbor, and what it can do. It runs in its own process, limited to half a core. */

/** How the neighbor's receiver behaves, by the first segment of a webhook's path. */
export type Behaviour =
	/** Responds 200 immediately. */
	| "ok"
	/** Never responds. */
	| "hang"
	/** Sends interim responses without end. */
	| "interim"
	/** Sends a head byte by byte, without end. */
	| "drip"
	/** Never reads a request. */
	| "unread";

/** What the neighbor's receiver does before or instead of a response. */
export type TlsAttack =
	/** Presents certificates that take long to check, and that no one trusts. */
	| "certificate chains"
	/** Sends nothing but new keys after each request. */
	| "key updates";

/** What the neighbor does to the service's API until it is killed. */
export type Attack =
	/** Publishes single events of `bytes` each to its projects in turn, at a fixed rate. */
	| { readonly kind: "events"; readonly perSecond: number; readonly bytes: number }
	/** Posts one body over and over on ten connections: a valid batch, or one of empty objects, of 2 MiB. */
	| { readonly kind: "batches"; readonly of: "largest" | "emptiest" }
	/** Keeps 40 uploads open that never end. */
	| { readonly kind: "stalled uploads" }
	/** Requests large responses on 120 connections and reads none of them. */
	| { readonly kind: "slow readers" }
	/** Publishes with unknown keys on 50 connections. */
	| { readonly kind: "unknown keys" }
	/** Replays every dead-lettered delivery of a webhook, once. */
	| { readonly kind: "replay"; readonly webhookId: string }
	/**
	 * Makes these calls in turn on each of `connections`, as fast as it gets responses. Each connection comes from an
	 * address of its own if there are `manyAddresses`.
	 */
	| {
			readonly kind: "calls";
			readonly connections: number;
			readonly calls: readonly HostileCall[];
			readonly manyAddresses?: boolean;
	  }
	/** Keeps calls of this path open on `connections`. */
	| { readonly kind: "held"; readonly connections: number; readonly path: string }
	/** Does nothing itself. */
	| { readonly kind: "none" };

/** An API call for its first project. */
export interface HostileCall {
	readonly method: "GET" | "POST" | "PUT" | "PATCH";
	/** The part after `/v1/projects/{project_id}`, or a whole path if the call is `open`. */
	readonly path: string;
	readonly body?: string;
	readonly headers?: Readonly<Record<string, string>>;
	/** Without a key. */
	readonly open?: boolean;
}

export interface AttackOrder {
	/** Where the API is, such as `http://127.0.0.1:8420`. */
	readonly origin: string;
	/** The neighbor's own keys, one per project. */
	readonly projects: readonly { readonly id: string; readonly key: string }[];
	readonly attack: Attack;
}

/** To the process: what to do, or to stop publishing and report its progress. */
export type HostileCommand = AttackOrder | { readonly attack: null };

/** From the process: where its receiver listens, that it has started, or its progress. */
export type HostileReply =
	| { readonly port: number }
	| { readonly begun: true }
	/** Events that the service accepted from it, and requests to which its receiver responded with 200. */
	| { readonly accepted: number; readonly received: number };

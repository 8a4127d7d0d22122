/**
 * What happens in a world, seen from outside: people's calls and their responses, what the database did, and what went
 * over the network. The oracle judges it, the trace prints it.
 *
 * `node` is a life of a node: it has another name after each start.
 */
import type {
	AlarmMark,
	HandedOver,
	Lease,
	LogEvent,
	NewAttempt,
	NewWebhook,
	Settlement,
	WebhookPatch,
} from "../packages/server/src/storage/port.ts";
import type { SeenRequest } from "./network/types.ts";

export type Happening = { readonly at: number } & (
	| NodeHappening
	| FaultHappening
	| PeopleHappening
	| DatabaseHappening
	| NetworkHappening
);

/** A happening before its time is added. */
export type News = NodeHappening | FaultHappening | PeopleHappening | DatabaseHappening | NetworkHappening;

type NodeHappening =
	| { readonly kind: "started" | "crashed" | "froze" | "thawed" | "stopping" | "stopped"; readonly node: string }
	/** The node logged an error or a warning. */
	| { readonly kind: "logged"; readonly node: string; readonly level: string; readonly text: string };

type FaultHappening =
	/** A fault begins or ends. While it lasts, nothing has to be on time. */
	| { readonly kind: "fault"; readonly phase: "begins" | "ends"; readonly text: string }
	/** The database continued from an earlier state; everything since then is undone. */
	| { readonly kind: "restored"; readonly since: number }
	/** All faults have ended. */
	| { readonly kind: "calm" };

/** What an owner, a publisher or the store platform wants. */
export type Act =
	| { readonly act: "create"; readonly projectId: string; readonly url: string }
	| { readonly act: "rotate" | "delete"; readonly projectId: string; readonly webhookId: string }
	| { readonly act: "update"; readonly projectId: string; readonly webhookId: string; readonly patch: WebhookPatch }
	| { readonly act: "test"; readonly projectId: string; readonly webhookId: string; readonly type: string }
	| { readonly act: "replay"; readonly projectId: string; readonly webhookId: string; readonly eventId: string }
	| { readonly act: "replay matching"; readonly projectId: string; readonly webhookId: string | null }
	| { readonly act: "retry now"; readonly projectId: string; readonly webhookId: string }
	| { readonly act: "app"; readonly projectId: string; readonly installed: boolean }
	| { readonly act: "publish"; readonly projectId: string; readonly ids: readonly string[] }
	| { readonly act: "fact"; readonly projectId: string; readonly what: string }
	/** `reader` reads the log behind number `after`. */
	| { readonly act: "read"; readonly projectId: string; readonly reader: number; readonly after: number };

/** A page of the log, or that events up to the reader's position are lost, and where to continue. */
export type ReadResult =
	| { readonly events: readonly { readonly id: string; readonly seq: number }[] }
	| { readonly continueAfter: number };

type PeopleHappening =
	| { readonly kind: "asked"; readonly call: number; readonly node: string; readonly act: Act }
	| {
			readonly kind: "answered";
			readonly call: number;
			readonly askedAt: number;
			readonly act: Act;
			/** Whether it was done, as the answer says. */
			readonly done: boolean;
			readonly answer: string;
			/** Events that are in the log, as the answer says. */
			readonly events?: readonly { readonly id: string; readonly seq: number }[];
			readonly webhookId?: string;
			readonly read?: ReadResult;
	  }
	/** No answer came in time, or a failure: it may have been done all the same. */
	| {
			readonly kind: "unanswered";
			readonly call: number;
			readonly askedAt: number;
			readonly act: Act;
			readonly why: string;
	  };

/** What the database did, at the moment when it did so; `node` asked for it. */
type DatabaseHappening =
	| { readonly kind: "project created"; readonly node: string; readonly projectId: string; readonly name: string }
	| {
			readonly kind: "appended";
			readonly node: string;
			readonly projectId: string;
			readonly events: readonly LogEvent[];
	  }
	| { readonly kind: "webhook created"; readonly node: string; readonly webhook: NewWebhook }
	| {
			readonly kind: "webhook updated";
			readonly node: string;
			readonly projectId: string;
			readonly webhookId: string;
			readonly patch: WebhookPatch;
	  }
	| {
			readonly kind: "secret rotated";
			readonly node: string;
			readonly projectId: string;
			readonly webhookId: string;
			readonly sealedDigest: Uint8Array;
	  }
	| { readonly kind: "webhook deleted"; readonly node: string; readonly projectId: string; readonly webhookId: string }
	| { readonly kind: "app changed"; readonly node: string; readonly projectId: string; readonly installed: boolean }
	| {
			readonly kind: "test queued";
			readonly node: string;
			readonly projectId: string;
			readonly webhookId: string;
			readonly event: {
				readonly id: string;
				readonly type: string;
				readonly createdAt: number;
				readonly body: Uint8Array;
			};
	  }
	| {
			readonly kind: "replay begun";
			readonly node: string;
			readonly projectId: string;
			readonly webhookId: string;
			readonly eventId: string;
			readonly replay: number;
			/** By the node's clock. */
			readonly dueAt: number;
	  }
	| {
			readonly kind: "replays begun";
			readonly node: string;
			readonly projectId: string;
			/** Null: all of the project. */
			readonly webhookId: string | null;
			/** Attempts before this time, by the node's clock, with these bounds on their ids. */
			readonly before: number;
			readonly after: string | null;
			readonly next: string | null;
			readonly count: number;
			readonly dryRun: boolean;
	  }
	/** Retries of these events were made due by a user. */
	| {
			readonly kind: "retries made early";
			readonly node: string;
			readonly projectId: string;
			readonly webhookId: string;
			/** Null: the one event that `eventId` names. */
			readonly seqs: readonly number[] | null;
			readonly eventId: string | null;
			/** By the node's clock. */
			readonly dueAt: number;
	  }
	| {
			readonly kind: "settled";
			readonly node: string;
			readonly settlement: Settlement;
			/** The attempt that was handed over with a lease, which this settles. */
			readonly handedOver: HandedOver | null;
	  }
	| {
			readonly kind: "settle refused";
			readonly node: string;
			readonly projectId: string;
			readonly attempts: readonly NewAttempt[];
	  }
	| { readonly kind: "leased" | "renewed" | "kept"; readonly node: string; readonly lease: Lease }
	| {
			readonly kind: "released";
			readonly node: string;
			readonly lease: Lease;
			readonly seen: AlarmMark;
			readonly inFlight: readonly HandedOver[];
	  }
	| { readonly kind: "handed over forgotten"; readonly node: string; readonly projectId: string }
	| {
			readonly kind: "swept";
			readonly node: string;
			readonly cutoff: number;
			readonly what: "attempts" | "events";
			readonly deleted: number;
	  };

type NetworkHappening =
	/** The last byte of a request left the node. */
	| { readonly kind: "sent"; readonly request: SeenRequest }
	/** The receiver has read it whole. */
	| { readonly kind: "received"; readonly request: SeenRequest }
	/** A whole response reached the node, or its status line did and no more will. */
	| { readonly kind: "responded"; readonly request: SeenRequest; readonly status: number }
	/** The connection ended before a response. */
	| { readonly kind: "broken"; readonly request: SeenRequest; readonly why: string }
	/** A node began to connect to this address. */
	| { readonly kind: "connecting"; readonly node: string; readonly address: string };

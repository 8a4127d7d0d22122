import type { components } from "../../api-types/src/api.ts";

type EventOfApi = components["schemas"]["NewEvent"];

/** An event as published, with its sequence number in the project's log. */
export type PublishedEvent = components["schemas"]["PublishedEvent"];

export type EventType = EventOfApi["type"];

/** The shape of each type's `data`. */
export type EventData = { readonly [Event in EventOfApi as Event["type"]]: Event["data"] };

interface Publishable<Type extends EventType> {
	/** `evt_…`, unique within its project. Build it from what happened, such as `evt_paid-1042`. By default, a new one. */
	readonly id?: string;
	readonly type: Type;
	/** When it happened, ISO 8601 in UTC. By default, when it is published. */
	readonly created_at?: string;
	readonly data: EventData[Type];
}

/** An event to publish: `type` decides which `data` it has. */
export type NewEvent = { [Type in EventType]: Publishable<Type> }[EventType];

interface Envelope<Type extends string, Data> {
	/** `evt_…`, unique within its project. */
	readonly id: string;
	readonly type: Type;
	/** When it happened, ISO 8601 in UTC. */
	readonly created_at: string;
	/** `proj_…`. */
	readonly project_id: string;
	readonly data: Data;
	/**
	 * The event's exact text, as webhooks receive it, for integers beyond 2^53 and the like. It isn't enumerable, so
	 * copies, logs and JSON leave it out.
	 */
	readonly raw: string;
}

/** An event in the log, discriminated by `type`. */
export type LogEvent = { [Type in EventType]: Envelope<Type, EventData[Type]> }[EventType];

/**
 * How far a reader has read the log. Store it as JSON. `epoch` identifies the log's history, so that a reader learns of
 * it if events that it has read were lost.
 */
export interface Position {
	readonly after: number;
	readonly epoch?: string;
}

/** Events of the log, and the position after them. */
export interface EventPage {
	readonly events: readonly LogEvent[];
	/** Store it once the events are handled. */
	readonly position: Position;
}

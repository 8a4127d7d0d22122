export { type CallOptions, type Client, type ClientOptions, createClient } from "./client.ts";
export {
	ApiError,
	ConnectionError,
	type FieldFault,
	InvalidCallError,
	LogBehindError,
	PosthornError,
} from "./errors.ts";
export { newEventId } from "./event-id.ts";
export type { EventData, EventPage, EventType, LogEvent, NewEvent, Position, PublishedEvent } from "./events.ts";
export type { FollowOptions } from "./follow.ts";
export type { OnRetry, RetryOptions } from "./retry.ts";

import { REQUESTS } from "../base/budgets.ts";

/** What a publisher may choose as an event's id. */
export const EVENT_ID = /^evt_[A-Za-z0-9_-]{1,60}$/;

/** Events of one publish call. */
export const MAX_BATCH = REQUESTS.batchEvents;

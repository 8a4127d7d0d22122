import type { EventTypeEntry, JsonSchema } from "./entry.ts";
import { identifier } from "./fields.ts";

const schema: JsonSchema = {
	type: "object",
	properties: {
		order_id: identifier("The order that the deliverable belongs to."),
		deliverable_id: identifier("The deliverable's identifier."),
		kind: { enum: ["game_command", "chat_role", "file"], description: "The kind of deliverable." },
		detail: { type: "string", description: "The store platform's details of the result." },
	},
};

export const deliveryEvents: readonly EventTypeEntry[] = [
	{
		type: "delivery.success",
		description: "A deliverable (game command, chat-platform role or file) was completed.",
		future: false,
		strict: false,
		schema,
		sample: {
			order_id: "ord_10482",
			deliverable_id: "dlv_77120",
			kind: "game_command",
			detail: "Rank granted on survival-1",
		},
	},
	{
		type: "delivery.failed",
		description: "A deliverable was given up (dead-lettered) after its retries were exhausted.",
		future: false,
		strict: false,
		schema,
		sample: {
			order_id: "ord_10482",
			deliverable_id: "dlv_77121",
			kind: "chat_role",
			detail: "The buyer is not a member of the chat server",
		},
	},
];

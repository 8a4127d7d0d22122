import { Text } from "@mantine/core";
import type { Webhook } from "../../api/webhooks.ts";
import { isBehind, webhookName } from "../../lib/health/health.ts";
import { isolated } from "../../lib/text/names.ts";
import { plural } from "../../lib/text/numbers.ts";
import { useNow } from "../../ui/hooks/use-now.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { type LogsSearch, valuesOf } from "./search.ts";

/** If there are more, a number says it better. */
const NAMED = 2;

interface HeldNoteProps {
	projectId: string;
	webhooks: readonly Webhook[] | undefined;
	search: LogsSearch;
}

/**
 * What a list of deliveries leaves out: events that wait for their first attempt, because a webhook is paused or behind.
 * Nothing if the filters exclude them.
 */
export function HeldNote({ projectId, webhooks = [], search }: HeldNoteProps) {
	const now = useNow(0);
	const chosen = valuesOf(search, "webhook_id");
	const states = valuesOf(search, "state");
	const isExcluded = (states.length > 0 && !states.includes("waiting")) || search.response !== undefined;
	const held = webhooks.filter(
		({ id, status, backlog }) =>
			(chosen.length === 0 || chosen.includes(id)) &&
			backlog.events > 0 &&
			(status === "paused" || isBehind({ state: "healthy", backlog }, now)),
	);
	if (isExcluded || search.unhandled || held.length === 0) return null;
	const total = held.reduce((sum, { backlog }) => sum + backlog.events, 0);
	// An event that waits for two webhooks is two deliveries.
	const what = held.length === 1 ? plural(total, "event") : plural(total, "delivery");
	return (
		<Text size="sm" c="dimmed" component="div">
			{what} for{" "}
			{held.length > NAMED
				? plural(held.length, "webhook")
				: held.map(({ id, status, ...webhook }, index) => (
						<span key={id}>
							{index === 0 ? "" : " and "}
							<AnchorLink size="sm" to="/p/$projectId/webhooks/$webhookId" params={{ projectId, webhookId: id }}>
								{isolated(webhookName(webhook))}
							</AnchorLink>
							{status === "paused" ? " (paused)" : ""}
						</span>
					))}{" "}
			{total === 1 ? "waits for its first attempt and isn't" : "wait for their first attempt and aren't"} listed yet.
		</Text>
	);
}

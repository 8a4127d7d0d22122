import { Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { deliveriesQuery } from "../../../api/deliveries.ts";
import { healthQuery } from "../../../api/health.ts";
import type { Webhook } from "../../../api/webhooks.ts";
import { isBehind, waitingSince } from "../../../lib/health/health-facts.ts";
import { webhookName } from "../../../lib/health/webhook-name.ts";
import { isolated } from "../../../lib/text/names.ts";
import { plural } from "../../../lib/text/numbers.ts";
import { useNow } from "../../../ui/hooks/use-now.ts";
import { AnchorLink } from "../../../ui/links.tsx";
import { deliveryFilter, type LogsSearch, valuesOf } from "../search.ts";
import { namesEvents, onlyEvents, type Published, usePublished } from "./use-published.ts";

/** If there are more, a number says it better. */
const NAMED = 2;

interface HeldNoteProps {
	projectId: string;
	webhooks: readonly Webhook[] | undefined;
	search: LogsSearch;
}

/** Webhooks that are paused or behind, each with how many events of the search wait there for their first attempt. */
function useHeld({ projectId, webhooks = [], search }: HeldNoteProps) {
	const chosen = valuesOf(search, "webhook_id");
	const types = valuesOf(search, "type");
	const states = valuesOf(search, "state");
	const isExcluded = (states.length > 0 && !states.includes("waiting")) || search.response !== undefined;
	const now = useNow(waitingSince(webhooks));
	const isHeld = ({ status }: Webhook, backlog: Webhook["backlog"]) =>
		backlog.events > 0 && (status === "paused" || isBehind({ state: "healthy", backlog }, now));
	const isAsked = (type: string) => types.length === 0 || types.includes(type);
	const mayHold = webhooks.filter(
		(webhook) =>
			(chosen.length === 0 || chosen.includes(webhook.id)) &&
			webhook.events.some(isAsked) &&
			isHeld(webhook, webhook.backlog),
	);
	const isShown = !isExcluded && !search.unhandled && mayHold.length > 0;
	// A webhook's own backlog is as of the last change or published event. The health follows each attempt.
	const { data: healths } = useQuery({ ...healthQuery(projectId), enabled: isShown });
	const backlogs = new Map(healths?.map(({ webhook_id, backlog }) => [webhook_id, backlog]));
	const { published = [] } = usePublished(projectId, search, isShown);
	// All deliveries of these events: other filters may leave some out, such as delivered ones.
	const { data: sent } = useInfiniteQuery({
		...deliveriesQuery(projectId, deliveryFilter(onlyEvents(search))),
		enabled: isShown && namesEvents(search),
	});
	const countOf = (webhook: Webhook, { events, oldest_seq: oldest }: Webhook["backlog"]) => {
		if (!namesEvents(search)) return events;
		if (sent === undefined) return 0;
		// A search for an order counts only its own events. Some after the oldest may have been sent: several may be in flight.
		const isSent = (eventId: string) =>
			sent.pages.some(({ data }) =>
				data.some(({ webhook_id, event_id }) => webhook_id === webhook.id && event_id === eventId),
			);
		const isWaiting = ({ id, type, seq }: Published) =>
			webhook.events.includes(type) && isAsked(type) && oldest !== null && seq >= oldest && !isSent(id);
		// Some may have been published before their type was added.
		return Math.min(events, published.filter(isWaiting).length);
	};
	if (!isShown) return [];
	return mayHold.flatMap((webhook) => {
		const backlog = backlogs.get(webhook.id);
		if (backlog === undefined || !isHeld(webhook, backlog)) return [];
		const count = countOf(webhook, backlog);
		return count === 0 ? [] : [{ ...webhook, count }];
	});
}

/**
 * What a list of deliveries leaves out: events that wait for their first attempt, because a webhook is paused or behind.
 * Nothing if the filters exclude them.
 */
export function HeldNote(props: HeldNoteProps) {
	const { projectId, search } = props;
	const held = useHeld(props);
	if (held.length === 0) return null;
	const total = held.reduce((sum, { count }) => sum + count, 0);
	// An event that waits for two webhooks is two deliveries.
	const what = held.length === 1 ? plural(total, "event") : plural(total, "delivery");
	// Backlogs aren't counted by type.
	const types = valuesOf(search, "type");
	const isAcrossTypes =
		types.length > 0 && !namesEvents(search) && held.some(({ events }) => events.some((type) => !types.includes(type)));
	return (
		<Text size="sm" c="dimmed" component="div">
			{isAcrossTypes ? "Across all types, " : ""}
			{what} for{" "}
			{held.length > NAMED
				? plural(held.length, "webhook")
				: held.map(({ id, status, ...webhook }, index) => (
						<span key={id}>
							{index === 0 ? "" : " and "}
							<AnchorLink
								size="sm"
								underline="always"
								to="/p/$projectId/webhooks/$webhookId"
								params={{ projectId, webhookId: id }}
							>
								{isolated(webhookName(webhook))}
							</AnchorLink>
							{status === "paused" ? " (paused)" : ""}
						</span>
					))}{" "}
			{total === 1 ? "waits for its first attempt and isn't" : "wait for their first attempt and aren't"} listed yet.
		</Text>
	);
}

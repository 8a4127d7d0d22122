import { Button, Text } from "@mantine/core";
import { IconActivity, IconCheck, IconFilterOff, IconSendOff } from "@tabler/icons-react";
import type { ListedAttempt, Searched } from "../../../api/attempts.ts";
import { useProjectId, useSession } from "../../../api/session.ts";
import type { Webhook } from "../../../api/webhooks.ts";
import { formatCount } from "../../../lib/text/numbers.ts";
import { isAhead, shortTime } from "../../../lib/text/time.ts";
import { useNow } from "../../../ui/hooks/use-now.ts";
import { ButtonLink } from "../../../ui/links.tsx";
import { Section } from "../../../ui/page/page.tsx";
import { EmptyState } from "../../../ui/page/states.tsx";
import { AttemptsTable } from "../attempts/attempts-table.tsx";
import { DeliveriesTable } from "../deliveries/deliveries-table.tsx";
import { hasOneFilter, isSearchText, type LogsSearch, type LogView, valuesOf } from "../search.ts";
import { EventList } from "../text/event-list.tsx";
import { EXAMPLE_ATTEMPTS, EXAMPLE_DELIVERIES, EXAMPLE_WEBHOOK_NAME } from "./examples.ts";
import { undeliveredWords } from "./undelivered-words.ts";
import { usePublished } from "./use-published.ts";

const NO_SELECTION = { size: 0, deliveries: 0, has: () => false, set: () => {}, setAll: () => {} };

/** What both example tables have in common. */
const EXAMPLE = {
	nameOf: () => EXAMPLE_WEBHOOK_NAME,
	stateOf: () => "active" as const,
	selection: NO_SELECTION,
	openKey: null,
	isNew: () => false,
	onOpen: () => {},
	hrefOf: () => "#",
	keys: {},
};

/** How long the log is kept, in a sentence. */
function useReach(): string {
	const { log_retention_days: days } = useSession();
	return `The log goes back ${days === 1 ? "a day" : `${formatCount(days)} days`}.`;
}

interface NothingYetProps {
	projectId: string;
	view: LogView;
	narrow: boolean;
}

/** The empty log: explains what will appear and how to get there. */
export function NothingYet({ projectId, view, narrow }: NothingYetProps) {
	const isOfAttempts = view === "attempts";
	const reach = useReach();
	return (
		<EmptyState
			title="The log is empty"
			icon={<IconActivity size={26} />}
			action={
				<ButtonLink to="/p/$projectId/webhooks" params={{ projectId }}>
					Go to the webhooks
				</ButtonLink>
			}
			preview={
				narrow ? undefined : isOfAttempts ? (
					<AttemptsTable rows={EXAMPLE_ATTEMPTS} {...EXAMPLE} />
				) : (
					<DeliveriesTable rows={EXAMPLE_DELIVERIES} onReplay={() => {}} onRetried={() => {}} {...EXAMPLE} />
				)
			}
		>
			{isOfAttempts
				? "Every attempt appears here, with its request, the response, and the time of the next retry."
				: "Every delivery appears here, with its attempts, the responses, and the time of the next retry."}{" "}
			{reach} Open a webhook and send it a test event to see one.
		</EmptyState>
	);
}

/** What a filter by order or customer leaves unsaid: how much was searched. */
export function SearchedNote({ searched }: { searched: Searched | null }) {
	const now = useNow(0);
	if (searched === null || (searched.complete && !searched.capped)) return null;
	const { complete, since, capped } = searched;
	const from = since === null ? "" : ` Searched since ${shortTime(Date.parse(since), now)}.`;
	return (
		<Text size="sm" c="dimmed" role="status">
			{complete ? "" : `Some events aren't indexed yet. The list will be complete in a moment.${from} `}
			{capped ? "Only the newest events of each order or customer are searched." : ""}
		</Text>
	);
}

/** Says why attempts from a time when the clock was ahead are listed first. */
export function AheadNotice({ newest }: { newest: Pick<ListedAttempt, "started_at"> | undefined }) {
	const now = useNow(0);
	if (newest === undefined || !isAhead(Date.parse(newest.started_at), now)) return null;
	return (
		<Text size="sm" c="dimmed">
			The first attempts were made while the service's clock was ahead. They stay at the top until the time they show,
			so newer ones are below them.
		</Text>
	);
}

interface NothingMatchesProps {
	search: LogsSearch;
	webhooks: readonly Webhook[] | undefined;
	onClear: () => void;
}

/** A filter without results. Events of an order or a customer exist even if no webhook receives them. */
export function NothingMatches({ search, webhooks, onClear }: NothingMatchesProps) {
	const { published = [], matches } = usePublished(useProjectId(), search);
	const searched = [...valuesOf(search, "order_id"), ...valuesOf(search, "customer_email")];
	return (
		<>
			{published.length > 0 && hasOneFilter(search) ? (
				<EmptyState title="Published, but not sent" icon={<IconSendOff size={26} />}>
					{undeliveredWords(new Set(published.map(({ type }) => type)), webhooks)}
				</EmptyState>
			) : (
				<NoDelivery
					isDecided={search.unhandled === true}
					hasOneFilter={hasOneFilter(search)}
					isOfOrder={search.order_id !== undefined && published.length === 0}
					text={published.length === 0 && searched.length === 1 ? searched.find(isSearchText) : undefined}
					onClear={onClear}
				/>
			)}
			{matches.length === 0 ? null : (
				<Section title="Events of this search" flush>
					<EventList events={matches} label="Events of this search" />
				</Section>
			)}
		</>
	);
}

interface NoDeliveryProps {
	/** Whether the list only shows failed deliveries that need a decision. */
	isDecided: boolean;
	/** Whether there is no other filter to remove, and no time to extend. */
	hasOneFilter: boolean;
	/** Whether the list is filtered by an order id of which no event is known. */
	isOfOrder: boolean;
	/** An order id or e-mail address of which no event is known, perhaps only a part of one. */
	text: string | undefined;
	onClear: () => void;
}

function NoDelivery({ isDecided, hasOneFilter, isOfOrder, text, onClear }: NoDeliveryProps) {
	const projectId = useProjectId();
	const reach = useReach();
	return (
		<EmptyState
			title={isDecided ? "Nothing needs a decision" : "Nothing matches"}
			icon={isDecided ? <IconCheck size={26} /> : <IconFilterOff size={26} />}
			action={
				<>
					{text === undefined ? null : (
						<ButtonLink to="/p/$projectId/logs" params={{ projectId }} search={{ text }}>
							Search for it as text
						</ButtonLink>
					)}
					<Button variant="default" onClick={onClear}>
						Clear the filters
					</Button>
				</>
			}
		>
			{isDecided
				? "No failed delivery that matches the filters is left to replay or dismiss."
				: `Nothing in the log matches${hasOneFilter ? "" : " all filters. Remove one, or choose a longer time"}. ${reach}${isOfOrder ? " An order id matches only in full and exactly as published: upper and lower case matter." : ""}`}
		</EmptyState>
	);
}

import { List, Stack, Table, Text } from "@mantine/core";
import type { Counted } from "../../api/deliveries.ts";
import { useSession } from "../../api/session.ts";
import { newSeriesWords, retrySpan } from "../../lib/attempts/track.ts";
import { formatCount, isAre, plural } from "../../lib/text/numbers.ts";
import { Code } from "../ident.tsx";
import { When } from "../when.tsx";
import type { MatchingAction } from "./act-on-matching.tsx";

/** Webhooks and types listed; the rest is a sum. */
const MAX_GROUPS = 6;

interface GroupsProps {
	counted: Counted;
	/** A webhook's display name. */
	nameOf: (webhookId: string) => string;
}

/** Counted deliveries by event type and webhook, and from when they are. */
export function Groups({ counted: { count, groups, oldestAt, newestAt }, nameOf }: GroupsProps) {
	const shown = groups.length > MAX_GROUPS + 1 ? groups.slice(0, MAX_GROUPS) : groups;
	const others = groups.slice(shown.length);
	return (
		<>
			<Table fz="sm" verticalSpacing={4} aria-label="What matches">
				<Table.Thead>
					<Table.Tr>
						<Table.Th>Event type</Table.Th>
						<Table.Th>Webhook</Table.Th>
						<Table.Th ta="right">Deliveries</Table.Th>
					</Table.Tr>
				</Table.Thead>
				<Table.Tbody>
					{shown.map(({ webhook_id, type, count }) => (
						<Table.Tr key={`${webhook_id} ${type}`}>
							<Table.Td>
								<Code>{type}</Code>
							</Table.Td>
							<Table.Td>{nameOf(webhook_id)}</Table.Td>
							<Table.Td ta="right">{formatCount(count)}</Table.Td>
						</Table.Tr>
					))}
					{others.length === 0 ? null : (
						<Table.Tr>
							<Table.Td colSpan={2}>{plural(others.length, "other combination")}</Table.Td>
							<Table.Td ta="right">{formatCount(others.reduce((sum, { count }) => sum + count, 0))}</Table.Td>
						</Table.Tr>
					)}
				</Table.Tbody>
			</Table>
			{oldestAt === null || newestAt === null ? null : (
				<Text size="sm">
					{oldestAt === newestAt ? (
						<>
							{count === 1 ? "Its last attempt was" : "Their last attempts were"} <When at={oldestAt} />.
						</>
					) : (
						<>
							Last attempts: oldest <When at={oldestAt} />, newest <When at={newestAt} />.
						</>
					)}
				</Text>
			)}
		</>
	);
}

interface ReplayPreviewProps extends GroupsProps {
	/** Whether there may be delivered ones among them. */
	isSentTwice: boolean;
}

/** What a replay will do: which deliveries it sends, and how. */
export function ReplayPreview({ isSentTwice, ...groups }: ReplayPreviewProps) {
	const { count } = groups.counted;
	return (
		<Stack gap="sm">
			<Text size="sm">
				{count === 1
					? "This sends 1 delivery again:"
					: `This sends ${formatCount(count)} deliveries again, oldest first:`}
			</Text>
			<Groups {...groups} />
			<HowReplaysWork isSentTwice={isSentTwice} />
		</Stack>
	);
}

/** How replayed deliveries are sent. */
export function HowReplaysWork({ isSentTwice, one = false }: { isSentTwice: boolean; one?: boolean }) {
	const plan = useSession();
	const each = one ? "It" : "Each";
	const span = plan.retry_delays.length === 0 ? "" : `, over ${retrySpan(plan)} if the receiver keeps failing`;
	return (
		<List size="sm" spacing={2}>
			<List.Item>
				{each} goes to the webhook's current URL, signed again with its current secret and the current time.
			</List.Item>
			<List.Item>
				{each} keeps its event id and body, and gets {newSeriesWords(plan)}
				{span}. A paused webhook gets {one ? "it" : "them"} once it's resumed.
			</List.Item>
			{isSentTwice ? (
				<List.Item>
					{one
						? "It was already delivered, so it's sent a second time. Receivers recognize it by its id."
						: "Events that were already delivered are sent a second time. Receivers recognize them by their id."}
				</List.Item>
			) : null}
		</List>
	);
}

export const replayAction = (run: MatchingAction["run"]): MatchingAction => ({
	verb: "Replay",
	run,
	doing: "are queued to be sent again",
	done: (count) => `${isAre(count)} being sent again, oldest first`,
	skipped: "they are already being attempted or no longer exist",
});

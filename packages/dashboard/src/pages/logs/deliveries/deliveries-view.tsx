import { VisuallyHidden } from "@mantine/core";
import { IconCheck, IconPlayerTrackNext, IconReload } from "@tabler/icons-react";
import { useCallback, useEffect, useMemo, useState } from "react";
import { type DeliveryId, type DeliverySummary, deliveriesQuery } from "../../../api/deliveries.ts";
import { deliveryWords } from "../../../lib/attempts/event-words.ts";
import { HOLDS } from "../../../lib/text/hold.ts";
import { plural } from "../../../lib/text/numbers.ts";
import { notifyUndone } from "../../../ui/notify.tsx";
import { chosenWords, onlyRow } from "../actions/chosen-words.ts";
import { copyCurl } from "../actions/copy-curl.ts";
import { DismissSelected } from "../actions/dismiss-selected.tsx";
import { useRetry } from "../actions/use-retry.ts";
import { type Asked, LogFrame } from "../log-frame.tsx";
import { LogToolbar } from "../log-toolbar.tsx";
import { deliveryFilter, isFiltered } from "../search.ts";
import { holdIn, REFUSALS, sendableOf, uniqueDeliveries } from "../sendable.ts";
import { useLogPage, useNames } from "../use-log-page.ts";
import { useShownList } from "../use-shown-list.ts";
import { type DeliveriesProps, DeliveriesTable, isOpen, seriesKey } from "./deliveries-table.tsx";
import { DeliveryCards } from "./delivery-cards.tsx";

/** The log by deliveries: each event on its way to a webhook, with what became of it. */
export function DeliveriesView() {
	const page = useLogPage();
	const { projectId, search, attemptId, may, selection, open } = page;
	const [following, follow] = useFollowing();
	const list = useShownList<DeliverySummary>(
		deliveriesQuery(projectId, deliveryFilter(search)),
		search,
		(page.isRead && !following) || selection.size > 0,
		({ last_attempt }) => last_attempt?.id,
	);
	const [asked, setAsked] = useState<Asked | null>(null);
	const [dismissed, setDismissed] = useState<readonly DeliveryId[] | null>(null);
	const { rows, loadMore } = list;
	const context = useMemo(
		() => ({
			rows: (rows ?? []).map((row) => row.last_attempt).filter((attempt) => attempt !== null),
			loadMore: () => void loadMore(),
		}),
		[rows, loadMore],
	);
	const urlOf = useCallback(
		(id: string) => rows?.find(({ webhook_id }) => webhook_id === id)?.last_attempt?.url,
		[rows],
	);
	const { nameOf, stateOf } = useNames(page, urlOf);

	const finish = () => {
		selection.setAll([]);
		follow();
	};
	const retry = useRetry(projectId, finish);
	const askToReplay = useCallback(
		(row: DeliverySummary) =>
			setAsked({
				deliveries: uniqueDeliveries([row]),
				what: deliveryWords(row, nameOf(row.webhook_id)),
				isSentTwice: row.state === "delivered",
			}),
		[nameOf],
	);
	const replaySelected = (chosen: readonly DeliveryId[]) =>
		setAsked({
			deliveries: chosen,
			what: chosenWords(chosen, rows ?? [], nameOf),
			isSentTwice: selected.some(({ state }) => state === "delivered"),
		});
	const sendAgain = (row: DeliverySummary) => {
		if (!may("developer")) return notifyUndone(REFUSALS.viewer);
		const webhook = stateOf(row.webhook_id);
		if (webhook === "deleted") return notifyUndone(REFUSALS.deleted);
		if (row.state === "waiting") {
			const hold = holdIn(webhook);
			return hold === null ? void retry(uniqueDeliveries([row]), row) : notifyUndone(HOLDS[hold].refusal);
		}
		askToReplay(row);
	};

	const selected = rows?.filter(({ last_attempt }) => last_attempt !== null && selection.has(last_attempt.id)) ?? [];
	const sendable = sendableOf(selected, ({ state }) => state === "waiting", stateOf);
	const dismissible = uniqueDeliveries(selected.filter((row) => row.state === "failed" && isOpen(row)));
	const openRow = rows?.find(({ last_attempt }) => last_attempt !== null && last_attempt.id === attemptId);
	// While the row's next attempt arrives, it has another one than the drawer.
	const [lastOpen, setLastOpen] = useState<string | null>(null);
	const openKey = attemptId === null ? null : openRow === undefined ? lastOpen : seriesKey(openRow);
	if (openKey !== lastOpen) setLastOpen(openKey);
	const deliveries: DeliveriesProps = {
		rows,
		nameOf,
		stateOf,
		selection,
		openKey,
		isNew: list.isNew,
		onOpen: ({ last_attempt }) => last_attempt !== null && open(last_attempt.id),
		onReplay: askToReplay,
		onRetried: follow,
		hrefOf: ({ last_attempt }) => page.hrefOf(last_attempt?.id ?? null),
		keys: {
			r: sendAgain,
			c: ({ last_attempt }) => last_attempt !== null && void copyCurl(projectId, last_attempt.id),
		},
	};
	return (
		<>
			<LogFrame
				page={page}
				list={list}
				nameOf={nameOf}
				onFilter={page.filter}
				sentence={
					<>
						{isFiltered(search) ? "Deliveries that match the filters, newest first." : "Every delivery, newest first."}
						<SaidOfFilter filter={JSON.stringify(search)}>
							{rows === undefined || list.outdated ? null : listedWords(rows.length, list.hasMore)}
						</SaidOfFilter>
					</>
				}
				toolbar={(note) => (
					<LogToolbar
						selection={selection}
						still={list.still}
						actions={[
							{ label: (n) => `Dismiss ${n}`, Icon: IconCheck, deliveries: dismissible, act: setDismissed },
							{
								label: (n) => `Retry ${n} now`,
								Icon: IconPlayerTrackNext,
								deliveries: sendable.retry,
								act: (chosen) => void retry(chosen, onlyRow(chosen, selected)),
							},
							{ label: (n) => `Replay ${n}`, Icon: IconReload, deliveries: sendable.replay, act: replaySelected },
						]}
						done="changed"
					>
						{note}
					</LogToolbar>
				)}
				table={<DeliveriesTable {...deliveries} />}
				cards={<DeliveryCards {...deliveries} />}
				older="Show older deliveries"
				asked={asked}
				onAnswered={(replayed) => {
					setAsked(null);
					if (replayed) finish();
				}}
				onActed={follow}
				context={context}
			/>
			<DismissSelected
				projectId={projectId}
				deliveries={dismissed}
				what={chosenWords(dismissed ?? [], rows ?? [], nameOf)}
				onClose={(done) => {
					setDismissed(null);
					if (done) finish();
				}}
			/>
		</>
	);
}

/** How many deliveries a filter has found: they are never counted, so it's those that are listed. */
function listedWords(listed: number, hasMore: boolean): string {
	if (listed === 0) return "Nothing matches.";
	return hasMore ? `More than ${plural(listed, "delivery")}.` : `${plural(listed, "delivery")}.`;
}

interface SaidOfFilterProps {
	filter: string;
	/** What the filter has found; null until it is known. */
	children: string | null;
}

/** Announces the result of each filter after the first one, but not how it changes. Invisible. */
function SaidOfFilter({ filter, children }: SaidOfFilterProps) {
	const [said, setSaid] = useState<{ filter: string; words: string }>({ filter, words: "" });
	if (said.filter !== filter && children !== null) setSaid({ filter, words: children });
	return (
		<VisuallyHidden>
			<span key={said.filter}>{said.words}</span>
		</VisuallyHidden>
	);
}

/** How long the list follows live after an action in it, even while someone points at a row; in milliseconds. */
const FOLLOW_MS = 10_000;

/** Whether something was just sent from the list, whose result should appear, and what to call when it is. */
function useFollowing(): readonly [boolean, () => void] {
	const [since, setSince] = useState<number | null>(null);
	useEffect(() => {
		if (since === null) return;
		const timer = window.setTimeout(() => setSince(null), FOLLOW_MS);
		return () => window.clearTimeout(timer);
	}, [since]);
	const follow = useCallback(() => setSince(performance.now()), []);
	return [since !== null, follow];
}

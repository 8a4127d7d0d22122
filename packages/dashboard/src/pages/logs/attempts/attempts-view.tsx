import { Box, Skeleton } from "@mantine/core";
import { IconPlayerTrackNext, IconReload } from "@tabler/icons-react";
import { useCallback, useMemo, useState } from "react";
import type { ListedAttempt } from "../../../api/attempts.ts";
import type { DeliveryId } from "../../../api/deliveries.ts";
import { deliveryWords } from "../../../lib/attempts/event-words.ts";
import { HOLDS } from "../../../lib/text/hold.ts";
import { serverNow } from "../../../lib/text/server-time.ts";
import { isDue } from "../../../lib/text/time.ts";
import { useNow } from "../../../ui/hooks/use-now.ts";
import { notifyUndone } from "../../../ui/notify.tsx";
import { SaidOnce } from "../../../ui/said-once.tsx";
import { chosenWords, onlyRow } from "../actions/chosen-words.ts";
import { copyCurl } from "../actions/copy-curl.ts";
import { useRetry } from "../actions/use-retry.ts";
import { logSentence } from "../filters/filter-words.ts";
import { type Asked, LogFrame } from "../log-frame.tsx";
import type { LogRows } from "../log-table.tsx";
import { LogToolbar, NewerButton } from "../log-toolbar.tsx";
import { holdIn, REFUSALS, sendableOf, uniqueDeliveries } from "../sendable.ts";
import { AheadNotice } from "../states/log-states.tsx";
import { useLogPage, useNames } from "../use-log-page.ts";
import { AttemptCards } from "./attempt-cards.tsx";
import { isPending } from "./attempt-cells.tsx";
import { AttemptsTable } from "./attempts-table.tsx";
import { useLog } from "./use-log.ts";

/** The log by attempts: each request and its response. */
export function AttemptsView() {
	const page = useLogPage();
	const { projectId, search, attemptId, may, selection, open } = page;
	const log = useLog(projectId, search, page.isRead || selection.size > 0);
	const [asked, setAsked] = useState<Asked | null>(null);
	const now = useNow(0);
	const { rows, loadMore } = log;
	const list = useMemo(() => ({ rows: rows ?? [], loadMore: () => void loadMore() }), [rows, loadMore]);
	const urlOf = useCallback((id: string) => rows?.find(({ webhook_id }) => webhook_id === id)?.url, [rows]);
	const { nameOf, stateOf } = useNames(page, urlOf);
	const unselect = () => selection.setAll([]);
	const retry = useRetry(projectId, unselect);
	const replay = (row: ListedAttempt) => {
		if (!may("developer")) return notifyUndone(REFUSALS.viewer);
		const webhook = stateOf(row.webhook_id);
		if (webhook === "deleted") return notifyUndone(REFUSALS.deleted);
		const deliveries = uniqueDeliveries([row]);
		if (isPending(row)) {
			const hold = holdIn(webhook);
			if (hold !== null) return notifyUndone(HOLDS[hold].refusal);
			if (isDue(Date.parse(row.next_retry_at ?? ""), serverNow())) return notifyUndone(REFUSALS.inProgress);
			return void retry(deliveries, row);
		}
		setAsked({
			deliveries,
			what: deliveryWords(row, nameOf(row.webhook_id)),
			// A later attempt may have been delivered.
			isSentTwice: row.status !== "failed",
		});
	};
	const replaySelected = (deliveries: readonly DeliveryId[]) =>
		setAsked({ deliveries, what: chosenWords(deliveries, selected, nameOf), isSentTwice: true });

	const selected = rows?.filter(({ id }) => selection.has(id)) ?? [];
	const sendable = sendableOf(selected, isPending, stateOf);
	const attempts: LogRows<ListedAttempt> = {
		rows,
		nameOf,
		stateOf,
		selection,
		openKey: attemptId,
		isNew: log.isNew,
		onOpen: ({ id }) => open(id),
		hrefOf: ({ id }) => page.hrefOf(id),
		keys: { r: replay, c: ({ id }) => void copyCurl(projectId, id) },
	};
	return (
		<LogFrame
			page={page}
			list={log}
			nameOf={nameOf}
			onFilter={(next) => page.filter({ ...next, view: "attempts" })}
			sentence={
				log.count === undefined ? (
					log.error === null && <SentenceSkeleton />
				) : (
					<SaidOnce key={JSON.stringify(search)}>{logSentence(search, log.count, nameOf, now)}</SaidOnce>
				)
			}
			notice={<AheadNotice newest={log.rows?.[0]} />}
			toolbar={() => (
				<LogToolbar
					selection={selection}
					still={log.still}
					actions={[
						{
							label: (n) => `Retry ${n} now`,
							Icon: IconPlayerTrackNext,
							deliveries: sendable.retry,
							act: (chosen) => void retry(chosen, onlyRow(chosen, selected)),
						},
						{ label: (n) => `Replay ${n}`, Icon: IconReload, deliveries: sendable.replay, act: replaySelected },
					]}
					done="sent"
				>
					<NewerButton log={log} />
				</LogToolbar>
			)}
			table={<AttemptsTable {...attempts} />}
			cards={<AttemptCards {...attempts} />}
			older="Show older attempts"
			asked={asked}
			onAnswered={(replayed) => {
				setAsked(null);
				if (replayed) unselect();
			}}
			context={list}
		/>
	);
}

/** The same height as the sentence that it is for. */
const SentenceSkeleton = () => (
	<Box display="flow-root">
		<Skeleton height={15} width={300} maw="100%" my={4} />
	</Box>
);

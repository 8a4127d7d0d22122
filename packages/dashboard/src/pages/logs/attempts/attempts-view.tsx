import { Box, Skeleton } from "@mantine/core";
import { Outlet } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import type { ListedAttempt } from "../../../api/attempts.ts";
import { type DeliveryId, retryDeliveries } from "../../../api/deliveries.ts";
import { plural } from "../../../lib/text/numbers.ts";
import { useNow } from "../../../ui/hooks/use-now.ts";
import { notifyDone, notifyProblem, notifyUndone } from "../../../ui/notify.tsx";
import { LoadMore } from "../../../ui/page/load-more.tsx";
import { Page, PageHeader, Section } from "../../../ui/page/page.tsx";
import { ErrorState } from "../../../ui/page/states.tsx";
import { copyCurl } from "../actions/copy-curl.ts";
import { LogActions } from "../actions/log-actions.tsx";
import { ReplaySelected } from "../actions/replay-selected.tsx";
import { logSentence } from "../filters/filter-words.ts";
import { LogFilters } from "../filters/log-filters.tsx";
import { LogContext } from "../log-context.ts";
import { NothingMatches, NothingYet, SearchedNote } from "../log-states.tsx";
import { LogToolbar } from "../log-toolbar.tsx";
import { isFiltered, type LogsSearch } from "../search.ts";
import { useLogPage, useNames } from "../use-log-page.ts";
import { ViewSwitch } from "../view-switch.tsx";
import { AttemptCards } from "./attempt-cards.tsx";
import { AttemptPlaces } from "./attempt-link.tsx";
import classes from "./attempts.module.css";
import { type AttemptsProps, AttemptsTable } from "./attempts-table.tsx";
import { useLog } from "./use-log.ts";

interface Asked {
	readonly deliveries: readonly DeliveryId[];
	readonly what: string;
}

/** The log by attempts: each request and its response. */
export function AttemptsView() {
	const page = useLogPage();
	const { projectId, search, attemptId, may, narrow, webhooks, selection, attention, open } = page;
	const log = useLog(projectId, search, page.isRead || selection.size > 0);
	const [asked, setAsked] = useState<Asked | null>(null);
	const now = useNow(0);
	const { rows, loadMore } = log;
	const list = useMemo(() => ({ rows: rows ?? [], loadMore: () => void loadMore() }), [rows, loadMore]);
	const urlOf = useCallback((id: string) => rows?.find(({ webhook_id }) => webhook_id === id)?.url, [rows]);
	const { nameOf } = useNames(webhooks, urlOf);
	const filter = (next: LogsSearch) => page.filter({ ...next, view: "attempts" });
	const retry = async (deliveries: readonly DeliveryId[]) => {
		try {
			const { count, skipped } = await retryDeliveries(projectId, deliveries);
			if (count === 0) notifyUndone("None of them waits for a retry. Replay finished deliveries instead.");
			else
				notifyDone(
					`Retrying ${plural(count, "delivery", "deliveries")} now.${skipped === 0 ? "" : ` ${plural(skipped, "other")} skipped: no retry waits.`}`,
				);
		} catch (error) {
			notifyProblem(error);
		}
	};
	const replay = ({ webhook_id, event_id, event_type, next_retry_at }: ListedAttempt) => {
		if (!may("developer")) return notifyUndone("Only the project's developers and owners can send it again.");
		if (next_retry_at !== null && Date.parse(next_retry_at) > Date.now()) return void retry([{ webhook_id, event_id }]);
		setAsked({ deliveries: [{ webhook_id, event_id }], what: `${event_type} to ${nameOf(webhook_id)}` });
	};
	const replaySelected = () => {
		const { deliveries } = selection;
		setAsked({ deliveries, what: plural(deliveries.length, "delivery", "deliveries") });
	};

	const attempts: AttemptsProps = {
		rows,
		nameOf,
		selection,
		openId: attemptId,
		isNew: log.isNew,
		onOpen: ({ id }) => open(id),
		hrefOf: ({ id }) => page.hrefOf(id),
		keys: { r: replay, c: ({ id }) => void copyCurl(projectId, id) },
	};
	const nothing = rows?.length === 0 && !log.outdated;
	return (
		<Page>
			<PageHeader
				title="Logs"
				actions={
					<>
						<ViewSwitch search={search} />
						<LogActions
							projectId={projectId}
							search={search}
							nameOf={nameOf}
							offered={!nothing && rows !== undefined}
						/>
					</>
				}
			>
				{log.count === undefined
					? log.error === null && <SentenceSkeleton />
					: logSentence(search, log.count, nameOf, now)}
			</PageHeader>
			{nothing && !isFiltered(search) ? null : (
				<LogFilters search={search} onChange={filter} onOpenAttempt={open} webhooks={webhooks} nameOf={nameOf} />
			)}
			<SearchedNote searched={log.searched} />
			{log.error === null ? null : <ErrorState error={log.error} onRetry={log.retry} />}
			{log.error !== null && rows === undefined ? null : nothing ? (
				isFiltered(search) ? (
					<NothingMatches search={search} onClear={() => filter({})} />
				) : (
					<NothingYet projectId={projectId} narrow={narrow} />
				)
			) : (
				<div className={classes.list} data-outdated={log.outdated || undefined}>
					<LogToolbar
						log={log}
						selection={selection}
						onReplay={replaySelected}
						onRetry={() => void retry(selection.deliveries)}
					/>
					<div {...attention.props}>
						<AttemptPlaces value={page.places}>
							{narrow ? (
								<AttemptCards {...attempts} />
							) : (
								<Section flush>
									<AttemptsTable {...attempts} />
								</Section>
							)}
						</AttemptPlaces>
					</div>
				</div>
			)}
			<LoadMore hasMore={log.hasMore} loading={log.loadingMore} onMore={loadMore} label="Show older attempts" />
			<ReplaySelected
				projectId={projectId}
				deliveries={asked?.deliveries ?? null}
				what={asked?.what ?? ""}
				onClose={(replayed) => {
					setAsked(null);
					if (replayed) selection.setAll([]);
				}}
			/>
			<LogContext value={list}>
				<Outlet />
			</LogContext>
		</Page>
	);
}

/** The same height as the sentence that it is for. */
const SentenceSkeleton = () => (
	<Box display="flow-root">
		<Skeleton height={15} width={300} maw="100%" my={4} />
	</Box>
);

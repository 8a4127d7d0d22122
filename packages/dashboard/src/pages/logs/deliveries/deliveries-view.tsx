import { Button, Group } from "@mantine/core";
import { IconCheck, IconPlayerTrackNext, IconReload } from "@tabler/icons-react";
import { Outlet } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useState } from "react";
import {
	type DeliveryId,
	type DeliverySummary,
	dismissDeliveries,
	MAX_NAMED,
	type Replayed,
	retryDeliveries,
} from "../../../api/deliveries.ts";
import { formatCount, plural } from "../../../lib/text/numbers.ts";
import { ForRole } from "../../../ui/account/for-role.tsx";
import { notifyDone, notifyProblem, notifyUndone } from "../../../ui/notify.tsx";
import { LoadMore } from "../../../ui/page/load-more.tsx";
import { Page, PageHeader, Section } from "../../../ui/page/page.tsx";
import { ErrorState } from "../../../ui/page/states.tsx";
import { copyCurl } from "../actions/copy-curl.ts";
import { LogActions } from "../actions/log-actions.tsx";
import { ReplaySelected } from "../actions/replay-selected.tsx";
import { AttemptPlaces } from "../attempts/attempt-link.tsx";
import classes from "../attempts/attempts.module.css";
import { LogFilters } from "../filters/log-filters.tsx";
import { LogContext } from "../log-context.ts";
import { NothingMatches, NothingYet, SearchedNote } from "../log-states.tsx";
import toolbar from "../log-toolbar.module.css";
import { TailButton } from "../log-toolbar.tsx";
import { isFiltered } from "../search.ts";
import { useLogPage, useNames } from "../use-log-page.ts";
import type { Selection } from "../use-selection.ts";
import { ViewSwitch } from "../view-switch.tsx";
import { attemptsOf, type DeliveriesProps, DeliveriesTable } from "./deliveries-table.tsx";
import { DeliveryCards } from "./delivery-cards.tsx";
import { deliveryKey, useDeliveries } from "./use-deliveries.ts";

interface Asked {
	readonly deliveries: readonly DeliveryId[];
	readonly what: string;
}

/** The log by deliveries: each event on its way to a webhook, with what became of it. */
export function DeliveriesView() {
	const page = useLogPage();
	const { projectId, search, attemptId, may, narrow, webhooks, selection, attention, filter, open } = page;
	const [following, follow] = useFollowing();
	const list = useDeliveries(projectId, search, (page.isRead && !following) || selection.size > 0);
	const [asked, setAsked] = useState<Asked | null>(null);
	const { rows, loadMore } = list;
	const context = useMemo(() => ({ rows: attemptsOf(rows ?? []), loadMore: () => void loadMore() }), [rows, loadMore]);
	const urlOf = useCallback(
		(id: string) => rows?.find(({ webhook_id }) => webhook_id === id)?.last_attempt?.url,
		[rows],
	);
	const { nameOf, isPaused } = useNames(webhooks, urlOf);

	const run = async (act: () => Promise<Replayed>, said: (count: number) => string, none: string) => {
		try {
			const { count, skipped } = await act();
			if (count === 0) return notifyUndone(none);
			notifyDone(skipped === 0 ? said(count) : `${said(count)} ${plural(skipped, "other")} skipped.`);
			selection.setAll([]);
			follow();
		} catch (error) {
			notifyProblem(error);
		}
	};
	const retry = (deliveries: readonly DeliveryId[]) =>
		run(
			() => retryDeliveries(projectId, deliveries),
			(count) => `Retrying ${plural(count, "delivery", "deliveries")} now.`,
			"None of them waits for a retry. Replay finished deliveries instead.",
		);
	const dismiss = (deliveries: readonly DeliveryId[]) =>
		run(
			() => dismissDeliveries(projectId, deliveries),
			(count) => `${plural(count, "failed delivery", "failed deliveries")} dismissed.`,
			"None of them is a failed delivery.",
		);
	const askToReplay = useCallback(
		({ webhook_id, event_id, event_type }: DeliverySummary) =>
			setAsked({ deliveries: [{ webhook_id, event_id }], what: `${event_type} to ${nameOf(webhook_id)}` }),
		[nameOf],
	);
	const sendAgain = (row: DeliverySummary) => {
		if (!may("developer")) return notifyUndone("Only the project's developers and owners can send it again.");
		const { webhook_id, event_id } = row;
		if (row.state === "waiting") return void retry([{ webhook_id, event_id }]);
		askToReplay(row);
	};

	const openRow = rows?.find(({ last_attempt }) => last_attempt !== null && last_attempt.id === attemptId);
	const deliveries: DeliveriesProps = {
		rows,
		nameOf,
		isPaused,
		selection,
		openKey: openRow === undefined ? null : deliveryKey(openRow),
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
	const nothing = rows?.length === 0 && !list.outdated;
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
				{isFiltered(search) ? "Deliveries that match the filters, newest first." : "Every delivery, newest first."}
			</PageHeader>
			{nothing && !isFiltered(search) ? null : (
				<LogFilters search={search} onChange={filter} onOpenAttempt={open} webhooks={webhooks} nameOf={nameOf} />
			)}
			<SearchedNote searched={list.searched} />
			{list.error === null ? null : <ErrorState error={list.error} onRetry={list.retry} />}
			{list.error !== null && rows === undefined ? null : nothing ? (
				isFiltered(search) ? (
					<NothingMatches search={search} onClear={() => filter({})} />
				) : (
					<NothingYet projectId={projectId} narrow={narrow} />
				)
			) : (
				<div className={classes.list} data-outdated={list.outdated || undefined}>
					<Toolbar
						selection={selection}
						still={list.still}
						onReplay={(chosen) =>
							setAsked({ deliveries: chosen, what: plural(chosen.length, "delivery", "deliveries") })
						}
						onRetry={(chosen) => void retry(chosen)}
						onDismiss={(chosen) => void dismiss(chosen)}
					/>
					<div {...attention.props}>
						<AttemptPlaces value={page.places}>
							{narrow ? (
								<DeliveryCards {...deliveries} />
							) : (
								<Section flush>
									<DeliveriesTable {...deliveries} />
								</Section>
							)}
						</AttemptPlaces>
					</div>
				</div>
			)}
			<LoadMore hasMore={list.hasMore} loading={list.loadingMore} onMore={loadMore} label="Show older deliveries" />
			<ReplaySelected
				projectId={projectId}
				deliveries={asked?.deliveries ?? null}
				what={asked?.what ?? ""}
				onClose={(replayed) => {
					setAsked(null);
					if (!replayed) return;
					selection.setAll([]);
					follow();
				}}
			/>
			<LogContext value={context}>
				<Outlet />
			</LogContext>
		</Page>
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

interface ToolbarProps {
	selection: Selection;
	still: boolean;
	onReplay: (deliveries: readonly DeliveryId[]) => void;
	onRetry: (deliveries: readonly DeliveryId[]) => void;
	onDismiss: (deliveries: readonly DeliveryId[]) => void;
}

/** Above the rows: the selection and its actions, or whether the list updates live. */
function Toolbar({ selection, still, onReplay, onRetry, onDismiss }: ToolbarProps) {
	const { size, deliveries } = selection;
	const tooMany = deliveries.length > MAX_NAMED;
	const actions = [
		{ label: "Dismiss", Icon: IconCheck, act: onDismiss },
		{ label: "Retry now", Icon: IconPlayerTrackNext, act: onRetry },
		{ label: "Replay", Icon: IconReload, act: onReplay },
	];
	return (
		<div className={toolbar.toolbar} data-selected={size > 0 || undefined}>
			<div className={toolbar.words} aria-live="polite">
				{size === 0
					? null
					: `${formatCount(size)} selected${tooMany ? `: ${MAX_NAMED} at most can be changed at once` : ""}`}
			</div>
			{size === 0 ? (
				<TailButton still={still} />
			) : (
				<Group gap={6} wrap="nowrap">
					{actions.map(({ label, Icon, act }) => (
						<ForRole key={label} needs="developer">
							{(disabled) => (
								<Button
									size="compact-sm"
									variant={label === "Replay" ? "filled" : "default"}
									leftSection={<Icon size={14} aria-hidden />}
									disabled={disabled || tooMany}
									onClick={() => act(deliveries)}
								>
									{label}
								</Button>
							)}
						</ForRole>
					))}
					<Button size="compact-sm" variant="default" onClick={() => selection.setAll([])}>
						Unselect
					</Button>
				</Group>
			)}
		</div>
	);
}

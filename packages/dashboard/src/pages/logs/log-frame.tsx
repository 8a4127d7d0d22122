import { Outlet } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { DeliveryId } from "../../api/deliveries.ts";
import { RoleNote } from "../../ui/account/for-role.tsx";
import { LoadMore } from "../../ui/page/load-more.tsx";
import { Page, PageHeader, Section } from "../../ui/page/page.tsx";
import { ErrorState } from "../../ui/page/states.tsx";
import { LogActions } from "./actions/log-actions.tsx";
import { ReplaySelected } from "./actions/replay-selected.tsx";
import { AttemptPlaces } from "./attempts/attempt-link.tsx";
import classes from "./attempts/attempts.module.css";
import type { NameOf } from "./filters/filter-words.ts";
import { LogFilters } from "./filters/log-filters.tsx";
import { LogContext, type LogList } from "./log-context.ts";
import { isFiltered, type LogsSearch, viewOf } from "./search.ts";
import { HeldNote } from "./states/held-note.tsx";
import { NothingMatches, NothingYet, SearchedNote } from "./states/log-states.tsx";
import type { useLogPage } from "./use-log-page.ts";
import type { ShownList } from "./use-shown-list.ts";
import { ViewSwitch } from "./view-switch.tsx";

/** Deliveries that someone asks to replay, and how the question names them. */
export interface Asked {
	readonly deliveries: readonly DeliveryId[];
	readonly what: string;
	/** Whether some of them were delivered before. */
	readonly isSentTwice: boolean;
}

interface LogFrameProps<Row> {
	page: ReturnType<typeof useLogPage>;
	list: ShownList<Row>;
	nameOf: NameOf;
	onFilter: (search: LogsSearch) => void;
	/** Below the title. */
	sentence: ReactNode;
	/** @param note what the list leaves out */
	toolbar: (note: ReactNode) => ReactNode;
	/** A remark above the rows. */
	notice?: ReactNode;
	table: ReactNode;
	/** Instead of the table on narrow screens. */
	cards: ReactNode;
	/** Names the button that loads older rows. */
	older: string;
	asked: Asked | null;
	/** @param replayed whether they were replayed */
	onAnswered: (replayed: boolean) => void;
	/** Called after an action on all that matches, whose result should appear. */
	onActed?: () => void;
	/** What the drawer knows of the list. */
	context: LogList;
}

/** What the views of the log have in common around their rows: filters, states without rows, the drawer. */
export function LogFrame<Row extends DeliveryId>(props: LogFrameProps<Row>) {
	const { page, list, nameOf, onFilter, asked, onAnswered } = props;
	const { projectId, search, narrow } = page;
	const { rows, outdated, error } = list;
	const nothing = rows?.length === 0 && !outdated;
	const held = viewOf(search) === "deliveries" && (
		<HeldNote projectId={projectId} webhooks={page.webhooks} search={search} />
	);
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
							onClosed={props.onActed}
						/>
					</>
				}
			>
				{props.sentence}
				<RoleNote needs="developer">retry, replay and dismiss</RoleNote>
			</PageHeader>
			{nothing && !isFiltered(search) ? null : (
				<LogFilters
					search={search}
					onChange={onFilter}
					onOpenAttempt={page.open}
					webhooks={page.webhooks}
					deleted={page.deleted}
					nameOf={nameOf}
				/>
			)}
			<SearchedNote searched={list.searched} />
			{props.notice}
			{nothing ? held : null}
			{error === null ? null : <ErrorState error={error} onRetry={list.retry} />}
			{error !== null && rows === undefined ? null : nothing ? (
				isFiltered(search) ? (
					<NothingMatches search={search} webhooks={page.webhooks} onClear={() => onFilter({})} />
				) : (
					<NothingYet projectId={projectId} view={viewOf(search)} narrow={narrow} />
				)
			) : (
				<div className={classes.list} aria-busy={outdated}>
					{props.toolbar(held)}
					<div {...page.attention.props}>
						<AttemptPlaces value={page.places}>
							{narrow ? props.cards : <Section flush>{props.table}</Section>}
						</AttemptPlaces>
					</div>
				</div>
			)}
			<LoadMore
				hasMore={list.hasMore}
				loading={list.loadingMore}
				error={list.moreError}
				onMore={list.loadMore}
				label={props.older}
			/>
			<ReplaySelected
				projectId={projectId}
				deliveries={asked?.deliveries ?? null}
				what={asked?.what ?? ""}
				isSentTwice={asked?.isSentTwice ?? false}
				onClose={onAnswered}
			/>
			<LogContext value={props.context}>
				<Outlet />
			</LogContext>
		</Page>
	);
}

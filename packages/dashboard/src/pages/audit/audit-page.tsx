import { Skeleton, Stack } from "@mantine/core";
import { IconHistory } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { auditQuery } from "../../api/members.ts";
import { useProjectId, useRole } from "../../api/session.ts";
import { byDay } from "../../lib/text/by-day.ts";
import { useNow } from "../../ui/hooks/use-now.ts";
import { LoadMore } from "../../ui/page/load-more.tsx";
import { Page, PageHeader, Section } from "../../ui/page/page.tsx";
import { EmptyState, ErrorState } from "../../ui/page/states.tsx";
import classes from "./audit.module.css";
import { AuditRow } from "./audit-row.tsx";

/** Who did what in the project, and when. */
export function AuditPage() {
	const { may } = useRole();
	return (
		<Page narrow>
			<PageHeader title="Audit log">Who changed what in this project, newest first. It can't be edited.</PageHeader>
			{may("owner") ? (
				<Entries />
			) : (
				<EmptyState title="For owners" icon={<IconHistory size={26} />}>
					Only owners of the project can read its audit log. Ask one of them to look something up or to give you the
					role.
				</EmptyState>
			)}
		</Page>
	);
}

function Entries() {
	const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage, isFetchNextPageError } =
		useInfiniteQuery(auditQuery(useProjectId()));
	const now = useNow(0);
	if (data === undefined) return error === null ? <Loading /> : <ErrorState error={error} onRetry={refetch} />;
	const days = byDay(
		data.pages.flatMap((page) => page.data),
		({ at }) => Date.parse(at),
		now,
	);
	if (days.length === 0) {
		return (
			<EmptyState title="Nothing yet" icon={<IconHistory size={26} />}>
				Changes to apps, webhooks, keys and members will be listed here.
			</EmptyState>
		);
	}
	return (
		<Stack gap="lg">
			{days.map(({ label, items }) => (
				<Section key={label} title={label}>
					<ul className={classes.list}>
						{items.map((entry) => (
							<AuditRow key={entry.id} entry={entry} />
						))}
					</ul>
				</Section>
			))}
			<LoadMore
				hasMore={hasNextPage}
				loading={isFetchingNextPage}
				error={isFetchNextPageError ? error : null}
				onMore={fetchNextPage}
				label="Show older entries"
			/>
		</Stack>
	);
}

function Loading() {
	return (
		<Section>
			<Stack gap="lg" role="status" aria-label="Loading">
				{[58, 71, 44, 66].map((width) => (
					<div key={width}>
						<Skeleton height={14} width={`${width}%`} />
					</div>
				))}
			</Stack>
		</Section>
	);
}

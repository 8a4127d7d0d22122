import { Button, Skeleton, Stack, Text } from "@mantine/core";
import { IconHistory } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { auditQuery } from "../../api/members.ts";
import { useProjectId, useRole } from "../../api/session.ts";
import type { AuditEntry } from "../../lib/account/audit.ts";
import { byDay } from "../../lib/text/by-day.ts";
import { useNow } from "../../ui/hooks/use-now.ts";
import { LoadMore } from "../../ui/page/load-more.tsx";
import { Page, PageHeader, Section } from "../../ui/page/page.tsx";
import { EmptyState, ErrorState } from "../../ui/page/states.tsx";
import classes from "./audit.module.css";
import { AuditFilters } from "./audit-filters.tsx";
import { AuditRow } from "./audit-row.tsx";
import { type AuditSearch, validateAuditSearch } from "./search.ts";

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
	const projectId = useProjectId();
	// The router also passes on what validation has dropped.
	const search = validateAuditSearch({ ...useSearch({ from: "/signed-in/p/$projectId/audit" }) });
	const navigate = useNavigate({ from: "/p/$projectId/audit" });
	const { webhook_id, actor_id } = search;
	const query = useInfiniteQuery(
		auditQuery(projectId, {
			...(webhook_id === undefined ? {} : { target_id: webhook_id }),
			...(actor_id === undefined ? {} : { actor_id }),
		}),
	);
	const entries = query.data?.pages.flatMap((page) => page.data);
	const filter = (next: AuditSearch) => void navigate({ search: next, replace: true, resetScroll: false });
	return (
		<Stack gap="lg">
			<AuditFilters search={search} onChange={filter} entries={entries ?? []} />
			{webhook_id === undefined ? null : (
				<Text size="sm" c="dimmed">
					Doesn't include actions on single deliveries, or removals of the app, which pause every webhook.
				</Text>
			)}
			{entries === undefined ? (
				query.error === null ? (
					<Loading />
				) : (
					<ErrorState error={query.error} onRetry={query.refetch} />
				)
			) : entries.length === 0 ? (
				<Nothing isFiltered={webhook_id !== undefined || actor_id !== undefined} onAll={() => filter({})} />
			) : (
				<>
					<Days entries={entries} />
					<LoadMore
						hasMore={query.hasNextPage}
						loading={query.isFetchingNextPage}
						error={query.isFetchNextPageError ? query.error : null}
						onMore={query.fetchNextPage}
						label="Show older entries"
					/>
				</>
			)}
		</Stack>
	);
}

function Days({ entries }: { entries: readonly AuditEntry[] }) {
	const now = useNow(0);
	return byDay(entries, ({ at }) => Date.parse(at), now).map(({ label, items }) => (
		<Section key={label} title={label}>
			<ul className={classes.list}>
				{items.map((entry) => (
					<AuditRow key={entry.id} entry={entry} />
				))}
			</ul>
		</Section>
	));
}

function Nothing({ isFiltered, onAll }: { isFiltered: boolean; onAll: () => void }) {
	return isFiltered ? (
		<EmptyState
			title="Nothing found"
			icon={<IconHistory size={26} />}
			action={
				<Button variant="default" onClick={onAll}>
					Show everything
				</Button>
			}
		>
			No entry matches these filters.
		</EmptyState>
	) : (
		<EmptyState title="Nothing yet" icon={<IconHistory size={26} />}>
			Changes to apps, webhooks, keys and members will be listed here.
		</EmptyState>
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

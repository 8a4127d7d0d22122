import { Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { newestAttemptsQuery } from "../../api/attempts.ts";
import { type Health, healthQuery, type Incident, waitingQuery } from "../../api/health.ts";
import { useSession } from "../../api/session.ts";
import { type StatsBucket, type StatsRange, statsQuery } from "../../api/stats.ts";
import { webhooksQuery } from "../../api/webhooks.ts";
import { deliveriesWaiting, holdOf, isOlderThanLog, waitingSince } from "../../lib/health/health-facts.ts";
import { projectSentence } from "../../lib/health/project-words.ts";
import { webhookName } from "../../lib/health/webhook-name.ts";
import { waitWords } from "../../lib/health/webhook-words.ts";
import { dueWords } from "../../lib/text/time.ts";
import { RoleNote } from "../../ui/account/for-role.tsx";
import { ChartSkeleton, OutcomesChart, RangeControl } from "../../ui/charts/charts.tsx";
import { RANGE_WORDS } from "../../ui/charts/charts-labels.ts";
import { useIncidents } from "../../ui/hooks/use-incidents.ts";
import { useNow } from "../../ui/hooks/use-now.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { Page, PageHeader, Section } from "../../ui/page/page.tsx";
import { ErrorState } from "../../ui/page/states.tsx";
import { When } from "../../ui/when.tsx";
import { IncidentsSection } from "../webhook/activity/incidents-section.tsx";
import { WaitingList } from "../webhook/activity/waiting-list.tsx";
import { FailingList, type FailingWebhook } from "./failing-list.tsx";
import { FigureTiles } from "./figure-tiles.tsx";
import { FirstHour, nextStep } from "./first-hour.tsx";
import { validateOverviewSearch } from "./search.ts";

const WAITING_SHOWN = 6;
/** As many as the API returns: ongoing ones, which the list of failing webhooks shows, must not hide others. */
const INCIDENTS_READ = 20;
const INCIDENTS_SHOWN = 5;

/** How a project's webhooks are doing, starting with a sentence. */
export function ProjectOverview({ projectId, name }: { projectId: string; name: string }) {
	// The router also passes on what validation has dropped.
	const { range = "day" } = validateOverviewSearch({ ...useSearch({ from: "/signed-in/p/$projectId/" }) });
	const navigate = useNavigate({ from: "/p/$projectId" });
	const webhooks = useQuery(webhooksQuery(projectId));
	const healths = useQuery(healthQuery(projectId));
	const stats = useQuery(statsQuery(projectId, { range }));
	const incidents = useIncidents(projectId, { limit: INCIDENTS_READ }, healths.data);
	const waiting = useQuery(waitingQuery(projectId, { limit: WAITING_SHOWN }));
	const { log_retention_days: days } = useSession();
	const anySeen = healths.data?.some(({ last_attempt }) => last_attempt !== null);
	// Only a new project needs to know whether anything was ever published, or sent as a test that failed.
	const month = useQuery({ ...statsQuery(projectId, { range: "month" }), enabled: anySeen === false });
	const newest = useQuery({ ...newestAttemptsQuery(projectId, {}, 1), enabled: anySeen === false });
	const now = useNow(waitingSince(healths.data ?? []));
	const error = [webhooks, healths].find((query) => query.data === undefined && query.error !== null)?.error ?? null;
	const known = webhooks.data !== undefined && healths.data !== undefined;
	const active = webhooks.data ?? [];
	const byId = new Map(active.map((webhook) => [webhook.id, webhook]));
	const inState = (state: Health["state"]) =>
		(healths.data ?? []).flatMap((health): FailingWebhook[] => {
			const webhook = byId.get(health.webhook_id);
			return webhook !== undefined && health.state === state ? [{ webhook, health }] : [];
		});
	const failing = [...inState("failing"), ...inState("unstable")];
	// An outage is shown once: while it lasts, in its webhook's row.
	const isListed = ({ state, webhook_id }: Incident) =>
		state === "ongoing" && failing.some(({ webhook }) => webhook.id === webhook_id);
	const ongoing = incidents.data?.filter(isListed) ?? [];
	const pending = (healths.data ?? []).reduce(
		(sum, { waiting: { count, tests } }) => ({ count: sum.count + count, tests: sum.tests + tests }),
		{ count: 0, tests: 0 },
	);
	const done = {
		install: true,
		webhook: active.length > 0,
		event: anySeen === true || (month.data?.total.events ?? 0) > 0 || (newest.data?.length ?? 0) > 0,
		delivery: (healths.data ?? []).some(({ last_delivered_at }) => last_delivered_at !== null),
	};
	// Until then, a late section would push down the others. Failed requests don't hold up the page.
	const isLate = (query: { isPending: boolean; failureCount: number }) => query.isPending && query.failureCount === 0;
	const settled = known && !isLate(incidents) && (anySeen === true || !(isLate(month) || isLate(newest)));
	// The page stays, even if someone deletes the last webhook with attempts and more has to be loaded.
	const [shown, setShown] = useState<string | null>(null);
	if (settled && shown !== projectId) setShown(projectId);
	const isBeginning =
		known &&
		(anySeen === true || (month.data !== undefined && newest.data !== undefined)) &&
		nextStep(done) !== undefined &&
		// What an older one has seen is no longer in the log.
		!healths.data.some((health) => isOlderThanLog(byId.get(health.webhook_id) ?? {}, health));
	const show = (next: StatsRange) => void navigate({ search: next === "day" ? {} : { range: next }, replace: true });
	const open = ({ at }: StatsBucket) => {
		const until = new Date(Date.parse(at) + (stats.data?.step_ms ?? 0)).toISOString();
		const search = { since: at, until, test: false, view: "attempts" } as const;
		void navigate({ to: "/p/$projectId/logs", params: { projectId }, search });
	};
	const holdOfId = (id: string) => {
		const webhook = byId.get(id);
		return webhook === undefined ? null : holdOf(webhook);
	};
	const nextDue = waiting.data?.find(({ webhook_id }) => holdOfId(webhook_id) === null)?.due_at;
	const header = (
		<PageHeader title={name}>
			{known ? (
				projectSentence(active, healths.data, now, days)
			) : error === null ? (
				<Skeleton height={16} width={320} maw="100%" my={4} />
			) : undefined}
			<RoleNote needs="developer">create webhooks, retry and replay</RoleNote>
		</PageHeader>
	);
	if (!settled && shown !== projectId && error === null)
		return (
			<Page>
				{header}
				<OverviewSkeleton />
			</Page>
		);
	return (
		<Page>
			{header}
			{error === null ? null : (
				<ErrorState
					error={error}
					onRetry={() => Promise.all([webhooks, healths, stats, waiting, incidents].map((query) => query.refetch()))}
				/>
			)}
			{isBeginning ? <FirstHour projectId={projectId} done={done} firstWebhookId={active[0]?.id ?? null} /> : null}
			{failing.length === 0 ? null : (
				<FailingList projectId={projectId} failing={failing} ongoing={ongoing} now={now} />
			)}
			<FigureTiles
				projectId={projectId}
				stats={stats.data}
				waiting={healths.data === undefined ? undefined : deliveriesWaiting(pending)}
				dead={healths.data?.reduce((sum, health) => sum + health.dead_letters, 0)}
				failed={{ stats: stats.error !== null, counts: healths.error !== null }}
			/>
			<IncidentsSection
				projectId={projectId}
				webhooks={active}
				healths={healths.data ?? []}
				incidents={incidents.data?.filter((incident) => !isListed(incident)).slice(0, INCIDENTS_SHOWN) ?? []}
				others={ongoing}
			/>
			<Section
				title="Attempts by outcome"
				description={`Every attempt in ${RANGE_WORDS[range].last}, without tests`}
				actions={<RangeControl range={range} onChange={show} />}
			>
				{stats.data !== undefined ? (
					<OutcomesChart stats={stats.data} withEvents plain onPick={open} />
				) : stats.error !== null ? (
					<SectionError said={error !== null} error={stats.error} onRetry={stats.refetch} />
				) : (
					<ChartSkeleton />
				)}
			</Section>
			<Section
				title="Pending retries"
				description={
					nextDue === undefined ? undefined : (
						<>
							{waitWords(pending)}; the next attempt is <When at={nextDue} words={dueWords} />
						</>
					)
				}
				actions={
					pending.count > WAITING_SHOWN ? (
						<AnchorLink size="sm" to="/p/$projectId/logs" params={{ projectId }} search={{ state: "waiting" }}>
							Show all in the log
						</AnchorLink>
					) : undefined
				}
			>
				{waiting.data === undefined ? (
					waiting.error === null ? (
						<Skeleton height={20} width={300} maw="100%" />
					) : (
						<SectionError said={error !== null} error={waiting.error} onRetry={waiting.refetch} />
					)
				) : waiting.data.length === 0 ? (
					<Text size="sm" c="dimmed">
						None. Deliveries that aren't accepted the first time wait here for their next attempt.
					</Text>
				) : (
					<WaitingList
						projectId={projectId}
						waiting={waiting.data}
						holdOf={holdOfId}
						nameOf={(id) => {
							const webhook = byId.get(id);
							return webhook === undefined ? "a deleted webhook" : webhookName(webhook);
						}}
					/>
				)}
			</Section>
		</Page>
	);
}

const OverviewSkeleton = () => (
	<div role="status" aria-busy aria-label="Loading the overview">
		<Skeleton height={96} radius="lg" mb={28} />
		<Skeleton height={340} radius="lg" />
	</div>
);

interface SectionErrorProps {
	/** Whether the page has said already that it couldn't be loaded. */
	said: boolean;
	error: unknown;
	onRetry: () => unknown;
}

const SectionError = ({ said, error, onRetry }: SectionErrorProps) =>
	said ? (
		<Text size="sm" c="dimmed">
			Not loaded.
		</Text>
	) : (
		<ErrorState error={error} onRetry={onRetry} />
	);

import { Group, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Health } from "../../../api/health.ts";
import { type StatsBucket, type StatsRange, statsQuery } from "../../../api/stats.ts";
import type { Webhook } from "../../../api/webhooks.ts";
import { ChartSkeleton, OutcomesChart, RangeControl, TimesChart } from "../../../ui/charts/charts.tsx";
import { useIncidents } from "../../../ui/hooks/use-incidents.ts";
import { AnchorLink } from "../../../ui/links.tsx";
import { Section } from "../../../ui/page/page.tsx";
import { ErrorState } from "../../../ui/page/states.tsx";
import { INCIDENTS_SHOWN } from "../use-webhook.ts";
import classes from "./activity-lists.module.css";
import { IncidentsSection } from "./incidents-section.tsx";
import { RecentAttempts } from "./recent-attempts.tsx";
import { WaitingSection } from "./waiting-section.tsx";

interface ActivityTabProps {
	projectId: string;
	webhook: Webhook;
	health: Health | undefined;
	range: StatsRange;
	/** Whether the page offers to replay everything that failed for good. */
	offersReplay: boolean;
}

/** A webhook's requests and responses, its backlog, and its next attempts. */
export function ActivityTab({ projectId, webhook, health, range, offersReplay }: ActivityTabProps) {
	const { data: stats, error, refetch } = useQuery(statsQuery(projectId, { range, webhookId: webhook.id }));
	const healths = health === undefined ? undefined : [health];
	const { data: incidents = [] } = useIncidents(projectId, { webhookId: webhook.id, limit: INCIDENTS_SHOWN }, healths);
	const navigate = useNavigate({ from: "/p/$projectId/webhooks/$webhookId" });
	const show = (next: StatsRange) =>
		void navigate({
			search: ({ range: _, ...rest }) => (next === "day" ? rest : { ...rest, range: next }),
			replace: true,
		});
	const open = ({ at }: StatsBucket) => {
		const until = new Date(Date.parse(at) + (stats?.step_ms ?? 0)).toISOString();
		const search = { webhook_id: webhook.id, since: at, until, test: false, view: "attempts" } as const;
		void navigate({ to: "/p/$projectId/logs", params: { projectId }, search });
	};
	return (
		<Stack gap="lg">
			<IncidentsSection
				projectId={projectId}
				webhooks={[webhook]}
				healths={healths ?? []}
				incidents={incidents}
				page={{ replays: offersReplay ? (health?.dead_letters ?? 0) : 0 }}
			/>
			<Group justify="flex-end">
				<RangeControl range={range} onChange={show} />
			</Group>
			{error !== null && stats === undefined ? (
				<ErrorState error={error} onRetry={refetch} />
			) : (
				<div className={classes.charts}>
					<Section title="Attempts by outcome">
						{stats === undefined ? <ChartSkeleton /> : <OutcomesChart stats={stats} onPick={open} />}
					</Section>
					<Section title="Response times">
						{stats === undefined ? <ChartSkeleton /> : <TimesChart stats={stats} />}
					</Section>
				</div>
			)}
			<WaitingSection projectId={projectId} webhook={webhook} health={health} />
			<Section
				title="Recent attempts"
				flush
				actions={
					<AnchorLink size="sm" to="/p/$projectId/logs" params={{ projectId }} search={{ webhook_id: webhook.id }}>
						Show all in the log
					</AnchorLink>
				}
			>
				<RecentAttempts projectId={projectId} webhook={webhook} health={health} />
			</Section>
		</Stack>
	);
}

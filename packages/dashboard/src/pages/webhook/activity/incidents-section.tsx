import { Button, Text } from "@mantine/core";
import { IconCheck } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Health, Incident } from "../../../api/health.ts";
import type { Webhook } from "../../../api/webhooks.ts";
import { deliveriesWaiting, holdOf } from "../../../lib/health/health-facts.ts";
import { incidentAction, incidentCause, incidentResult, incidentSpan } from "../../../lib/health/incident-words.ts";
import { webhookName } from "../../../lib/health/webhook-name.ts";
import { plural } from "../../../lib/text/numbers.ts";
import { shortTime } from "../../../lib/text/time.ts";
import { ForRole } from "../../../ui/account/for-role.tsx";
import { RetryAllNow } from "../../../ui/deliveries/retry-now.tsx";
import { useNow } from "../../../ui/hooks/use-now.ts";
import { Section } from "../../../ui/page/page.tsx";
import { ReplayDialog } from "../replay-dialog.tsx";
import classes from "./incidents-section.module.css";

interface IncidentsSectionProps {
	projectId: string;
	/** The webhooks whose incidents are shown: all of the project, or one. */
	webhooks: readonly Webhook[];
	/** Health of those for which it is loaded. */
	healths: readonly Health[];
	/** Newest first. */
	incidents: readonly Incident[];
	/** The webhooks' other incidents, which are shown elsewhere. */
	others?: readonly Incident[];
	/**
	 * On a webhook's own page, which needn't name it and has actions of its own: they retry everything that waits, and
	 * replay this many failed deliveries. What they do isn't offered twice.
	 */
	page?: { readonly replays: number };
}

/** Outages of the last two days, each as one thing, with the one action that closes it. Nothing if there were none. */
export function IncidentsSection(props: IncidentsSectionProps) {
	const { projectId, webhooks, healths, incidents, others = [], page } = props;
	const [replayed, setReplayed] = useState<Incident | null>(null);
	const now = useNow(0);
	const all = [...incidents, ...others];
	const byId = new Map(webhooks.map((webhook) => [webhook.id, webhook]));
	const shown = incidents.flatMap((incident) => {
		const webhook = byId.get(incident.webhook_id);
		return webhook === undefined ? [] : [{ incident, webhook, paused: webhook.status === "paused" }];
	});
	const chosen = replayed === null ? undefined : byId.get(replayed.webhook_id);
	return (
		<>
			{shown.length === 0 ? null : (
				<Section title="Incidents" description="Outages in the last two days">
					<ul aria-label="Incidents">
						{shown.map(({ incident, webhook, paused }) => (
							<li
								key={`${webhook.id} ${incident.started_at}`}
								className={classes.row}
								data-state={paused ? "over" : incident.state}
							>
								<div className={classes.words}>
									<div className={classes.head}>
										<Link
											to="/p/$projectId/logs"
											params={{ projectId }}
											search={{ webhook_id: webhook.id, ...failuresOf(incident), view: "attempts" }}
										>
											{incidentSpan(incident, now, paused)}
										</Link>
										{page !== undefined ? null : <span>{webhookName(webhook)}</span>}
									</div>
									<p>
										{incidentCause(incident, paused)}. {incidentResult(incident, now)}
									</p>
								</div>
								<Closing
									page={page}
									projectId={projectId}
									incident={incident}
									webhook={webhook}
									hasLaterFailures={all.some((other) => isLaterFailure(other, incident))}
									waiting={healths.find(({ webhook_id }) => webhook_id === webhook.id)?.waiting}
									onReplay={() => setReplayed(incident)}
								/>
							</li>
						))}
					</ul>
				</Section>
			)}
			{/* A replay in progress continues, even if its incident has moved in the list. */}
			{replayed === null || chosen === undefined ? null : (
				<ReplayDialog
					projectId={projectId}
					webhookId={chosen.id}
					name={webhookName(chosen)}
					since={replayed.failures_since}
					opened
					onClose={() => setReplayed(null)}
				/>
			)}
		</>
	);
}

/** When attempts of its deliveries failed, as a filter of the log. */
const failuresOf = ({ failures_since, failures_until }: Incident) => ({
	since: failures_since,
	...(failures_until !== null && { until: failures_until }),
});

/** Whether a replay of what has failed since the incident includes another one's deliveries. */
const isLaterFailure = (other: Incident, { webhook_id, started_at }: Incident) =>
	other.webhook_id === webhook_id && other.started_at > started_at && other.deliveries.failed > 0;

interface ClosingProps {
	page: IncidentsSectionProps["page"];
	projectId: string;
	incident: Incident;
	webhook: Webhook;
	/** Whether deliveries of later incidents have failed, too. */
	hasLaterFailures: boolean;
	/** The webhook's pending retries; undefined until they are known. */
	waiting: Health["waiting"] | undefined;
	onReplay: () => void;
}

/** What closes an incident. */
function Closing({ page, projectId, incident, webhook, hasLaterFailures, waiting, onReplay }: ClosingProps) {
	const now = useNow(0);
	const action = incidentAction(incident);
	if (incident.state === "ongoing") return null;
	if (action === "retry") {
		if (page !== undefined || holdOf(webhook) !== null) return null;
		if (waiting !== undefined && deliveriesWaiting(waiting) === 0) return null;
		return (
			<RetryAllNow
				projectId={projectId}
				webhookId={webhook.id}
				waiting={waiting ?? { count: incident.deliveries.waiting, tests: 0 }}
				size="xs"
			/>
		);
	}
	if (action === "replay") {
		const { capped, failed } = incident.deliveries;
		if (page !== undefined && !capped && page.replays === failed) return null;
		return (
			<ForRole needs="developer">
				<Button size="xs" variant="default" onClick={onReplay}>
					{hasLaterFailures
						? `Replay all failed since ${shortTime(Date.parse(incident.started_at), now)}`
						: capped
							? "Replay failed deliveries"
							: `Replay ${plural(failed, "failed delivery")}`}
				</Button>
			</ForRole>
		);
	}
	return (
		<Text size="sm" c="dimmed" className={classes.done}>
			<IconCheck size={15} stroke={2.5} aria-hidden /> Nothing to do
		</Text>
	);
}

import { Button } from "@mantine/core";
import { useState } from "react";
import type { Health, Incident } from "../../api/health.ts";
import type { Webhook } from "../../api/webhooks.ts";
import { lacksSecret } from "../../lib/health/health-facts.ts";
import { incidentResult } from "../../lib/health/incident-words.ts";
import { webhookName } from "../../lib/health/webhook-name.ts";
import { backlogSentence, failingSince, unstableWords, waitingSentence } from "../../lib/health/webhook-words.ts";
import { dueWords } from "../../lib/text/time.ts";
import { HealthState } from "../../ui/deliveries/outcome.tsx";
import { useNow } from "../../ui/hooks/use-now.ts";
import { useRecovery } from "../../ui/hooks/use-recovery.ts";
import { ButtonLink } from "../../ui/links.tsx";
import { Section } from "../../ui/page/page.tsx";
import { When } from "../../ui/when.tsx";
import classes from "./failing-list.module.css";

export interface FailingWebhook {
	readonly webhook: Webhook;
	readonly health: Health;
}

interface FailingListProps {
	projectId: string;
	failing: readonly FailingWebhook[];
	/** Ongoing ones, each of which belongs to a webhook's row. */
	ongoing: readonly Incident[];
	now: number;
}

/** Any more would push the figures out of sight. */
const SHOWN = 3;
/** If there are more, the list of webhooks shows them better. */
const MOST = 20;

const titleOf = (states: ReadonlySet<Health["state"]>): string => {
	if (!states.has("unstable")) return "Failing webhooks";
	return states.has("failing") ? "Failing and unstable webhooks" : "Unstable webhooks";
};

/** The deliveries that the outage holds up; without one, the pending and the failed ones. */
function Outlook({ health, incident, now }: { health: Health; incident: Incident | undefined; now: number }) {
	const { next_at } = health.waiting;
	// Refreshed in time for the retry, unlike `now`.
	const nearRetry = useNow(next_at === null ? 0 : Date.parse(next_at));
	if (incident === undefined) return waitingSentence(health, Math.max(now, nearRetry));
	const late = backlogSentence(health.backlog, now);
	return (
		<>
			{incidentResult(incident, now)}
			{next_at === null ? null : (
				<>
					{" "}
					The next retry is <When at={next_at} words={dueWords} />.
				</>
			)}
			{late === null ? null : ` ${late}.`}
		</>
	);
}

/** The webhooks that need attention, each with what is wrong and how to fix it. */
export function FailingList({ projectId, failing, ongoing, now }: FailingListProps) {
	const [all, setAll] = useState(false);
	// A button wouldn't save the space of a single row.
	const shown = all || failing.length === SHOWN + 1 ? failing : failing.slice(0, SHOWN);
	const more = failing.length - shown.length;
	const first = failing[0]?.health.state === "unstable" ? "unstable" : "failing";
	return (
		<Section
			title={titleOf(new Set(failing.map(({ health }) => health.state)))}
			actions={
				more === 0 ? undefined : failing.length > MOST ? (
					<ButtonLink
						className={classes.more}
						size="compact-xs"
						variant="subtle"
						to="/p/$projectId/webhooks"
						params={{ projectId }}
						search={{ state: first }}
					>
						Show all {first} webhooks
					</ButtonLink>
				) : (
					<Button className={classes.more} size="compact-xs" variant="subtle" onClick={() => setAll(true)}>
						Show {more} more
					</Button>
				)
			}
		>
			<ul>
				{shown.map((one) => (
					<FailingRow
						key={one.webhook.id}
						projectId={projectId}
						{...one}
						incident={ongoing.find(({ webhook_id }) => webhook_id === one.webhook.id)}
						now={now}
					/>
				))}
			</ul>
		</Section>
	);
}

interface FailingRowProps extends FailingWebhook {
	projectId: string;
	incident: Incident | undefined;
	now: number;
}

const MUTE = "Nothing is sent: the service can't read its signing secret";

function FailingRow({ projectId, webhook, health, incident, now }: FailingRowProps) {
	const recovery = useRecovery(projectId, health, now);
	const isMute = lacksSecret(webhook);
	const failsNow = isMute || health.failing_since !== null;
	// Without a secret, a retry that is due waits, too.
	const ahead = isMute ? { ...health, waiting: { ...health.waiting, next_at: null } } : health;
	return (
		<li className={classes.row}>
			<div className={classes.words}>
				<div className={classes.head}>
					{webhookName(webhook)}
					<HealthState state={health.state} lacksSecret={isMute} />
				</div>
				<p>
					{isMute ? MUTE : health.state === "failing" ? failingSince(health, now) : unstableWords(health)}.{" "}
					{isMute || recovery === null ? null : `${recovery.words} `}
					<Outlook health={ahead} incident={incident} now={now} />
				</p>
			</div>
			<ButtonLink
				size="xs"
				variant="default"
				to="/p/$projectId/webhooks/$webhookId"
				params={{ projectId, webhookId: webhook.id }}
				search={{}}
				aria-label={`${failsNow ? "How to fix it" : "See what happened"}: ${webhookName(webhook)}`}
			>
				{failsNow ? "How to fix it" : "See what happened"}
			</ButtonLink>
		</li>
	);
}

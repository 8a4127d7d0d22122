import { Tooltip } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useContext } from "react";
import type { Health } from "../../api/health.ts";
import type { Webhook } from "../../api/webhooks.ts";
import { responseWords } from "../../lib/attempts/attempt-words.ts";
import { pendingDeliveriesOf, pendingWords } from "../../lib/attempts/pending.ts";
import { waitingSince } from "../../lib/health/health-facts.ts";
import { webhookName } from "../../lib/health/webhook-name.ts";
import { compactCount, formatAboutMs, formatRate, plural } from "../../lib/text/numbers.ts";
import { coarseSpan } from "../../lib/text/time.ts";
import { OutcomeBars } from "../../ui/charts/outcome-bars.tsx";
import { useNow } from "../../ui/hooks/use-now.ts";
import { When } from "../../ui/when.tsx";
import { HoursContext } from "./use-hours.ts";
import classes from "./webhooks-page.module.css";

/** A webhook and its health, which isn't known yet if the webhook was just created. */
export interface WebhookRow {
	readonly webhook: Webhook;
	readonly health: Health | undefined;
}

interface NameCellProps {
	webhook: Webhook;
	projectId: string;
	/** Whether it is in a row that opens with Enter, so that Tab needn't stop at its link, too. */
	inRow?: boolean;
}

export function NameCell({ webhook, projectId, inRow = false }: NameCellProps) {
	return (
		<>
			<Link
				className={classes.name}
				dir="auto"
				to="/p/$projectId/webhooks/$webhookId"
				params={{ projectId, webhookId: webhook.id }}
				search={{}}
				title={webhookName(webhook)}
				{...(inRow ? { tabIndex: -1 } : {})}
			>
				{webhookName(webhook)}
			</Link>
			<span className={classes.url} title={webhook.url}>
				{webhook.url.replace("https://", "")}
			</span>
		</>
	);
}

/** How many event types it receives; their names on hover. */
export function EventsCell({ webhook: { events } }: { webhook: Webhook }) {
	return (
		<Tooltip label={events.join(", ")}>
			<span>{plural(events.length, "type")}</span>
		</Tooltip>
	);
}

/** The last day by the hour. */
export function HoursCell({ webhook, health }: WebhookRow) {
	const known = useContext(HoursContext);
	if (health === undefined) return <span className={classes.quiet}>–</span>;
	const hours = health.hours.length > 0 ? health.hours : known.get(webhook.id);
	return hours === undefined ? <div className={classes.hours} /> : <OutcomeBars hours={hours} />;
}

/** How much of the last day was delivered, and the response times. */
export function DayCell({ health }: { health: Health | undefined }) {
	const { success_rate = null, p95_ms = null } = health?.day ?? {};
	return (
		<span className={classes.figure}>
			{formatRate(success_rate)}
			{p95_ms === null ? null : <span className={classes.quiet}>p95 {formatAboutMs(p95_ms)}</span>}
		</span>
	);
}

/** How many deliveries wait, for their first attempt or a retry, and for how long the oldest first attempt has. */
export function WaitingCell({ health }: Pick<WebhookRow, "health">) {
	const pending = pendingDeliveriesOf(health);
	const oldest = health === undefined ? 0 : waitingSince([health]);
	const now = useNow(oldest);
	if (pending.total === 0) return <span className={classes.quiet}>None</span>;
	return (
		<Tooltip label={pendingWords(pending)}>
			<span className={classes.late}>
				{compactCount(pending.total)}
				{oldest === 0 || pending.first === 0 ? null : (
					<>
						, <span className={classes.span}>for {coarseSpan(now - oldest)}</span>
					</>
				)}
			</span>
		</Tooltip>
	);
}

/** The last response, and when it came. */
export function ResponseCell({ health }: { health: Health | undefined }) {
	const last = health?.last_attempt ?? null;
	if (last === null) return <span className={classes.quiet}>–</span>;
	return (
		<>
			<span className={classes.response} title={responseWords(last).short}>
				{responseWords(last).short}
			</span>
			<span className={classes.quiet}>
				<When at={last.started_at} />
			</span>
		</>
	);
}

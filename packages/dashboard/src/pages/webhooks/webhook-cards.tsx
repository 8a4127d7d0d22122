import { Button } from "@mantine/core";
import { useState } from "react";
import { lacksSecret } from "../../lib/health/health-facts.ts";
import { formatAboutMs, formatRate } from "../../lib/text/numbers.ts";
import { HealthState } from "../../ui/deliveries/outcome.tsx";
import { SkeletonRows } from "../../ui/page/states.tsx";
import { stateOf } from "./find-webhooks.ts";
import { HoursContext, useHours } from "./use-hours.ts";
import { HoursCell, NameCell, ResponseCell, WaitingCell, type WebhookRow } from "./webhook-cells.tsx";
import classes from "./webhooks-page.module.css";

interface WebhookCardsProps {
	projectId: string;
	/** Undefined while they load. */
	rows: readonly WebhookRow[] | undefined;
}

/** How many cards are shown at first, and more each time. */
const AT_ONCE = 50;

/** Webhooks as cards, for narrow screens. */
export function WebhookCards({ projectId, rows }: WebhookCardsProps) {
	const [shown, setShown] = useState(AT_ONCE);
	const hours = useHours(projectId, rows, { first: 0, last: shown - 1 });
	if (rows === undefined) return <SkeletonRows count={3} height={230} />;
	return (
		<HoursContext value={hours}>
			<ul className={classes.cards} aria-label="Webhooks">
				{rows.slice(0, shown).map(({ webhook, health }) => (
					<li key={webhook.id} className={classes.card}>
						<div className={classes.cardHead}>
							<div>
								<NameCell webhook={webhook} projectId={projectId} />
							</div>
							<HealthState state={stateOf({ webhook, health })} lacksSecret={lacksSecret(webhook)} />
						</div>
						<dl className={classes.figures}>
							<div>
								<dt>Last 24 hours</dt>
								<dd>
									<HoursCell webhook={webhook} health={health} />
								</dd>
							</div>
							<div>
								<dt>Success, p95</dt>
								<dd>
									{formatRate(health?.day.success_rate ?? null)}
									{health?.day.p95_ms == null ? "" : `, ${formatAboutMs(health.day.p95_ms)}`}
								</dd>
							</div>
							<div>
								<dt>Waiting</dt>
								<dd>
									<WaitingCell health={health} />
								</dd>
							</div>
							<div>
								<dt>Last response</dt>
								<dd>
									<ResponseCell health={health} />
								</dd>
							</div>
						</dl>
					</li>
				))}
			</ul>
			{rows.length <= shown ? null : (
				<Button variant="default" fullWidth onClick={() => setShown(shown + AT_ONCE)}>
					Show {Math.min(AT_ONCE, rows.length - shown)} more
				</Button>
			)}
		</HoursContext>
	);
}

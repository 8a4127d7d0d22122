import { deliveryKey } from "../../../api/deliveries.ts";
import type { Waiting } from "../../../api/health.ts";
import { useSession } from "../../../api/session.ts";
import { rowWords } from "../../../lib/attempts/event-words.ts";
import { seriesLength } from "../../../lib/attempts/track.ts";
import type { Hold } from "../../../lib/text/hold.ts";
import { dueWords } from "../../../lib/text/time.ts";
import { CancelTest } from "../../../ui/deliveries/cancel-test.tsx";
import { EventMark } from "../../../ui/deliveries/event-mark.tsx";
import { OrderId } from "../../../ui/deliveries/order-id.tsx";
import { Outcome } from "../../../ui/deliveries/outcome.tsx";
import { RetryNow } from "../../../ui/deliveries/retry-now.tsx";
import { Code, Ident } from "../../../ui/ident.tsx";
import { AnchorLink } from "../../../ui/links.tsx";
import { When } from "../../../ui/when.tsx";
import classes from "./activity-lists.module.css";

interface WaitingListProps {
	projectId: string;
	waiting: readonly Waiting[];
	holdOf: (webhookId: string) => Hold | null;
	/** A webhook's display name, if there are several. */
	nameOf?: (webhookId: string) => string;
}

const LABEL = { retry: "Retry", replay: "Replay", requested: "On request" } as const satisfies Record<
	Waiting["queue"],
	string
>;

/** Retries and replays, soonest first. */
export function WaitingList({ projectId, waiting, holdOf, nameOf }: WaitingListProps) {
	const plan = useSession();
	return (
		<ul className={classes.waiting} data-named={nameOf !== undefined || undefined}>
			{waiting.map(({ webhook_id, event_id, event_type, order_id, queue, attempt, test, due_at }) => (
				<li key={deliveryKey({ webhook_id, event_id })} className={classes.row}>
					<span className={classes.what}>
						<Outcome kind={queue === "retry" ? "retrying" : "waiting"} plain label={LABEL[queue]} />
						<span className={classes.cell}>
							<Code>{event_type}</Code>
							<EventMark event={{ event_id, test }} />
						</span>
						<span className={classes.cell}>
							<OrderId id={order_id} />
						</span>
						{nameOf === undefined ? null : (
							<AnchorLink
								size="sm"
								className={classes.name}
								title={nameOf(webhook_id)}
								to="/p/$projectId/webhooks/$webhookId"
								params={{ projectId, webhookId: webhook_id }}
							>
								{nameOf(webhook_id)}
							</AnchorLink>
						)}
						<Ident id={event_id} />
					</span>
					<span className={classes.due}>
						<span className={classes.when}>
							attempt {attempt} of {seriesLength({ attempt: attempt - 1, status: "retrying", error_code: null }, plan)},{" "}
							<When at={due_at} words={(at, now) => dueWords(at, now, holdOf(webhook_id))} />
						</span>
						<span className={classes.actions}>
							{test ? (
								<CancelTest
									projectId={projectId}
									delivery={{ webhook_id, event_id }}
									inRowOf={rowWords({ event_id, event_type, order_id }, nameOf?.(webhook_id))}
								/>
							) : null}
							{queue !== "retry" || holdOf(webhook_id) !== null ? null : (
								<RetryNow
									projectId={projectId}
									delivery={{ webhook_id, event_id, event_type, order_id }}
									dueAt={due_at}
									inRow
									what={rowWords({ event_id, event_type, order_id }, nameOf?.(webhook_id))}
								/>
							)}
						</span>
					</span>
				</li>
			))}
		</ul>
	);
}

import { Skeleton } from "@mantine/core";
import { Link, type LinkProps } from "@tanstack/react-router";
import type { ListedAttempt } from "../../../api/attempts.ts";
import { responseWords } from "../../../lib/attempts/attempt-words.ts";
import { formatMs } from "../../../lib/text/numbers.ts";
import { EventMark } from "../../../ui/deliveries/event-mark.tsx";
import { OrderId } from "../../../ui/deliveries/order-id.tsx";
import { attemptOutcome, Outcome } from "../../../ui/deliveries/outcome.tsx";
import { When } from "../../../ui/when.tsx";
import classes from "./activity-lists.module.css";

interface RecentRowsProps {
	/** Undefined while they load. */
	rows: readonly ListedAttempt[] | undefined;
	/** How many placeholders are shown while they load. */
	skeletons: number;
	placeOf: (row: ListedAttempt) => Pick<LinkProps, "to" | "params" | "search">;
}

/** The newest attempts in two lines each, for narrow screens. */
export function RecentRows({ rows, skeletons, placeOf }: RecentRowsProps) {
	return (
		<ul className={classes.list} aria-label="Recent attempts" aria-busy={rows === undefined}>
			{rows === undefined
				? Array.from({ length: skeletons }, (_, index) => index).map((index) => (
						<li key={index}>
							<span className={classes.entry}>
								<span className={classes.line}>
									<Skeleton height={12} width="70%" />
								</span>
								<span className={classes.line}>
									<Skeleton height={12} width="45%" />
								</span>
							</span>
						</li>
					))
				: rows.map((row) => (
						<li key={row.id}>
							<Link className={classes.entry} {...placeOf(row)}>
								<span className={classes.line}>
									<span className={classes.type}>{row.event_type}</span>
									<EventMark event={row} />
									<span className={`${classes.end} ${classes.time}`}>
										<When at={row.started_at} />
									</span>
								</span>
								<span className={classes.line}>
									<Outcome kind={attemptOutcome(row.status, row.followed)} />
									<span className={classes.response}>
										{responseWords(row).short}, {formatMs(row.response_ms)}
									</span>
									<span className={classes.end}>
										<OrderId id={row.order_id} />
									</span>
								</span>
							</Link>
						</li>
					))}
		</ul>
	);
}

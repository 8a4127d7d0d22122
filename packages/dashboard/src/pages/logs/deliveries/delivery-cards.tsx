import { responseWords } from "../../../lib/attempts/attempt-words.ts";
import { ForRole } from "../../../ui/account/for-role.tsx";
import { TrackMini } from "../../../ui/deliveries/track-mini.tsx";
import { useListKeys } from "../../../ui/hooks/use-list-keys.ts";
import { SkeletonRows } from "../../../ui/page/states.tsx";
import { When } from "../../../ui/when.tsx";
import { NameCell, SelectBox } from "../attempts/attempt-cells.tsx";
import classes from "../attempts/attempts.module.css";
import { type DeliveriesProps, DeliveryEvent, DeliveryState, isOpen, NextRetry } from "./deliveries-table.tsx";
import { deliveryKey } from "./use-deliveries.ts";

const SKELETONS = 6;
const CARD_HEIGHT = 118;

/** The list of deliveries as cards, for narrow screens. */
export function DeliveryCards(props: DeliveriesProps) {
	const { rows, nameOf, stateOf, selection, openKey, isNew, onOpen, onReplay, onRetried, keys } = props;
	const { active, rowProps } = useListKeys({ items: rows ?? [], keyOf: deliveryKey, onOpen, keys, openKey });
	if (rows === undefined) return <SkeletonRows count={SKELETONS} height={CARD_HEIGHT} />;
	return (
		<ul className={classes.cards} aria-label="Deliveries">
			{rows.map((row, index) => {
				const { last_attempt, webhook_id } = row;
				const key = deliveryKey(row);
				return (
					<li
						key={key}
						className={classes.card}
						data-new={isNew(row) || undefined}
						data-open={key === openKey || undefined}
						{...rowProps(row, index, index === active)}
						tabIndex={index === (active ?? 0) ? 0 : -1}
					>
						<div className={classes.cardHead}>
							<ForRole needs="developer">
								<span className={classes.cardSelect}>
									{last_attempt === null ? null : (
										<SelectBox row={last_attempt} checked={selection.has(last_attempt.id)} onSet={selection.set} />
									)}
								</span>
							</ForRole>
							<DeliveryState row={row} />
							<span className={classes.cardTime}>
								{last_attempt === null ? "no attempt yet" : <When at={last_attempt.started_at} />}
							</span>
						</div>
						<DeliveryEvent row={row} />
						<div className={classes.cardLine}>
							<NameCell name={nameOf(webhook_id)} />
							<span className={classes.quiet}>{last_attempt === null ? "" : responseWords(last_attempt).short}</span>
						</div>
						<div className={classes.cardLine}>
							{last_attempt === null ? <span /> : <TrackMini attempt={last_attempt} />}
							{isOpen(row) ? (
								<NextRetry
									row={row}
									webhook={stateOf(webhook_id)}
									name={nameOf(webhook_id)}
									onReplay={onReplay}
									onRetried={onRetried}
								/>
							) : null}
						</div>
					</li>
				);
			})}
		</ul>
	);
}

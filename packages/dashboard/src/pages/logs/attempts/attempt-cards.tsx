import { memo } from "react";
import type { ListedAttempt } from "../../../api/attempts.ts";
import { responseWords } from "../../../lib/attempts/attempt-words.ts";
import { formatMs } from "../../../lib/text/numbers.ts";
import { ForRole } from "../../../ui/account/for-role.tsx";
import { attemptOutcome, Outcome } from "../../../ui/deliveries/outcome.tsx";
import { TrackMini } from "../../../ui/deliveries/track-mini.tsx";
import { useListKeys } from "../../../ui/hooks/use-list-keys.ts";
import { SkeletonRows } from "../../../ui/page/states.tsx";
import { When } from "../../../ui/when.tsx";
import type { SendState } from "../use-log-page.ts";
import type { Selection } from "../use-selection.ts";
import { EventCell, isPending, NameCell, NextRetryCell, SelectBox } from "./attempt-cells.tsx";
import classes from "./attempts.module.css";
import type { AttemptsProps } from "./attempts-table.tsx";

const SKELETONS = 6;
const CARD_HEIGHT = 118;

/** The log as cards, for narrow screens. */
export function AttemptCards({ rows, nameOf, stateOf, selection, openId, isNew, onOpen, keys }: AttemptsProps) {
	const { active, rowProps } = useListKeys({ items: rows ?? [], keyOf: ({ id }) => id, onOpen, keys, openKey: openId });
	if (rows === undefined) return <SkeletonRows count={SKELETONS} height={CARD_HEIGHT} />;
	return (
		<ul className={classes.cards} aria-label="Attempts">
			{rows.map((row, index) => (
				<li
					key={row.id}
					className={classes.card}
					data-new={isNew(row) || undefined}
					data-open={row.id === openId || undefined}
					{...rowProps(row, index, index === active)}
					tabIndex={index === (active ?? 0) ? 0 : -1}
				>
					<CardBody
						row={row}
						name={nameOf(row.webhook_id)}
						webhook={stateOf(row.webhook_id)}
						checked={selection.has(row.id)}
						onSet={selection.set}
					/>
				</li>
			))}
		</ul>
	);
}

interface CardBodyProps {
	row: ListedAttempt;
	name: string;
	webhook: SendState;
	checked: boolean;
	onSet: Selection["set"];
}

/** Only rendered again if its content changes, because lists get long. */
const CardBody = memo(function CardBody({ row, name, webhook, checked, onSet }: CardBodyProps) {
	return (
		<>
			<div className={classes.cardHead}>
				<ForRole needs="developer">
					<span className={classes.cardSelect}>
						<SelectBox row={row} checked={checked} onSet={onSet} />
					</span>
				</ForRole>
				<Outcome kind={attemptOutcome(row.status, row.followed)} />
				<span className={classes.cardTime}>
					<When at={row.started_at} />
				</span>
			</div>
			<EventCell attempt={row} />
			<div className={classes.cardLine}>
				<NameCell name={name} />
				<span className={classes.quiet}>
					{responseWords(row).short}, {formatMs(row.response_ms)}
				</span>
			</div>
			<div className={classes.cardLine}>
				<TrackMini attempt={row} />
				{isPending(row) ? <NextRetryCell attempt={row} webhook={webhook} label="next:" /> : null}
			</div>
		</>
	);
});

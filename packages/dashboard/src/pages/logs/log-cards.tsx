import type { ReactNode } from "react";
import type { AttemptSummary } from "../../api/attempts.ts";
import { ForRole } from "../../ui/account/for-role.tsx";
import { TrackMini } from "../../ui/deliveries/track-mini.tsx";
import { useListKeys } from "../../ui/hooks/use-list-keys.ts";
import { SkeletonRows } from "../../ui/page/states.tsx";
import { When } from "../../ui/when.tsx";
import { NameCell, SelectBox } from "./attempts/attempt-cells.tsx";
import classes from "./attempts/attempts.module.css";
import type { LogRows } from "./log-table.tsx";

const SKELETONS = 6;
const CARD_HEIGHT = 118;

/** What a card says about its row. */
interface CardParts {
	/** The row's attempt, or a delivery's last one, if it has any. */
	readonly attempt: AttemptSummary | null;
	/** Names the row for screen readers. */
	readonly what: string;
	readonly state: ReactNode;
	readonly event: ReactNode;
	/** The webhook's display name. */
	readonly name: string;
	readonly response: ReactNode;
	/** What comes next, and what can be done. */
	readonly next: ReactNode;
}

interface LogCardsProps<Row> extends Omit<LogRows<Row>, "nameOf" | "stateOf" | "hrefOf"> {
	label: string;
	keyOf: (row: Row) => string;
	partsOf: (row: Row) => CardParts;
}

/** The log as cards, for narrow screens. */
export function LogCards<Row>(props: LogCardsProps<Row>) {
	const { label, rows, keyOf, openKey, isNew, onOpen, keys, selection, partsOf } = props;
	const { active, rowProps } = useListKeys({ items: rows ?? [], keyOf, onOpen, keys, openKey });
	if (rows === undefined) return <SkeletonRows count={SKELETONS} height={CARD_HEIGHT} />;
	return (
		<ul className={classes.cards} aria-label={label}>
			{rows.map((row, index) => {
				const { attempt, what, state, event, name, response, next } = partsOf(row);
				const key = keyOf(row);
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
									{attempt === null ? null : (
										<SelectBox row={attempt} what={what} checked={selection.has(attempt.id)} onSet={selection.set} />
									)}
								</span>
							</ForRole>
							{state}
							<span className={classes.cardTime}>
								{attempt === null ? "no attempt yet" : <When at={attempt.started_at} />}
							</span>
						</div>
						{event}
						<div className={classes.cardLine}>
							<NameCell name={name} />
							<span className={classes.quiet}>{response}</span>
						</div>
						<div className={classes.cardLine}>
							{attempt === null ? <span /> : <TrackMini attempt={attempt} />}
							{next}
						</div>
					</li>
				);
			})}
		</ul>
	);
}

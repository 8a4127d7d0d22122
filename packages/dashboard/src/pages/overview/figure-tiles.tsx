import { Skeleton } from "@mantine/core";
import type { ReactNode } from "react";
import type { Stats } from "../../api/stats.ts";
import { compactCount, formatMs, formatRate } from "../../lib/numbers.ts";
import { Outcome } from "../../ui/outcome.tsx";
import classes from "./figure-tiles.module.css";

/** The statistics of a range, in large type. */
export function FigureTiles({ stats }: { stats: Stats | undefined }) {
	const total = stats?.total;
	return (
		<dl className={classes.tiles}>
			<Tile name="Events" value={total && compactCount(total.events)} />
			<Tile name={<Outcome kind="delivered" plain />} value={total && compactCount(total.delivered)} />
			<Tile name={<Outcome kind="retrying" plain label="Retried" />} value={total && compactCount(total.retrying)} />
			<Tile name={<Outcome kind="failed" plain />} value={total && compactCount(total.failed)} />
			<Tile name="Success rate" value={total && formatRate(total.success_rate)} />
			<Tile name="95 % within" value={total && (total.p95_ms === null ? "–" : formatMs(total.p95_ms))} />
		</dl>
	);
}

function Tile({ name, value }: { name: ReactNode; value: string | undefined }) {
	return (
		<div className={classes.tile}>
			<dt>{name}</dt>
			<dd>{value ?? <Skeleton height={20} width={64} my={6} />}</dd>
		</div>
	);
}

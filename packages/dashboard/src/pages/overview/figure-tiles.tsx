import { Skeleton } from "@mantine/core";
import type { ReactNode } from "react";
import type { Stats } from "../../api/stats.ts";
import { compactCount, formatMs, formatRate } from "../../lib/numbers.ts";
import { Outcome } from "../../ui/outcome.tsx";
import classes from "./figure-tiles.module.css";

/** The statistics of a range, in large type. @param failed whether they couldn't be loaded */
export function FigureTiles({ stats, failed }: { stats: Stats | undefined; failed: boolean }) {
	const total = stats?.total;
	const say = (words: (total: Stats["total"]) => string) =>
		total === undefined ? (failed ? "–" : undefined) : words(total);
	return (
		<dl className={classes.tiles}>
			<Tile name="Events" value={say(({ events }) => compactCount(events))} />
			<Tile name={<Outcome kind="delivered" plain />} value={say(({ delivered }) => compactCount(delivered))} />
			<Tile
				name={<Outcome kind="retrying" plain label="Retried" />}
				value={say(({ retrying }) => compactCount(retrying))}
			/>
			<Tile name={<Outcome kind="failed" plain />} value={say((all) => compactCount(all.failed))} />
			<Tile name="Success rate" value={say(({ success_rate }) => formatRate(success_rate))} />
			<Tile name="95% answered within" value={say(({ p95_ms }) => (p95_ms === null ? "–" : formatMs(p95_ms)))} />
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

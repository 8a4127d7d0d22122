import { Skeleton } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useId } from "react";
import type { Stats } from "../../api/stats.ts";
import { compactCount, formatAboutMs, formatRate } from "../../lib/text/numbers.ts";
import { Outcome } from "../../ui/deliveries/outcome.tsx";
import type { LogsSearch } from "../logs/search.ts";
import classes from "./figure-tiles.module.css";

interface FigureTilesProps {
	projectId: string;
	stats: Stats | undefined;
	/** Deliveries that wait for a retry now, and failed ones that need a decision; undefined until they are known. */
	waiting: number | undefined;
	dead: number | undefined;
	/** Whether the statistics and those numbers couldn't be loaded. */
	failed: { readonly stats: boolean; readonly counts: boolean };
}

/** The statistics of a range, in large type. Those of deliveries link to exactly the ones they count. */
export function FigureTiles({ projectId, stats, waiting, dead, failed }: FigureTilesProps) {
	const total = stats?.total;
	const say = (words: (total: Stats["total"]) => string) =>
		total === undefined ? (failed.stats ? "–" : undefined) : words(total);
	const count = (number: number | undefined) =>
		number === undefined ? (failed.counts ? "–" : undefined) : compactCount(number);
	// From where the statistics begin, which is a little more than the range's length ago.
	const since = stats?.buckets[0]?.at;
	const log = (search: LogsSearch) => ({ projectId, search });
	return (
		<dl className={classes.tiles}>
			<Tile name="Events" value={say(({ events }) => compactCount(events))} />
			<Tile
				name={<Outcome kind="delivered" plain />}
				value={say(({ delivered }) => compactCount(delivered))}
				log={log({ state: "delivered", test: false, ...(since === undefined ? {} : { since }) })}
			/>
			<Tile
				name={<Outcome kind="retrying" plain label="Waiting for a retry" />}
				value={count(waiting)}
				log={log({ state: "waiting", test: false })}
			/>
			<Tile
				name={<Outcome kind="failed" plain label="To decide" />}
				value={count(dead)}
				log={log({ state: "failed", unhandled: true })}
			/>
			<Tile name="Attempts delivered" value={say(({ success_rate }) => formatRate(success_rate))} />
			<Tile name="95% finished within" value={say(({ p95_ms }) => formatAboutMs(p95_ms))} />
		</dl>
	);
}

interface TileProps {
	name: ReactNode;
	value: string | undefined;
	/** What it counts. */
	log?: { readonly projectId: string; readonly search: LogsSearch };
}

function Tile({ name, value, log }: TileProps) {
	const [nameId, valueId] = [useId(), useId()];
	return (
		<div className={classes.tile}>
			<dt id={nameId}>{name}</dt>
			<dd>
				{value === undefined ? (
					<Skeleton height={20} width={64} my={6} />
				) : log === undefined ? (
					value
				) : (
					<Link
						className={classes.link}
						id={valueId}
						// Among a page's links, a number says nothing.
						aria-labelledby={`${nameId} ${valueId}`}
						to="/p/$projectId/logs"
						params={{ projectId: log.projectId }}
						search={log.search}
					>
						{value}
					</Link>
				)}
			</dd>
		</div>
	);
}

import { Anchor, Box, Center, SegmentedControl, Skeleton, Table } from "@mantine/core";
import { type ReactNode, useId } from "react";
import { STATS_RANGES, type Stats, type StatsBucket, type StatsRange } from "../../api/stats.ts";
import { outcomesInWords, totalOf } from "../../lib/health/outcomes.ts";
import { formatAboutMs, formatCount, formatRate } from "../../lib/text/numbers.ts";
import { outcomeColor } from "../deliveries/outcome.tsx";
import classes from "./charts.module.css";
import {
	bucketLabel,
	type ChartColumn,
	OUTCOME_COLUMNS,
	OUTCOMES,
	RANGE_WORDS,
	TIME_COLUMNS,
	TIMES,
} from "./charts-labels.ts";
import { AREA_HEIGHT, OutcomesPlot, type PlotProps, TimesPlot } from "./charts-plots.tsx";

/** The height of a plot with its axes, in pixels: the same while it loads. */
const HEIGHT = AREA_HEIGHT + 34;

interface RangeControlProps {
	range: StatsRange;
	onChange: (range: StatsRange) => void;
}

/** The time range of charts. */
export function RangeControl({ range, onChange }: RangeControlProps) {
	return (
		<SegmentedControl
			size="xs"
			aria-label="Time range"
			value={range}
			onChange={onChange}
			data={STATS_RANGES.map((value) => ({ value, label: RANGE_WORDS[value].label }))}
		/>
	);
}

interface FrameProps {
	/** The chart's content as a sentence. */
	words: string;
	legend: ReactNode;
	empty: boolean;
	/** Shown instead of a plot that is empty. */
	none: string;
	plot: ReactNode;
	table: ReactNode;
}

/** A chart with its legend above and its data below, for those who can't or prefer not to read charts. */
function Frame({ words, legend, empty, none, plot, table }: FrameProps) {
	return (
		<figure className={classes.figure}>
			<ul className={classes.legend}>{legend}</ul>
			<div className={classes.chart} role="img" aria-label={words}>
				{plot}
				{empty ? <div className={classes.none}>{none}</div> : null}
			</div>
			<details className={classes.figures}>
				<summary>Show the data</summary>
				<Box component="section" className={classes.scroll} tabIndex={0} aria-label="Data of the chart">
					{table}
				</Box>
			</details>
		</figure>
	);
}

const PlotSkeleton = () => (
	<Center h={HEIGHT} px={44}>
		<Skeleton height={HEIGHT - 60} radius="sm" />
	</Center>
);

/** A placeholder of a chart's size. */
export function ChartSkeleton() {
	return (
		<div role="status" aria-busy aria-label="Loading the chart">
			<div className={classes.legend} />
			<PlotSkeleton />
			<div style={{ height: 33 }} />
		</div>
	);
}

/** Failures and retries also differ by pattern. */
function Patterns({ id }: { id: string }) {
	const line = { stroke: "var(--ph-surface)", strokeWidth: 1.4, strokeOpacity: 0.75 };
	return (
		<svg width={0} height={0} aria-hidden="true" focusable="false" style={{ position: "absolute" }}>
			<defs>
				<pattern id={`${id}-retrying`} width={6} height={6} patternUnits="userSpaceOnUse">
					<rect width={6} height={6} fill={outcomeColor("retrying", "fill")} />
					<path d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5" {...line} />
				</pattern>
				<pattern id={`${id}-failed`} width={6} height={6} patternUnits="userSpaceOnUse">
					<rect width={6} height={6} fill={outcomeColor("failed", "fill")} />
					<path d="M0 0L6 6M6 0L0 6" {...line} strokeWidth={0.9} />
				</pattern>
			</defs>
		</svg>
	);
}

interface KeyProps {
	label: string;
	value: string | null;
	/** The symbol's width, pixels; undefined if there is none. */
	width?: number;
	/** The symbol's shapes. */
	children?: ReactNode;
}

/** An entry of a legend. */
function Key({ label, value, width, children }: KeyProps) {
	return (
		<li className={classes.key}>
			{width === undefined ? null : (
				<svg width={width} height={12} aria-hidden="true" focusable="false">
					{children}
				</svg>
			)}
			<span className={classes.label}>{label}</span>
			{value === null ? null : <strong>{value}</strong>}
		</li>
	);
}

interface OutcomesChartProps {
	stats: Stats;
	withEvents?: boolean;
	/** Whether the totals are already shown next to it. */
	plain?: boolean;
	/** Opens what a bar consists of. */
	onPick?: (bucket: StatsBucket) => void;
}

const EVENTS: ChartColumn = ["Events", ({ events }) => formatCount(events)];

/** Attempts by outcome over time. */
export function OutcomesChart({ stats, withEvents = false, plain = false, onPick }: OutcomesChartProps) {
	const id = useId();
	const { buckets, total, range, step_ms: stepMs } = stats;
	const plot = { buckets, range, stepMs, onPick };
	const fills = {
		delivered: outcomeColor("delivered", "fill"),
		retrying: `url(#${id}-retrying)`,
		failed: `url(#${id}-failed)`,
	};
	return (
		<>
			<Patterns id={id} />
			<Frame
				words={`Attempts in ${RANGE_WORDS[range].last}: ${outcomesInWords(total)}.`}
				empty={totalOf(total) === 0}
				none="Nothing was sent in this period"
				legend={
					<>
						{OUTCOMES.map(([outcome, label]) => (
							<Key key={outcome} label={label} value={plain ? null : formatCount(total[outcome])} width={12}>
								<rect width={12} height={12} rx={3} fill={fills[outcome]} />
							</Key>
						))}
						{plain ? null : <Key label="Success" value={formatRate(total.success_rate)} />}
					</>
				}
				plot={<OutcomesPlot {...plot} fills={fills} />}
				table={<Figures {...plot} columns={withEvents ? [EVENTS, ...OUTCOME_COLUMNS] : OUTCOME_COLUMNS} />}
			/>
		</>
	);
}

/** Response times over time. */
export function TimesChart({ stats }: { stats: Stats }) {
	const { buckets, total, range, step_ms: stepMs } = stats;
	const plot = { buckets, range, stepMs };
	const none = total.p50_ms === null;
	const words = none
		? `No response times in ${RANGE_WORDS[range].last}.`
		: `Response times in ${RANGE_WORDS[range].last}: median ${formatAboutMs(total.p50_ms)}, 95th percentile ${formatAboutMs(total.p95_ms)}.`;
	return (
		<Frame
			words={words}
			empty={none}
			none="No responses in this period"
			legend={TIMES.map(({ key, name, stroke, dashes }) => (
				<Key key={key} label={name} value={formatAboutMs(total[key])} width={20}>
					<path d="M1 6H19" stroke={stroke} strokeWidth={2.5} strokeDasharray={dashes} />
				</Key>
			))}
			plot={<TimesPlot {...plot} />}
			table={<Figures {...plot} columns={TIME_COLUMNS} />}
		/>
	);
}

/** A chart's data as a table, newest first, like all lists: there are more rows than fit. */
function Figures({ buckets, range, stepMs, columns, onPick }: PlotProps & { columns: readonly ChartColumn[] }) {
	return (
		<Table className={classes.table} verticalSpacing={4} horizontalSpacing="sm">
			<Table.Thead>
				<Table.Tr>
					<Table.Th scope="col">Time</Table.Th>
					{columns.map(([name]) => (
						<Table.Th key={name} scope="col" ta="right">
							{name}
						</Table.Th>
					))}
				</Table.Tr>
			</Table.Thead>
			<Table.Tbody>
				{buckets.toReversed().map((bucket) => {
					const time = bucketLabel(bucket.at, range, stepMs);
					return (
						<Table.Tr key={bucket.at}>
							<Table.Td>
								{onPick === undefined ? (
									time
								) : (
									<Anchor component="button" type="button" size="xs" onClick={() => onPick(bucket)}>
										{time}
									</Anchor>
								)}
							</Table.Td>
							{columns.map(([name, value]) => (
								<Table.Td key={name} ta="right">
									{value(bucket)}
								</Table.Td>
							))}
						</Table.Tr>
					);
				})}
			</Table.Tbody>
		</Table>
	);
}

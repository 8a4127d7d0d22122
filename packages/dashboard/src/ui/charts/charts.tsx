import { Anchor, Box, Center, SegmentedControl, Skeleton, Table } from "@mantine/core";
import { type ReactNode, useId } from "react";
import { STATS_RANGES, type Stats, type StatsBucket, type StatsRange } from "../../api/stats.ts";
import { outcomesInWords, totalOf } from "../../lib/health/health-figures.ts";
import { formatAboutMs, formatCount, formatRate } from "../../lib/text/numbers.ts";
import { outcomeColor } from "../deliveries/outcome.tsx";
import classes from "./charts.module.css";
import { bucketLabel, RANGE_WORDS } from "./charts-labels.ts";
import { AREA_HEIGHT, OutcomesPlot, TimesPlot } from "./charts-plots.tsx";

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

function Key({ paint, label, value }: { paint: string; label: string; value: string | null }) {
	return (
		<li className={classes.key}>
			<svg width={12} height={12} aria-hidden="true" focusable="false">
				<rect width={12} height={12} rx={3} fill={paint} />
			</svg>
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

/** Attempts by outcome over time. */
export function OutcomesChart({ stats, withEvents = false, plain = false, onPick }: OutcomesChartProps) {
	const id = useId();
	const { buckets, total, range, step_ms: stepMs } = stats;
	const newestFirst = buckets.toReversed();
	const fills = {
		delivered: outcomeColor("delivered", "fill"),
		retrying: `url(#${id}-retrying)`,
		failed: `url(#${id}-failed)`,
	};
	return (
		<>
			<Patterns id={id} />
			<Frame
				words={`Attempts of ${RANGE_WORDS[range].last}: ${outcomesInWords(total)}.`}
				empty={totalOf(total) === 0}
				none="Nothing was sent in this period"
				legend={
					<>
						<Key paint={fills.delivered} label="Delivered" value={plain ? null : formatCount(total.delivered)} />
						<Key paint={fills.retrying} label="Retried" value={plain ? null : formatCount(total.retrying)} />
						<Key paint={fills.failed} label="Failed" value={plain ? null : formatCount(total.failed)} />
						{plain ? null : (
							<li className={classes.key}>
								<span className={classes.label}>Success</span>
								<strong>{formatRate(total.success_rate)}</strong>
							</li>
						)}
					</>
				}
				plot={<OutcomesPlot buckets={buckets} range={range} stepMs={stepMs} fills={fills} onPick={onPick} />}
				table={
					<Figures
						onPick={
							onPick === undefined
								? undefined
								: (row) => {
										const bucket = newestFirst[row];
										if (bucket !== undefined) onPick(bucket);
									}
						}
						head={["Time", ...(withEvents ? ["Events"] : []), "Delivered", "Retried", "Failed"]}
						rows={newestFirst.map((bucket) => [
							bucketLabel(bucket.at, range, stepMs),
							...(withEvents ? [formatCount(bucket.events)] : []),
							formatCount(bucket.delivered),
							formatCount(bucket.retrying),
							formatCount(bucket.failed),
						])}
					/>
				}
			/>
		</>
	);
}

/** Response times over time. */
export function TimesChart({ stats }: { stats: Stats }) {
	const { buckets, total, range, step_ms: stepMs } = stats;
	const none = total.p50_ms === null;
	const words = none
		? `No response times in ${RANGE_WORDS[range].last}.`
		: `Response times of ${RANGE_WORDS[range].last}: median ${formatAboutMs(total.p50_ms)}, 95th percentile ${formatAboutMs(total.p95_ms)}.`;
	return (
		<Frame
			words={words}
			empty={none}
			none="No responses in this period"
			legend={
				<>
					<LineKey label="Median" value={formatAboutMs(total.p50_ms)} stroke="var(--ph-accent)" />
					<LineKey label="95th percentile" value={formatAboutMs(total.p95_ms)} stroke="var(--ph-waiting-fill)" dashed />
				</>
			}
			plot={<TimesPlot buckets={buckets} range={range} stepMs={stepMs} />}
			table={
				<Figures
					head={["Time", "Median", "95th percentile"]}
					rows={buckets
						.toReversed()
						.map((bucket) => [
							bucketLabel(bucket.at, range, stepMs),
							formatAboutMs(bucket.p50_ms),
							formatAboutMs(bucket.p95_ms),
						])}
				/>
			}
		/>
	);
}

function LineKey({
	label,
	value,
	stroke,
	dashed = false,
}: {
	label: string;
	value: string;
	stroke: string;
	dashed?: boolean;
}) {
	return (
		<li className={classes.key}>
			<svg width={20} height={12} aria-hidden="true" focusable="false">
				<path d="M1 6H19" stroke={stroke} strokeWidth={2.5} strokeDasharray={dashed ? "5 4" : undefined} />
			</svg>
			<span className={classes.label}>{label}</span>
			<strong>{value}</strong>
		</li>
	);
}

interface FiguresProps {
	head: readonly string[];
	/** Newest first, like all lists: there are more than fit. */
	rows: readonly (readonly string[])[];
	/** Opens what a row consists of. */
	onPick?: ((row: number) => void) | undefined;
}

function Figures({ head, rows, onPick }: FiguresProps) {
	return (
		<Table className={classes.table} verticalSpacing={4} horizontalSpacing="sm">
			<Table.Thead>
				<Table.Tr>
					{head.map((name, index) => (
						<Table.Th key={name} scope="col" ta={index === 0 ? "left" : "right"}>
							{name}
						</Table.Th>
					))}
				</Table.Tr>
			</Table.Thead>
			<Table.Tbody>
				{rows.map((row, number) => (
					<Table.Tr key={row[0]}>
						{row.map((value, index) => (
							<Table.Td key={head[index]} ta={index === 0 ? "left" : "right"}>
								{index === 0 && onPick !== undefined ? (
									<Anchor component="button" type="button" size="xs" onClick={() => onPick(number)}>
										{value}
									</Anchor>
								) : (
									value
								)}
							</Table.Td>
						))}
					</Table.Tr>
				))}
			</Table.Tbody>
		</Table>
	);
}

import "@mantine/charts/styles.css";
import { BarChart, LineChart } from "@mantine/charts";
import type { ReactNode } from "react";
import type { StatsBucket, StatsRange } from "../api/stats.ts";
import { compactCount, formatCount, formatMs } from "../lib/numbers.ts";
import classes from "./charts.module.css";
import { bucketLabel, tickLabel } from "./charts-labels.ts";

/** Only loaded once a chart is shown: the library is larger than the rest of a page. */

export interface PlotProps {
	buckets: readonly StatsBucket[];
	range: StatsRange;
	stepMs: number;
	/** In pixels. */
	height: number;
}

const AXIS = { tickLine: "none", gridAxis: "x", accessibilityLayer: false, strokeDasharray: "3 4" } as const;

const ticks = (range: StatsRange) => ({
	tickFormatter: (at: string) => tickLabel(at, range),
	interval: "preserveStartEnd" as const,
	minTickGap: 28,
	tickMargin: 8,
});

interface TipProps {
	active?: boolean;
	payload?: readonly { payload?: StatsBucket }[];
}

/** The values of the bar or point under the pointer. */
function Tip({
	active,
	payload,
	range,
	stepMs,
	rows,
}: TipProps &
	Pick<PlotProps, "range" | "stepMs"> & {
		rows: (bucket: StatsBucket) => readonly (readonly [ReactNode, string])[];
	}) {
	const bucket = payload?.[0]?.payload;
	if (active !== true || bucket === undefined) return null;
	return (
		<div className={classes.tooltip}>
			<span className={classes.tooltipTime}>{bucketLabel(bucket.at, range, stepMs)}</span>
			{rows(bucket).map(([name, value]) => (
				<span key={String(name)} className={classes.tooltipRow}>
					<span>{name}</span>
					<strong>{value}</strong>
				</span>
			))}
		</div>
	);
}

interface OutcomesPlotProps extends PlotProps {
	/** How each outcome is painted: a color, or a pattern's URL. */
	fills: Readonly<Record<"delivered" | "retrying" | "failed", string>>;
}

/** Attempts by outcome, stacked; failures at the bottom, where they are seen first. */
export function OutcomesPlot({ buckets, range, stepMs, height, fills }: OutcomesPlotProps) {
	return (
		<BarChart
			{...AXIS}
			h={height}
			type="stacked"
			data={[...buckets]}
			dataKey="at"
			series={[
				{ name: "failed", label: "Failed", color: fills.failed },
				{ name: "retrying", label: "Retried", color: fills.retrying },
				{ name: "delivered", label: "Delivered", color: fills.delivered },
			]}
			xAxisProps={ticks(range)}
			yAxisProps={{ width: 44, allowDecimals: false, tickFormatter: compactCount }}
			maxBarWidth={28}
			cursorFill="var(--ph-hover)"
			// Recharts passes the end of a segment; the bucket says whether the segment exists.
			barProps={({ name }) => ({
				isAnimationActive: false,
				minPointSize: (_, index) => (Number(buckets[index]?.[name as keyof typeof fills]) > 0 ? 3 : 0),
			})}
			tooltipProps={{
				isAnimationActive: false,
				content: ({ active, payload }) => (
					<Tip
						active={active}
						payload={payload}
						range={range}
						stepMs={stepMs}
						rows={(bucket) => [
							["Delivered", formatCount(bucket.delivered)],
							["Retried", formatCount(bucket.retrying)],
							["Failed", formatCount(bucket.failed)],
						]}
					/>
				),
			}}
		/>
	);
}

const ms = (value: number | null) => (value === null ? "–" : formatMs(value));

/** Response times: the median as a line, the 95th percentile as a dashed one. */
export function TimesPlot({ buckets, range, stepMs, height }: PlotProps) {
	return (
		<LineChart
			{...AXIS}
			h={height}
			data={[...buckets]}
			dataKey="at"
			series={[
				{ name: "p50_ms", label: "Median", color: "var(--ph-accent)" },
				{ name: "p95_ms", label: "95th percentile", color: "var(--ph-waiting-fill)", strokeDasharray: "5 4" },
			]}
			curveType="linear"
			connectNulls={false}
			strokeWidth={2}
			dotProps={{ r: 2 }}
			activeDotProps={{ r: 4 }}
			lineProps={{ isAnimationActive: false }}
			xAxisProps={ticks(range)}
			yAxisProps={{ width: 62, tickFormatter: formatMs }}
			tooltipProps={{
				isAnimationActive: false,
				content: ({ active, payload }) => (
					<Tip
						active={active}
						payload={payload}
						range={range}
						stepMs={stepMs}
						rows={(bucket) => [
							["Median", ms(bucket.p50_ms)],
							["95th percentile", ms(bucket.p95_ms)],
						]}
					/>
				),
			}}
		/>
	);
}

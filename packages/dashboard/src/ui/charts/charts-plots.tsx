import { Box } from "@mantine/core";
import { type MouseEvent, type PointerEvent, type ReactNode, useState } from "react";
import type { StatsBucket, StatsRange } from "../../api/stats.ts";
import { type Outcomes, totalOf } from "../../lib/health/outcomes.ts";
import { axisLabels, type Scale, scaleTo } from "../../lib/text/chart-scale.ts";
import { compactCount, formatAxisMs } from "../../lib/text/numbers.ts";
import classes from "./charts.module.css";
import { bucketLabel, type ChartColumn, OUTCOME_COLUMNS, TIME_COLUMNS, TIMES, tickLabel } from "./charts-labels.ts";

export interface PlotProps {
	buckets: readonly StatsBucket[];
	range: StatsRange;
	stepMs: number;
	/** Opens a bucket's details. */
	onPick?: ((bucket: StatsBucket) => void) | undefined;
}

/** The height of the plotted area, in pixels; axes come on top. Widths are shares of the whole. */
export const AREA_HEIGHT = 184;
const MIN_SEGMENT = 3;
/** The share of its column that a bar leaves free on each side. */
const GAP = 0.18;

interface FrameProps extends PlotProps {
	scale: Scale;
	format: (value: number) => string;
	/** What to say about the bucket under the pointer. */
	columns: readonly ChartColumn[];
	children: ReactNode;
}

/** Axes, grid and tooltip around a plot. */
function PlotFrame({ buckets, range, stepMs, scale, format, columns, onPick, children }: FrameProps) {
	const [at, setAt] = useState<number | null>(null);
	const pointed = at === null ? undefined : buckets[at];
	const indexOf = ({ currentTarget, clientX }: MouseEvent<HTMLElement>) => {
		const { left, width } = currentTarget.getBoundingClientRect();
		return Math.min(buckets.length - 1, Math.max(0, Math.floor(((clientX - left) / width) * buckets.length)));
	};
	const y = (value: number) => AREA_HEIGHT * (1 - value / scale.max);
	const share = 100 / Math.max(1, buckets.length);
	return (
		<div className={classes.plot}>
			<div className={classes.values}>
				{scale.ticks.map((value) => (
					<span key={value} style={{ top: y(value) }}>
						{format(value)}
					</span>
				))}
			</div>
			{/* The chart's data is also a table, whose rows do the same by keyboard. */}
			<Box
				className={classes.area}
				data-picks={onPick !== undefined || undefined}
				style={{ height: AREA_HEIGHT }}
				onPointerMove={(event: PointerEvent<HTMLElement>) => setAt(indexOf(event))}
				onPointerLeave={() => setAt(null)}
				onClick={(event) => {
					const bucket = buckets[indexOf(event)];
					if (bucket !== undefined) onPick?.(bucket);
				}}
			>
				<svg width="100%" height={AREA_HEIGHT} aria-hidden="true" focusable="false">
					{scale.ticks.map((value) => (
						<line key={value} className={classes.grid} x1="0" x2="100%" y1={y(value)} y2={y(value)} />
					))}
					{at === null ? null : (
						<rect className={classes.cursor} x={`${at * share}%`} width={`${share}%`} height={AREA_HEIGHT} />
					)}
				</svg>
				{children}
				{pointed === undefined || at === null ? null : (
					<div
						className={classes.tooltip}
						data-side={at < buckets.length / 2 ? "right" : "left"}
						style={{ left: `${(at + 0.5) * share}%` }}
					>
						<span className={classes.tooltipTime}>{bucketLabel(pointed.at, range, stepMs)}</span>
						{columns.map(([name, value]) => (
							<span key={name} className={classes.tooltipRow}>
								<span>{name}</span>
								<strong>{value(pointed)}</strong>
							</span>
						))}
					</div>
				)}
			</Box>
			<div className={classes.times}>
				{axisLabels(
					buckets.map((bucket) => Date.parse(bucket.at)),
					range,
				).map((index, position) => (
					<span key={index} data-second={position % 2 === 1 || undefined} style={{ left: `${(index + 0.5) * share}%` }}>
						{tickLabel(buckets[index]?.at ?? "", range)}
					</span>
				))}
			</div>
		</div>
	);
}

interface OutcomesPlotProps extends PlotProps {
	/** How each outcome is painted: a color, or a pattern's URL. */
	fills: Readonly<Record<keyof Outcomes, string>>;
}

/** From the bottom: failures first, where they are seen. */
const STACK: readonly (keyof Outcomes)[] = ["failed", "retrying", "delivered"];

/** Attempts by outcome, stacked. */
export function OutcomesPlot({ fills, ...plot }: OutcomesPlotProps) {
	const { buckets } = plot;
	const scale = scaleTo(Math.max(0, ...buckets.map(totalOf)));
	const share = 100 / Math.max(1, buckets.length);
	return (
		<PlotFrame {...plot} scale={scale} format={compactCount} columns={OUTCOME_COLUMNS}>
			<svg className={classes.layer} width="100%" height={AREA_HEIGHT} aria-hidden="true" focusable="false">
				{buckets.map((bucket, index) => {
					let top = AREA_HEIGHT;
					return STACK.map((outcome) => {
						if (bucket[outcome] === 0) return null;
						const height = Math.max(MIN_SEGMENT, (bucket[outcome] / scale.max) * AREA_HEIGHT);
						top -= height;
						return (
							<rect
								key={`${bucket.at} ${outcome}`}
								x={`${(index + GAP) * share}%`}
								width={`${share * (1 - 2 * GAP)}%`}
								y={top}
								height={height}
								fill={fills[outcome]}
							/>
						);
					});
				})}
			</svg>
		</PlotFrame>
	);
}

/** Response times: the median as a line, the 95th percentile as a dashed one. */
export function TimesPlot(plot: PlotProps) {
	const { buckets } = plot;
	const scale = scaleTo(Math.max(0, ...buckets.map(({ p50_ms, p95_ms }) => Math.max(p50_ms ?? 0, p95_ms ?? 0))));
	return (
		<PlotFrame {...plot} scale={scale} format={formatAxisMs} columns={TIME_COLUMNS}>
			{/* Stretched to the width; the strokes keep theirs. */}
			<svg
				className={classes.layer}
				width="100%"
				height={AREA_HEIGHT}
				viewBox={`0 0 ${Math.max(1, buckets.length)} ${AREA_HEIGHT}`}
				preserveAspectRatio="none"
				aria-hidden="true"
				focusable="false"
			>
				{TIMES.map(({ key, stroke, dashes }) => {
					const points = buckets.map(({ [key]: value }, index) =>
						value === null ? null : ([index + 0.5, AREA_HEIGHT * (1 - value / scale.max)] as const),
					);
					return (
						<g key={key} className={classes.line} stroke={stroke}>
							<path
								d={points
									.map((point, index) => {
										if (point === null) return "";
										return `${index === 0 || points[index - 1] === null ? "M" : "L"}${point.join(" ")}`;
									})
									.join("")}
								strokeDasharray={dashes}
							/>
							<path
								className={classes.dots}
								d={points.map((point) => (point === null ? "" : `M${point.join(" ")}h0`)).join("")}
							/>
						</g>
					);
				})}
			</svg>
		</PlotFrame>
	);
}

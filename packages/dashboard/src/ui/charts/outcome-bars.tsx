import { Tooltip } from "@mantine/core";
import { type Outcomes, outcomesInWords, sumOutcomes, totalOf } from "../../lib/health/outcomes.ts";
import { outcomeColor } from "../deliveries/outcome.tsx";
import classes from "./outcome-bars.module.css";

interface OutcomeBarsProps {
	/** The hours of a day, oldest first. */
	hours: readonly (Outcomes & { readonly at: string })[];
}

/** In pixels. */
const HEIGHT = 30;
const STEP = 6;
const BAR = 4;
/** Space below the bars for the marks of hours with failures. */
const MARKS = 6;

/** A day of hourly bars by outcome; hours with failures are marked below, so that color isn't the only sign. */
export function OutcomeBars({ hours }: OutcomeBarsProps) {
	const most = Math.max(1, ...hours.map(totalOf));
	const room = HEIGHT - MARKS;
	const words = `The last ${hours.length} hours: ${outcomesInWords(sumOutcomes(hours))}.`;
	return (
		<Tooltip label={words}>
			<svg
				className={classes.bars}
				width={hours.length * STEP}
				height={HEIGHT}
				viewBox={`0 0 ${hours.length * STEP} ${HEIGHT}`}
				role="img"
				aria-label={words}
			>
				{hours.map((hour, index) => (
					<Bar key={hour.at} hour={hour} x={index * STEP} scale={room / most} room={room} />
				))}
			</svg>
		</Tooltip>
	);
}

function Bar({ hour, x, scale, room }: { hour: Outcomes; x: number; scale: number; room: number }) {
	if (totalOf(hour) === 0) return <rect className={classes.empty} x={x} y={room - 2} width={BAR} height={2} rx={1} />;
	// An hour with any attempts has a visible bar, however busy other hours were.
	const size = (count: number) => (count === 0 ? 0 : Math.max(2, count * scale));
	const failed = size(hour.failed);
	const retrying = size(hour.retrying);
	const delivered = Math.max(Math.min(size(hour.delivered), room - failed - retrying), 0);
	const part = (kind: keyof Outcomes, height: number, below: number) => (
		<rect fill={outcomeColor(kind, "fill")} x={x} y={room - below - height} width={BAR} height={height} rx={1} />
	);
	return (
		<>
			{part("failed", failed, 0)}
			{part("retrying", retrying, failed)}
			{part("delivered", delivered, failed + retrying)}
			{hour.failed === 0 ? null : (
				<path fill={outcomeColor("failed")} d={`M${x + BAR / 2} ${room + 1.5}l2.5 4.5h-5z`} />
			)}
		</>
	);
}

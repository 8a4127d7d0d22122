import { Tooltip } from "@mantine/core";
import { type Outcomes, outcomesInWords, sumOutcomes, totalOf } from "../../lib/health/health-figures.ts";
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
	const delivered = Math.max(size(hour.delivered) - Math.max(0, failed + retrying + size(hour.delivered) - room), 0);
	return (
		<>
			<rect className={classes.failed} x={x} y={room - failed} width={BAR} height={failed} rx={1} />
			<rect className={classes.retrying} x={x} y={room - failed - retrying} width={BAR} height={retrying} rx={1} />
			<rect
				className={classes.delivered}
				x={x}
				y={room - failed - retrying - delivered}
				width={BAR}
				height={delivered}
				rx={1}
			/>
			{hour.failed === 0 ? null : <path className={classes.mark} d={`M${x + BAR / 2} ${room + 1.5}l2.5 4.5h-5z`} />}
		</>
	);
}

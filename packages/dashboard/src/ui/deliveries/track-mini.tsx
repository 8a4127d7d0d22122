import { useSession } from "../../api/session.ts";
import { rowStations, type StationState, seriesLength, type TrackAttempt } from "../../lib/attempts/track.ts";
import classes from "./track-mini.module.css";

/** The distance between two stations' centers, pixels; less if the track would be longer than `LENGTH`. */
const STEP = 8;
const LENGTH = 7 * STEP;
const HEIGHT = 14;
const MIDDLE = HEIGHT / 2;

/** An entry of the log as a small track that shows its attempt's position in the series. */
export function TrackMini({
	attempt,
}: {
	attempt: Pick<TrackAttempt, "attempt" | "status" | "error_code" | "replay">;
}) {
	const plan = useSession();
	const stations = rowStations(attempt, plan);
	const total = seriesLength(attempt, plan);
	const words = `Attempt ${attempt.attempt} of ${total}${attempt.replay === 0 ? "" : `, replay ${attempt.replay}`}`;
	const step = Math.min(STEP, LENGTH / (total - 1));
	const width = (total - 1) * step + 2 * MIDDLE;
	const x = (number: number) => (number - 1) * step + MIDDLE;
	return (
		<span className={classes.track} title={words}>
			<svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={words}>
				<path className={classes.ahead} d={`M${x(attempt.attempt)} ${MIDDLE}H${x(stations.length)}`} />
				<path className={classes.behind} d={`M${x(1)} ${MIDDLE}H${x(attempt.attempt)}`} />
				{stations.map(({ number, state }) =>
					// Close together, stations to come would hide the current one.
					state === "coming" && step < STEP ? null : <Dot key={number} state={state} x={x(number)} />,
				)}
			</svg>
			<span aria-hidden>
				{attempt.attempt}/{total}
				{attempt.replay === 0 ? "" : ` ↻${attempt.replay}`}
			</span>
		</span>
	);
}

function Dot({ state, x }: { state: StationState; x: number }) {
	switch (state) {
		case "delivered":
			return (
				<>
					<circle className={classes.delivered} cx={x} cy={MIDDLE} r={6} />
					<path className={classes.sign} d={`M${x - 2.6} ${MIDDLE}l1.9 2 3.3-3.8`} />
				</>
			);
		case "failed":
			return (
				<>
					<circle className={classes.failed} cx={x} cy={MIDDLE} r={6} />
					<path className={classes.sign} d={`M${x - 2.2} ${MIDDLE - 2.2}l4.4 4.4m0 -4.4l-4.4 4.4`} />
				</>
			);
		case "passed":
			return <circle className={classes.passed} cx={x} cy={MIDDLE} r={3.2} />;
		case "current":
			return <circle className={classes.current} cx={x} cy={MIDDLE} r={3} />;
		case "coming":
			return <circle className={classes.coming} cx={x} cy={MIDDLE} r={1.8} />;
	}
}

import { exactLocal, exactUtc, isLocalUtc, shortTime, timeAgo } from "../lib/text/time.ts";
import { useNow } from "./hooks/use-now.ts";
import classes from "./when.module.css";

interface WhenProps {
	/** ISO 8601, or milliseconds since 1970. */
	at: string | number;
	/** The time of day, with the date if it is another day, instead of a relative time. */
	clock?: boolean;
	/** Words for it, relative to now; by default for something that has happened. */
	words?: (at: number, now: number) => string;
}

/**
 * A time relative to now; the exact local time and UTC on hover and in the element itself. Long lists have one per row,
 * so it has no tooltip of its own, only the browser's.
 */
export function When({ at, clock = false, words = timeAgo }: WhenProps) {
	const ms = typeof at === "number" ? at : Date.parse(at);
	const now = useNow(ms);
	return (
		<time
			className={classes.when}
			// Otherwise, screen readers would read it out each time it changes.
			aria-live="off"
			dateTime={new Date(ms).toISOString()}
			title={isLocalUtc(ms) ? exactLocal(ms) : `${exactLocal(ms)}\n${exactUtc(ms)}`}
		>
			{clock ? shortTime(ms, now) : words(ms, now)}
		</time>
	);
}

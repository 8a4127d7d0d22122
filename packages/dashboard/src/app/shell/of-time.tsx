import { calendarTime } from "../../lib/text/time.ts";
import { When } from "../../ui/when.tsx";

/** ` of 21 Nov 2026, 14:02`, after what has that time; nothing if it isn't known. */
export const OfTime = ({ at }: { at: string | null }) =>
	at === null ? null : (
		<>
			{" "}
			of <When at={at} words={calendarTime} />
		</>
	);

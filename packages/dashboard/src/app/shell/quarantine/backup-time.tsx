import { calendarTime } from "../../../lib/text/time.ts";
import { When } from "../../../ui/when.tsx";

/** ` made on 21 Nov 2026, 14:02`, after "backup"; nothing if the time isn't known. */
export const BackupTime = ({ at }: { at: string | null }) =>
	at === null ? null : (
		<>
			{" "}
			made on <When at={at} words={calendarTime} />
		</>
	);

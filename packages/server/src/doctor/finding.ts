export interface Finding {
	readonly state: "ok" | "warning" | "fault";
	/** What was looked at. */
	readonly name: string;
	/** What was found and, where it is not as it should be, what to do. */
	readonly text: string;
	/** A fault that only another setting or key mends: starting again would not. */
	readonly isSetting?: boolean;
}

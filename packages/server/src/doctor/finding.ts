export interface Finding {
	readonly state: "ok" | "warning" | "fault";
	/** What was looked at. */
	readonly name: string;
	/** What was found and, where it is not as it should be, what to do. */
	readonly text: string;
	/** Whether only another setting or key fixes the fault, so that restarting is no use. */
	readonly isSetting?: boolean;
}

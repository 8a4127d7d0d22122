import { type ShouldBlockFn, useBlocker } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { Confirm } from "./confirm.tsx";

interface LeaveGuardProps {
	/** Whether something would be lost. */
	unsaved: boolean;
	/** What has changes: "The settings of Accounting have unsaved changes." */
	children: ReactNode;
}

/** Tabs and filters belong to the same page. */
const isOtherPage: ShouldBlockFn = ({ current, next }) => current.pathname !== next.pathname;

/** How many guards have unsaved changes. */
let guarding = 0;

/** Whether the page has unsaved changes, for what leaves it without a navigation. */
export const isGuarded = () => guarding > 0;

/** Asks before someone leaves the page with unsaved changes. For a reload or a closed tab, the browser asks. */
export function LeaveGuard({ unsaved, children }: LeaveGuardProps) {
	const { status, proceed, reset } = useBlocker({
		shouldBlockFn: isOtherPage,
		enableBeforeUnload: unsaved,
		disabled: !unsaved,
		withResolver: true,
	});
	useEffect(() => {
		if (!unsaved) return;
		guarding++;
		return () => void guarding--;
	}, [unsaved]);
	return (
		<Confirm
			opened={status === "blocked"}
			onClose={() => reset?.()}
			title="Discard your changes?"
			action="Discard and leave"
			danger
			onConfirm={async () => proceed?.()}
		>
			{children}
		</Confirm>
	);
}

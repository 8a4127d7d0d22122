import { useRef, useState } from "react";
import { notifyProblem } from "../notify.tsx";

/** Runs an action, and reports its failure. Calls while it is running are ignored. */
export function useAction<Args extends readonly unknown[]>(act: (...args: Args) => Promise<void>) {
	const [busy, setBusy] = useState(false);
	const isRunning = useRef(false);
	const run = async (...args: Args): Promise<void> => {
		if (isRunning.current) return;
		isRunning.current = true;
		setBusy(true);
		try {
			await act(...args);
		} catch (error) {
			notifyProblem(error);
		} finally {
			isRunning.current = false;
			setBusy(false);
		}
	};
	return { busy, run };
}

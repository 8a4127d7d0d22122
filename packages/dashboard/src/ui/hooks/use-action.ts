import { useState } from "react";
import { notifyProblem } from "../notify.tsx";

/** Runs an action once at a time, and reports its failure. */
export function useAction(act: () => Promise<void>): { readonly busy: boolean; readonly run: () => Promise<void> } {
	const [busy, setBusy] = useState(false);
	const run = async () => {
		setBusy(true);
		try {
			await act();
		} catch (error) {
			notifyProblem(error);
		} finally {
			setBusy(false);
		}
	};
	return { busy, run };
}

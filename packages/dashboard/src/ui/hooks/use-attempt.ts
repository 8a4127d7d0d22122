import { useState } from "react";

/** Runs what a user asked for: busy meanwhile; if it fails, the error is in `problem` until the next attempt. */
export function useAttempt() {
	const [busy, setBusy] = useState(false);
	const [problem, setProblem] = useState<unknown>(null);
	const attempt = async (act: () => Promise<unknown>): Promise<void> => {
		setBusy(true);
		setProblem(null);
		try {
			await act();
		} catch (error) {
			setProblem(error);
		} finally {
			setBusy(false);
		}
	};
	return { busy, problem, setProblem, attempt };
}

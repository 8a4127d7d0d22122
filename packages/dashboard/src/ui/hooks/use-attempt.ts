import { useState } from "react";
import { isStatus } from "../../api/client/error.ts";
import { notifyProblem } from "../notify.tsx";
import { useIsMounted } from "./use-is-mounted.ts";

/**
 * Runs what a user asked for: busy meanwhile; if it fails, the error is in `problem` until the next attempt. If its dialog
 * was closed meanwhile, a notification has it.
 */
export function useAttempt() {
	const [busy, setBusy] = useState(false);
	const [problem, setProblem] = useState<unknown>(null);
	const isMounted = useIsMounted();
	const attempt = async (act: () => Promise<unknown>): Promise<void> => {
		setBusy(true);
		setProblem(null);
		try {
			await act();
		} catch (error) {
			if (isMounted()) setProblem(error);
			// The sign-in page says that the session has ended.
			else if (!isStatus(error, 401)) notifyProblem(error);
		} finally {
			setBusy(false);
		}
	};
	return { busy, problem, setProblem, attempt };
}

import { createContext } from "react";
import type { AttemptSummary } from "../../api/attempts.ts";

/** The list next to the drawer. */
export interface LogList {
	readonly rows: readonly AttemptSummary[];
	readonly loadMore: () => void;
}

export const LogContext = createContext<LogList>({ rows: [], loadMore: () => {} });

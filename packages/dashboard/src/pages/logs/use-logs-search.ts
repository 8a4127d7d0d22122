import { useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { type LogsSearch, validateLogsSearch } from "./search.ts";

/**
 * The filters in the address bar. The router also passes on what validation has dropped, so it is dropped again here.
 */
export function useLogsSearch(): LogsSearch {
	const search = useSearch({ from: "/signed-in/p/$projectId/developer/logs" });
	return useMemo(() => validateLogsSearch({ ...search }), [search]);
}

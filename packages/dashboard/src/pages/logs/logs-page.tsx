import { AttemptsView } from "./attempts-view.tsx";
import { DeliveriesView } from "./deliveries-view.tsx";
import { viewOf } from "./search.ts";
import { useLogsSearch } from "./use-logs-search.ts";

/** The delivery log: by deliveries, or by attempts. */
export function LogsPage() {
	return viewOf(useLogsSearch()) === "attempts" ? <AttemptsView /> : <DeliveriesView />;
}

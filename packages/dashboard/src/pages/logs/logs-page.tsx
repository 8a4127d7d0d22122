import { AttemptsView } from "./attempts/attempts-view.tsx";
import { DeliveriesView } from "./deliveries/deliveries-view.tsx";
import { viewOf } from "./search.ts";
import { TextView } from "./text/text-view.tsx";
import { useLogsSearch } from "./use-logs-search.ts";

/** The delivery log: by deliveries, by attempts, or the events in which a text was found. */
export function LogsPage() {
	const search = useLogsSearch();
	if (search.text !== undefined) return <TextView key={search.text} text={search.text} />;
	return viewOf(search) === "attempts" ? <AttemptsView /> : <DeliveriesView />;
}

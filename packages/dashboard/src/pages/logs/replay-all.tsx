import { Modal } from "@mantine/core";
import { type AttemptFilter, fixedFilter } from "../../api/attempts.ts";
import { useSession } from "../../api/session.ts";
import { plural } from "../../lib/numbers.ts";
import { ReplayMatching } from "../../ui/replay-matching.tsx";
import { type NameOf, replayPhrase } from "./filter-words.ts";
import type { LogsSearch } from "./search.ts";

/** A requested replay: the filters as of that moment. */
export interface ReplayAllRequest {
	readonly search: LogsSearch;
	readonly filter: AttemptFilter;
	/** Milliseconds since 1970. */
	readonly at: number;
}

export const replayAllOf = (search: LogsSearch, at: number): ReplayAllRequest => ({
	search,
	filter: fixedFilter(search, at),
	at,
});

interface ReplayAllProps {
	projectId: string;
	/** Null while nothing is requested. */
	request: ReplayAllRequest | null;
	nameOf: NameOf;
	onClose: () => void;
}

/** Replays everything that matches the filters: counts first, and shows its progress while it runs. */
export function ReplayAll({ projectId, request, nameOf, onClose }: ReplayAllProps) {
	const plan = useSession();
	return (
		<Modal opened={request !== null} onClose={onClose} title="Replay all matching" closeOnClickOutside={false}>
			{request === null ? null : (
				<ReplayMatching
					projectId={projectId}
					filter={request.filter}
					countOf={(count) => plural(count, "delivery", "deliveries")}
					none="Nothing that matches can be replayed. Deliveries that are still being attempted continue automatically."
					say={(count) => replayPhrase(request.search, count, nameOf, request.at, plan)}
					onClose={onClose}
				/>
			)}
		</Modal>
	);
}

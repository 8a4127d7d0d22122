import { Radio, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { type AttemptFilter, fixedFilter } from "../../../api/attempts.ts";
import { replayMatching } from "../../../api/deliveries.ts";
import { ActOnMatching } from "../../../ui/deliveries/act-on-matching.tsx";
import { ReplayPreview, replayAction } from "../../../ui/deliveries/replay-preview.tsx";
import type { NameOf } from "../filters/filter-words.ts";
import { type LogsSearch, lastAttemptFilter } from "../search.ts";

/** The log's filters at a moment, for an action on all that they match. Test events never do. */
export function matchingOf(search: LogsSearch, at: number): AttemptFilter {
	const { test: _, ...filter } = fixedFilter<AttemptFilter>(lastAttemptFilter(search), at);
	return filter;
}

/** The inside of a dialog about everything that a filter of the log matches. */
export interface MatchingProps {
	projectId: string;
	filter: AttemptFilter;
	nameOf: NameOf;
	onClose: () => void;
}

const LEFT_OUT =
	"Deliveries waiting for a retry continue automatically: select them to retry them now. Dismissed ones and test events are replayed one by one.";

const CHOICES = ["failed", "all"] as const;
type Choice = (typeof CHOICES)[number];

/** Replays what matches the filters: failed deliveries unless something else is chosen. Counts first, and shows progress. */
export function ReplayAll({ projectId, filter, nameOf, onClose }: MatchingProps) {
	const [choice, setChoice] = useState<Choice>("failed");
	const { status } = filter;
	// Other filters by state already say which are meant.
	const isChoice = status === undefined || (status.includes("failed") && status.includes("delivered"));
	const isOfFailed = isChoice && choice === "failed";
	const chosen: AttemptFilter = isOfFailed ? { ...filter, status: ["failed"] } : filter;
	return (
		<ActOnMatching
			key={choice}
			projectId={projectId}
			filter={chosen}
			action={replayAction((options) => replayMatching(projectId, chosen, options))}
			preview={(counted) => (
				<Stack gap="sm">
					<ReplayPreview counted={counted} nameOf={nameOf} isSentTwice={chosen.status?.join() !== "failed"} />
					<Text size="sm">Dismissed deliveries and test events are left out.</Text>
				</Stack>
			)}
			none={`${isOfFailed ? "No failed delivery" : "Nothing"} that matches can be replayed. ${LEFT_OUT}`}
			onClose={onClose}
		>
			{isChoice ? (
				<Radio.Group
					label="Which matching deliveries to replay"
					value={choice}
					onChange={(value) => setChoice(CHOICES.find((one) => one === value) ?? "failed")}
				>
					<Stack gap={6} mt={6}>
						<Radio value="failed" label="Failed" />
						<Radio value="all" label="All that have ended, including delivered" />
					</Stack>
				</Radio.Group>
			) : null}
		</ActOnMatching>
	);
}

import { Stack, Text } from "@mantine/core";
import { dismissMatching } from "../../../api/deliveries.ts";
import { isAre, plural } from "../../../lib/text/numbers.ts";
import { ActOnMatching } from "../../../ui/deliveries/act-on-matching.tsx";
import { Groups } from "../../../ui/deliveries/replay-preview.tsx";
import type { MatchingProps } from "./replay-all.tsx";

/**
 * What dismissing failed deliveries does, without a period, and what that means.
 *
 * @param what describes them; by default, by their number
 */
export const dismissalWords = (count: number, what = plural(count, "failed delivery")) => ({
	does: `This marks ${what} as needing no decision`,
	means:
		count === 1
			? "Nothing is sent or deleted. It stays in the log, no longer counts as failed, and bulk replays leave it out. You can't undo this, but you can still replay it."
			: "Nothing is sent or deleted. They stay in the log, no longer count as failed, and bulk replays leave them out. You can't undo this, but you can still replay each one.",
});

/** Marks all failed deliveries that match a filter as needing no decision. Counts first, and shows progress. */
export function DismissAll({ projectId, filter: matching, nameOf, onClose }: MatchingProps) {
	const { status: _, ...filter } = matching;
	return (
		<ActOnMatching
			projectId={projectId}
			filter={{ ...filter, status: ["failed"] }}
			action={{
				verb: "Dismiss",
				run: (options) => dismissMatching(projectId, filter, options),
				doing: "are dismissed",
				done: (count) => `${isAre(count)} dismissed`,
				skipped: "they have been replayed or dismissed in the meantime",
			}}
			preview={(counted) => (
				<Stack gap="sm">
					<Text size="sm">{dismissalWords(counted.count).does}:</Text>
					<Groups counted={counted} nameOf={nameOf} />
					<Text size="sm">{dismissalWords(counted.count).means}</Text>
				</Stack>
			)}
			none="No failed delivery that matches needs a decision."
			onClose={onClose}
		/>
	);
}

import { Button, Group, Progress, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { AttemptFilter } from "../api/attempts.ts";
import { replayMatching } from "../api/deliveries.ts";
import { formatCount } from "../lib/numbers.ts";
import { ErrorState } from "./states.tsx";

interface ReplayMatchingProps {
	projectId: string;
	/** Must stay the same while this is shown. */
	filter: AttemptFilter;
	/** A count in words: `8 deliveries`. */
	countOf: (count: number) => string;
	/** What will be sent again and to whom, after counting. */
	say: (count: number) => string;
	/** Shown if there is nothing to replay. */
	none: string;
	onClose: () => void;
}

/** More than this are only sent again after their number was typed. */
const MAX_UNCONFIRMED = 100;

type Progressed =
	| { readonly state: "asking" }
	| { readonly state: "running"; readonly count: number }
	| { readonly state: "over"; readonly count: number; readonly stopped: boolean };

/** The inside of a dialog that replays what a filter matches: counts first, shows the count, then the progress. */
export function ReplayMatching({ projectId, filter, countOf, say, none, onClose }: ReplayMatchingProps) {
	const [progress, setProgress] = useState<Progressed>({ state: "asking" });
	const [problem, setProblem] = useState<unknown>(null);
	const [soFar, setSoFar] = useState(0);
	const stop = useRef(new AbortController());
	useEffect(() => {
		const controller = new AbortController();
		stop.current = controller;
		return () => controller.abort();
	}, []);
	const counted = useQuery({
		queryKey: ["replay-count", projectId, filter],
		queryFn: ({ signal }) => replayMatching(projectId, filter, { dryRun: true, onStep: setSoFar, signal }),
		gcTime: 0,
		staleTime: "static",
	});
	const total = counted.data ?? 0;
	const isLarge = total > MAX_UNCONFIRMED;
	const [typed, setTyped] = useState("");

	const run = async () => {
		const { signal } = stop.current;
		const onStep = (count: number) => setProgress({ state: "running", count });
		setProblem(null);
		onStep(0);
		try {
			const count = await replayMatching(projectId, filter, { dryRun: false, onStep, signal });
			setProgress({ state: "over", count, stopped: signal.aborted });
		} catch (error) {
			setProblem(error);
			setProgress({ state: "asking" });
		}
	};

	if (counted.error !== null) return <ErrorState error={counted.error} onRetry={counted.refetch} />;
	if (counted.data === undefined) {
		return (
			<Stack>
				<Text size="sm">Counting deliveries to send again: {formatCount(soFar)} so far.</Text>
				<Progress value={100} animated aria-label="Counting" />
				<Group justify="flex-end">
					<Button variant="default" onClick={onClose}>
						Cancel
					</Button>
				</Group>
			</Stack>
		);
	}
	if (progress.state === "running") {
		return (
			<Stack>
				<Text size="sm" aria-live="polite">
					{formatCount(progress.count)} of {formatCount(total)} are sent again.
				</Text>
				<Progress value={share(progress.count, total)} aria-label="Replayed" />
				<Group justify="flex-end">
					<Button variant="default" onClick={() => stop.current.abort()}>
						Stop
					</Button>
				</Group>
			</Stack>
		);
	}
	if (progress.state === "over") {
		const { count, stopped } = progress;
		return (
			<Stack>
				<Text size="sm" aria-live="polite">
					{resultInWords(countOf(count), { count, total, stopped })}
				</Text>
				<Progress value={stopped ? share(count, total) : 100} color={stopped ? "gray" : "teal"} aria-label="Replayed" />
				<Group justify="flex-end">
					<Button onClick={onClose} data-autofocus>
						Done
					</Button>
				</Group>
			</Stack>
		);
	}
	return (
		<Stack>
			<Text size="sm" aria-live="polite">
				{total === 0 ? none : say(total)}
			</Text>
			{isLarge ? (
				<TextInput
					label={`Type ${total} to confirm`}
					value={typed}
					onChange={(event) => setTyped(event.currentTarget.value)}
					autoComplete="off"
					inputMode="numeric"
				/>
			) : null}
			{problem === null ? null : <ErrorState error={problem} />}
			<Group justify="flex-end" gap="xs">
				<Button variant="default" onClick={onClose}>
					{total === 0 ? "Close" : "Cancel"}
				</Button>
				{total === 0 ? null : (
					<Button onClick={() => void run()} data-autofocus disabled={isLarge && typed.trim() !== String(total)}>
						Replay {countOf(total)}
					</Button>
				)}
			</Group>
		</Stack>
	);
}

const share = (count: number, total: number) => (total === 0 ? 0 : Math.min(100, (count / total) * 100));

const isAre = (count: number) => (count === 1 ? "is" : "are");

interface Result {
	readonly count: number;
	readonly total: number;
	readonly stopped: boolean;
}

/** The result. Deliveries that were counted but not replayed are attempting by now, or no longer exist. */
function resultInWords(counted: string, { count, total, stopped }: Result): string {
	const begun = `${counted} ${isAre(count)} being sent again, oldest first.`;
	const rest = Math.max(0, total - count);
	if (rest === 0) return begun;
	if (stopped) return `Stopped. ${begun} ${formatCount(rest)} ${isAre(rest)} unchanged.`;
	return `${begun} ${formatCount(rest)} ${rest === 1 ? "was" : "were"} skipped, because they are already being attempted or no longer exist.`;
}

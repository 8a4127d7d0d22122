import { Button, Group, Progress, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { AttemptFilter } from "../../api/attempts.ts";
import { type Counted, countMatching } from "../../api/deliveries.ts";
import { formatCount, isAre, plural } from "../../lib/text/numbers.ts";
import { ErrorState } from "../page/states.tsx";
import { useTypeToConfirm } from "../type-to-confirm.tsx";

/** What a dialog does to each delivery that a filter matches. */
export interface MatchingAction {
	/** The verb on the button: `Replay`. */
	readonly verb: string;
	/** Runs it, and returns how many it was done to. */
	readonly run: (options: {
		counted: Counted;
		onStep: (count: number) => void;
		signal: AbortSignal;
	}) => Promise<number>;
	/** Progress: `12 of 80 are sent again.` follows the numbers with `are sent again`. */
	readonly doing: string;
	/** The result, after the deliveries that it was done to: `are being sent again, oldest first`. */
	readonly done: (count: number) => string;
	/** Why it wasn't done to some that were counted. */
	readonly skipped: string;
}

interface ActOnMatchingProps {
	projectId: string;
	/** Must stay the same while this is shown, or have another `key`. */
	filter: AttemptFilter;
	action: MatchingAction;
	/** What will happen, after counting. */
	preview: (counted: Counted) => ReactNode;
	/** Shown if nothing matches. */
	none: string;
	/** Above the question, such as a choice between filters. */
	children?: ReactNode;
	onClose: () => void;
}

type Progressed =
	| { readonly state: "asking" }
	| { readonly state: "running"; readonly count: number }
	| { readonly state: "over"; readonly count: number; readonly stopped: boolean };

/** The inside of a dialog that acts on what a filter matches: counts first, says what will happen, then shows progress. */
export function ActOnMatching({ projectId, filter, action, preview, none, children, onClose }: ActOnMatchingProps) {
	const [progress, setProgress] = useState<Progressed>({ state: "asking" });
	const [problem, setProblem] = useState<unknown>(null);
	const [soFar, setSoFar] = useState(0);
	const stop = useRef<AbortController | null>(null);
	useEffect(() => () => stop.current?.abort(), []);
	const counted = useQuery({
		queryKey: ["matching", projectId, filter],
		queryFn: ({ signal }) => countMatching(projectId, filter, { onStep: setSoFar, signal }),
		gcTime: 0,
		staleTime: "static",
	});
	const total = counted.data?.count ?? 0;
	const { isConfirmed, field } = useTypeToConfirm(total);

	const run = async (what: Counted) => {
		stop.current = new AbortController();
		const { signal } = stop.current;
		const onStep = (count: number) => setProgress({ state: "running", count });
		setProblem(null);
		onStep(0);
		try {
			const count = await action.run({ counted: what, onStep, signal });
			setProgress({ state: "over", count, stopped: signal.aborted });
		} catch (error) {
			setProblem(error);
			setProgress({ state: "asking" });
		}
	};

	if (progress.state === "running") {
		return (
			<Stack>
				<Text size="sm" aria-live="polite">
					{formatCount(progress.count)} of {formatCount(total)} {action.doing}.
				</Text>
				<Progress value={share(progress.count, total)} aria-label="Progress" />
				<Group justify="flex-end">
					<Button variant="default" onClick={() => stop.current?.abort()}>
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
					{resultInWords({ count, total, stopped }, action)}
				</Text>
				<Progress value={stopped ? share(count, total) : 100} color={stopped ? "gray" : "teal"} aria-label="Progress" />
				<Group justify="flex-end">
					<DoneButton onClick={onClose} />
				</Group>
			</Stack>
		);
	}
	return (
		<Stack>
			{children}
			{counted.error !== null ? (
				<ErrorState error={counted.error} onRetry={counted.refetch} />
			) : counted.data === undefined ? (
				<Stack gap="xs">
					<Text size="sm">Counting: {plural(soFar, "delivery")} so far.</Text>
					<Progress value={100} animated aria-label="Counting" />
				</Stack>
			) : (
				<div aria-live="polite">{total === 0 ? <Text size="sm">{none}</Text> : preview(counted.data)}</div>
			)}
			{field}
			{problem === null ? null : <ErrorState error={problem} />}
			<Group justify="flex-end" gap="xs">
				<Button variant="default" onClick={onClose}>
					{counted.data !== undefined && total === 0 ? "Close" : "Cancel"}
				</Button>
				{counted.data === undefined || total === 0 ? null : (
					<Button onClick={() => void run(counted.data)} disabled={!isConfirmed}>
						{action.verb} {plural(total, "delivery")}
					</Button>
				)}
			</Group>
		</Stack>
	);
}

/** Takes the focus, which the button that began it had. */
function DoneButton({ onClick }: { onClick: () => void }) {
	const button = useRef<HTMLButtonElement>(null);
	useEffect(() => button.current?.focus(), []);
	return (
		<Button ref={button} onClick={onClick}>
			Done
		</Button>
	);
}

const share = (count: number, total: number) => (total === 0 ? 0 : Math.min(100, (count / total) * 100));

interface Result {
	readonly count: number;
	readonly total: number;
	readonly stopped: boolean;
}

function resultInWords({ count, total, stopped }: Result, { done, skipped }: MatchingAction): string {
	const said = `${plural(count, "delivery")} ${done(count)}.`;
	const rest = Math.max(0, total - count);
	if (rest === 0) return said;
	if (stopped) return `Stopped. ${said} ${formatCount(rest)} ${isAre(rest)} unchanged.`;
	return `${said} ${formatCount(rest)} ${rest === 1 ? "was" : "were"} skipped, because ${skipped}.`;
}

import { ActionIcon, Box, Button, Group, Menu } from "@mantine/core";
import { IconCheck, IconDots, IconDownload, IconReload } from "@tabler/icons-react";
import { useState } from "react";
import { type AttemptFilter, attemptsExportUrl } from "../../../api/attempts.ts";
import { deliveriesExportUrl } from "../../../api/deliveries.ts";
import { useRole } from "../../../api/session.ts";
import { serverNow } from "../../../lib/text/server-time.ts";
import { ForRole } from "../../../ui/account/for-role.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import type { NameOf } from "../filters/filter-words.ts";
import { attemptFilter, deliveryFilter, type LogsSearch, lastAttemptFilter, viewOf } from "../search.ts";
import { DismissAll } from "./dismiss-all.tsx";
import { matchingOf, ReplayAll } from "./replay-all.tsx";

const EXPORTS = [
	{ format: "csv", label: "Export as CSV" },
	{ format: "jsonl", label: "Export as JSON lines" },
] as const;

const ACTIONS = {
	replay: { title: "Replay all matching", Question: ReplayAll },
	dismiss: { title: "Dismiss all failed", Question: DismissAll },
} as const;
type Action = keyof typeof ACTIONS;

interface LogActionsProps {
	projectId: string;
	search: LogsSearch;
	nameOf: NameOf;
	/** Whether there is anything to act on. What has begun continues, even if the list becomes empty meanwhile. */
	offered: boolean;
	/** Called when the dialog of an action is closed, whether or not it was done. */
	onClosed: (() => void) | undefined;
}

/** What can be done with everything that the log's filters match. */
export function LogActions({ projectId, search, nameOf, offered, onClosed }: LogActionsProps) {
	// It stays while the dialog fades out.
	const [asked, setAsked] = useState<Action>("replay");
	/** What it is about; null while the dialog is closed. */
	const [filter, setFilter] = useState<AttemptFilter | null>(null);
	const ask = (what: Action) => {
		setFilter(matchingOf(search, serverNow()));
		setAsked(what);
	};
	const close = () => {
		setFilter(null);
		onClosed?.();
	};
	const { title, Question } = ACTIONS[asked];
	return (
		<>
			{offered ? <Buttons projectId={projectId} search={search} onAsk={ask} /> : null}
			<Dialog opened={filter !== null} onClose={close} title={title} size="lg" closeOnClickOutside={false}>
				{filter === null ? null : <Question projectId={projectId} filter={filter} nameOf={nameOf} onClose={close} />}
			</Dialog>
		</>
	);
}

interface ButtonsProps {
	projectId: string;
	search: LogsSearch;
	onAsk: (what: Action) => void;
}

function Buttons({ projectId, search, onAsk }: ButtonsProps) {
	const { may } = useRole();
	const mayHaveFailed = lastAttemptFilter(search).status?.includes("failed") ?? true;
	const exportUrl = (format: "csv" | "jsonl") =>
		viewOf(search) === "attempts"
			? attemptsExportUrl(projectId, attemptFilter(search), format)
			: deliveriesExportUrl(projectId, deliveryFilter(search), format);
	return (
		// If there isn't room for both next to the views, they go to the next line together.
		<Group gap={10} wrap="nowrap">
			<ForRole needs="developer">
				<Button variant="default" leftSection={<IconReload size={16} aria-hidden />} onClick={() => onAsk("replay")}>
					{/* On phones, all actions fit into one line. */}
					<span>
						Replay all
						<Box component="span" visibleFrom="xs">
							{" "}
							matching
						</Box>
					</span>
				</Button>
			</ForRole>
			<Menu position="bottom-end">
				<Menu.Target>
					<ActionIcon variant="default" size={36} radius="md" aria-label="More actions">
						<IconDots size={16} aria-hidden />
					</ActionIcon>
				</Menu.Target>
				<Menu.Dropdown>
					{EXPORTS.map(({ format, label }) => (
						<Menu.Item
							key={format}
							leftSection={<IconDownload size={16} aria-hidden />}
							component="a"
							href={exportUrl(format)}
							download
						>
							{label}
						</Menu.Item>
					))}
					{may("developer") && mayHaveFailed ? (
						<>
							<Menu.Divider />
							<Menu.Item leftSection={<IconCheck size={16} aria-hidden />} onClick={() => onAsk("dismiss")}>
								Dismiss all failed …
							</Menu.Item>
						</>
					) : null}
				</Menu.Dropdown>
			</Menu>
		</Group>
	);
}

import { ActionIcon, Button, Menu } from "@mantine/core";
import { IconCheck, IconDots, IconReload } from "@tabler/icons-react";
import { useState } from "react";
import { useRole } from "../../api/session.ts";
import { ForRole } from "../../ui/for-role.tsx";
import { DismissAll } from "./dismiss-all.tsx";
import type { NameOf } from "./filter-words.ts";
import { type MatchingRequest, matchingOf, ReplayAll } from "./replay-all.tsx";
import type { LogsSearch } from "./search.ts";

interface LogActionsProps {
	projectId: string;
	search: LogsSearch;
	nameOf: NameOf;
}

/** What can be done with everything that the log's filters match. */
export function LogActions({ projectId, search, nameOf }: LogActionsProps) {
	const { may } = useRole();
	const [asked, setAsked] = useState<"replay" | "dismiss" | null>(null);
	const [request, setRequest] = useState<MatchingRequest | null>(null);
	const ask = (what: "replay" | "dismiss") => {
		setRequest(matchingOf(search, Date.now()));
		setAsked(what);
	};
	const close = () => setAsked(null);
	// The API's filters for these take one webhook and one type.
	const canAct = search.webhooks === undefined && search.types === undefined && search.response === undefined;
	return (
		<>
			{canAct ? (
				<ForRole needs="developer">
					{(disabled) => (
						<Button
							variant="default"
							leftSection={<IconReload size={16} aria-hidden />}
							disabled={disabled}
							onClick={() => ask("replay")}
						>
							Replay all matching
						</Button>
					)}
				</ForRole>
			) : null}
			{canAct && may("developer") ? (
				<Menu position="bottom-end">
					<Menu.Target>
						<ActionIcon variant="default" size={36} radius="md" aria-label="More actions">
							<IconDots size={16} aria-hidden />
						</ActionIcon>
					</Menu.Target>
					<Menu.Dropdown>
						<Menu.Item leftSection={<IconCheck size={16} aria-hidden />} onClick={() => ask("dismiss")}>
							Dismiss all failed …
						</Menu.Item>
					</Menu.Dropdown>
				</Menu>
			) : null}
			<ReplayAll projectId={projectId} request={asked === "replay" ? request : null} nameOf={nameOf} onClose={close} />
			<DismissAll
				projectId={projectId}
				request={asked === "dismiss" ? request : null}
				nameOf={nameOf}
				onClose={close}
			/>
		</>
	);
}

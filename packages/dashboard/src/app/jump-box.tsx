import { Kbd, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { useProjectId } from "../api/session.ts";
import { jumpTarget } from "../lib/ids.ts";
import { useIsClaimed } from "../ui/key-claims.ts";
import { useShortcuts } from "../ui/use-shortcuts.ts";
import classes from "./jump-box.module.css";

const UNKNOWN = "Not an id. Paste one that starts with evt_, att_, wh_ or proj_.";

/** Opens the page for an id. `/` focuses it, unless a page has its own field for that. */
export function JumpBox() {
	const projectId = useProjectId();
	const navigate = useNavigate();
	const field = useRef<HTMLInputElement>(null);
	const [text, setText] = useState("");
	const [problem, setProblem] = useState<string | null>(null);
	useShortcuts({ "/": () => field.current?.focus() });
	const keyIsTaken = useIsClaimed("/");

	const jump = () => {
		const { kind, id } = jumpTarget(text);
		if (id === "") return;
		if (kind === "unknown") return setProblem(UNKNOWN);
		if (kind === "attempt") {
			void navigate({ to: "/p/$projectId/logs/$attemptId", params: { projectId, attemptId: id } });
		} else if (kind === "event") {
			void navigate({ to: "/p/$projectId/logs", params: { projectId }, search: { event_id: id } });
		} else if (kind === "webhook") {
			void navigate({ to: "/p/$projectId/webhooks/$webhookId", params: { projectId, webhookId: id } });
		} else {
			void navigate({ to: "/p/$projectId", params: { projectId: id } });
		}
		setText("");
		field.current?.blur();
	};

	return (
		<form
			className={classes.form}
			onSubmit={(event) => {
				event.preventDefault();
				jump();
			}}
		>
			<TextInput
				ref={field}
				aria-label="Jump to an id"
				placeholder="Jump to an id"
				leftSection={<IconSearch size={16} aria-hidden />}
				rightSection={
					text !== "" ? (
						<Kbd size="xs">↵</Kbd>
					) : keyIsTaken ? null : (
						<Kbd size="xs" visibleFrom="sm">
							/
						</Kbd>
					)
				}
				rightSectionPointerEvents="none"
				value={text}
				error={problem}
				classNames={{ error: classes.problem }}
				onChange={(event) => {
					setText(event.currentTarget.value);
					setProblem(null);
				}}
				onBlur={() => setProblem(null)}
				onKeyDown={(event) => {
					if (event.key === "Escape") field.current?.blur();
				}}
				autoComplete="off"
				spellCheck={false}
			/>
		</form>
	);
}

import { Kbd, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { useProjectId } from "../../api/session.ts";
import { choicesOf, searchFor } from "../../pages/logs/filters/search-choices.ts";
import { focusPage } from "../../ui/focus-page.ts";
import { useIsClaimed } from "../../ui/hooks/key-claims.ts";
import { useShortcuts } from "../../ui/hooks/use-shortcuts.ts";
import { useSingleKeys } from "../../ui/hooks/use-single-keys.ts";
import classes from "./jump-box.module.css";

/**
 * Opens the page for an id, or what the log has about an order, a customer or a text. `/` focuses it, unless a page has
 * its own field for that.
 */
export function JumpBox() {
	const projectId = useProjectId();
	const navigate = useNavigate();
	const field = useRef<HTMLInputElement>(null);
	const [text, setText] = useState("");
	useShortcuts({ "/": () => field.current?.focus() });
	const keyIsTaken = useIsClaimed("/");
	const hasKeys = useSingleKeys();

	const jump = () => {
		const [choice] = choicesOf(text);
		if (choice === undefined) return;
		const { kind, value } = choice;
		if (kind === "attempt") {
			void navigate({ to: "/p/$projectId/logs/$attemptId", params: { projectId, attemptId: value } });
		} else if (kind === "webhook") {
			void navigate({ to: "/p/$projectId/webhooks/$webhookId", params: { projectId, webhookId: value } });
		} else if (kind === "project") {
			void navigate({ to: "/p/$projectId", params: { projectId: value } });
		} else {
			void navigate({ to: "/p/$projectId/logs", params: { projectId }, search: searchFor(choice) });
		}
		setText("");
		focusPage();
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
				aria-label="Find an id, order or customer"
				placeholder="Id, order or customer"
				leftSection={<IconSearch size={16} aria-hidden />}
				rightSection={
					text !== "" ? (
						<Kbd size="xs">↵</Kbd>
					) : keyIsTaken || !hasKeys ? null : (
						<Kbd size="xs" visibleFrom="sm">
							/
						</Kbd>
					)
				}
				rightSectionPointerEvents="none"
				value={text}
				onChange={(event) => setText(event.currentTarget.value)}
				onKeyDown={(event) => {
					if (event.key === "Escape") focusPage();
				}}
				autoComplete="off"
				spellCheck={false}
			/>
		</form>
	);
}

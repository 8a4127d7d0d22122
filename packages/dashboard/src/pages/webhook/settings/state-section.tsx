import { Button, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { webhookHealthQuery } from "../../../api/health.ts";
import { pendingOf, pendingWords } from "../../../lib/attempts/pending.ts";
import { isAre } from "../../../lib/text/numbers.ts";
import { Section } from "../../../ui/page/page.tsx";
import { PauseDialog, ResumeDialog } from "../state-dialogs.tsx";
import type { SettingsProps } from "./settings-props.ts";

/** Pauses and resumes. */
export function StateSection({ projectId, webhook }: SettingsProps) {
	const { status } = webhook;
	const paused = status === "paused";
	/** The state that the question is about: it ends when someone else changes the state. */
	const [asked, setAsked] = useState<typeof status | null>(null);
	if (asked !== null && asked !== status) setAsked(null);
	const health = useQuery(webhookHealthQuery(projectId, webhook.id)).data ?? undefined;
	const waiting = pendingOf(health);
	const dialog = { projectId, webhook, opened: asked !== null, onClose: () => setAsked(null) };
	return (
		<Section title={paused ? "Paused" : "Active"}>
			<Group justify="space-between" gap="md">
				<Text size="sm" c="dimmed" flex="1 1 300px">
					{paused
						? `Nothing is sent.${health === undefined ? "" : waiting.total === 0 ? " Nothing is waiting." : ` ${pendingWords(waiting)} ${isAre(waiting.total)} waiting.`}`
						: "Events are sent as they happen. Pause it if your receiver is down for longer than the retries last."}
				</Text>
				<Button variant="default" onClick={() => setAsked(status)}>
					{paused ? "Resume" : "Pause"}
				</Button>
			</Group>
			{paused ? <ResumeDialog {...dialog} health={health} /> : <PauseDialog {...dialog} />}
		</Section>
	);
}

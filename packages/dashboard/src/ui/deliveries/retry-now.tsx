import { Button } from "@mantine/core";
import { IconPlayerTrackNext } from "@tabler/icons-react";
import { type DeliveryId, retryDelivery, retryWebhook } from "../../api/deliveries.ts";
import { type EventFacts, eventWords } from "../../lib/attempts/event-words.ts";
import type { Waiting } from "../../lib/health/health-facts.ts";
import { formatCount, plural } from "../../lib/text/numbers.ts";
import { isDue } from "../../lib/text/time.ts";
import { ForRole } from "../account/for-role.tsx";
import { useAction } from "../hooks/use-action.ts";
import { useNow } from "../hooks/use-now.ts";
import { notifyDone } from "../notify.tsx";

interface RetryNowProps {
	projectId: string;
	delivery: DeliveryId & EventFacts;
	/** When its next attempt is due, ISO 8601. */
	dueAt: string;
	/** Compact, for a row of a list. */
	inRow?: boolean;
	/** Names the row for screen readers: `purchase.completed to Accounting`. */
	what?: string;
	onDone?: (() => void) | undefined;
}

/** Makes a delivery's pending attempt immediately. Not offered once it is being sent anyway. */
export function RetryNow({ projectId, delivery, dueAt, inRow = false, what, onDone }: RetryNowProps) {
	const { busy, run } = useAction(async () => {
		await retryDelivery(projectId, delivery);
		notifyDone(`Retrying ${eventWords(delivery)} now.`);
		onDone?.();
	});
	const due = Date.parse(dueAt);
	if (isDue(due, useNow(due)) && !busy) return null;
	return (
		<ForRole needs="developer">
			<Button
				size={inRow ? "compact-xs" : "sm"}
				variant={inRow ? "default" : "filled"}
				{...(inRow ? {} : { leftSection: <IconPlayerTrackNext size={16} aria-hidden /> })}
				{...(what === undefined ? {} : { "aria-label": `Retry now: ${what}` })}
				loading={busy}
				onClick={(event) => {
					event.stopPropagation();
					void run();
				}}
			>
				{inRow ? "Retry" : "Retry now"}
			</Button>
		</ForRole>
	);
}

interface RetryAllNowProps {
	projectId: string;
	webhookId: string;
	/** Its pending retries. */
	waiting: Waiting;
	variant?: "default" | "filled";
	size?: "xs" | "sm";
}

/** Makes all pending attempts of a webhook immediately. */
export function RetryAllNow({
	projectId,
	webhookId,
	waiting: { count, tests },
	variant = "default",
	size = "sm",
}: RetryAllNowProps) {
	const { busy, run } = useAction(async () => {
		const early = await retryWebhook(projectId, webhookId);
		const what = plural(early, tests === 0 ? "delivery" : "attempt");
		notifyDone(early === 0 ? "Every retry is already due." : `Retrying ${what} now.`);
	});
	return (
		<ForRole needs="developer">
			<Button
				variant={variant}
				size={size}
				leftSection={<IconPlayerTrackNext size={16} aria-hidden />}
				loading={busy}
				onClick={() => void run()}
			>
				{count === 1 ? "Retry it now" : `Retry all ${tests === 0 ? plural(count, "delivery") : formatCount(count)} now`}
			</Button>
		</ForRole>
	);
}

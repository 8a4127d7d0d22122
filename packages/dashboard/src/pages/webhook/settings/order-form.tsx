import { Button, Group, NumberInput, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useEffect } from "react";
import { changeWebhook } from "../../../api/webhooks.ts";
import { formatCount } from "../../../lib/text/numbers.ts";
import { ForRole } from "../../../ui/account/for-role.tsx";
import { useFollow } from "../../../ui/hooks/use-follow.ts";
import { useSubmit } from "../../../ui/hooks/use-submit.ts";
import { notifyDone } from "../../../ui/notify.tsx";
import { Section } from "../../../ui/page/page.tsx";
import { ErrorState } from "../../../ui/page/states.tsx";
import type { FormProps } from "./settings-props.ts";

const AT_ONCE = { min: 1, max: 100 } as const;

/** How this number of concurrent first attempts affects the order. */
const costOf = (count: number) =>
	count <= 1
		? "Each event waits for the response to the previous one, so first attempts arrive in order. Only retries and replays arrive late."
		: `Up to ${formatCount(count)} events are in flight at a time. That's faster if your receiver is slow, but events can overtake each other, so your receiver has to order them by created_at.`;

/** How many first attempts may be in flight. */
export function OrderForm({ projectId, webhook, readOnly, onUnsaved }: FormProps) {
	const form = useForm({
		initialValues: { max_in_flight: webhook.max_in_flight },
		validate: {
			max_in_flight: (count) =>
				Number.isInteger(count) && count >= AT_ONCE.min && count <= AT_ONCE.max
					? null
					: `Enter a whole number from ${AT_ONCE.min} to ${AT_ONCE.max}.`,
		},
	});
	useFollow(form, { max_in_flight: webhook.max_in_flight });
	const { busy, problem, submit } = useSubmit(form, async ({ max_in_flight }) => {
		await changeWebhook(projectId, webhook.id, { max_in_flight });
		notifyDone("Saved.");
	});
	const count = form.values.max_in_flight;
	const dirty = count !== webhook.max_in_flight;
	useEffect(() => onUnsaved(dirty), [onUnsaved, dirty]);
	return (
		<Section title="Order and speed">
			<form onSubmit={form.onSubmit(submit)} noValidate>
				<Stack gap="sm">
					<Group align="flex-end" gap="sm">
						<NumberInput
							label="Events in flight"
							w={220}
							min={AT_ONCE.min}
							max={AT_ONCE.max}
							allowDecimal={false}
							allowNegative={false}
							disabled={readOnly}
							value={count}
							onChange={(value) => form.setFieldValue("max_in_flight", Number(value))}
							error={form.errors.max_in_flight}
						/>
						<ForRole needs="developer">
							<Button variant="default" disabled={!dirty || busy} onClick={() => form.reset()}>
								Discard
							</Button>

							<Button type="submit" loading={busy} disabled={!dirty}>
								Save
							</Button>
						</ForRole>
					</Group>
					<Text size="sm" c="dimmed" mih={63} aria-live="polite">
						{costOf(count)}
					</Text>
					{problem === null ? null : <ErrorState error={problem} />}
				</Stack>
			</form>
		</Section>
	);
}

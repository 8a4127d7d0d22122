import { NumberInput, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { changeWebhook } from "../../../api/webhooks.ts";
import { formatCount } from "../../../lib/text/numbers.ts";
import { useFollow } from "../../../ui/hooks/use-follow.ts";
import { useKeptDraft } from "../../../ui/hooks/use-kept-draft.ts";
import { notifyDone } from "../../../ui/notify.tsx";
import { SettingsForm } from "./settings-form.tsx";
import type { FormProps } from "./settings-props.ts";

const AT_ONCE = { min: 1, max: 100 } as const;

/** How this number of concurrent first attempts affects the order. */
const costOf = (count: number) =>
	count <= 1
		? "Each event waits for the response to the previous one, so first attempts arrive in order. Only retries and replays arrive out of order."
		: `Up to ${formatCount(count)} events are in flight at a time. That's faster if your receiver is slow, but events can overtake each other, so your receiver has to order them by created_at.`;

/** How many first attempts may be in flight. */
export function OrderForm({ projectId, webhook, readOnly, onUnsaved }: FormProps) {
	// A text while the field is empty.
	const form = useForm<{ max_in_flight: number | string }>({
		initialValues: { max_in_flight: webhook.max_in_flight },
		validate: {
			max_in_flight: (count) =>
				Number.isInteger(count) && Number(count) >= AT_ONCE.min && Number(count) <= AT_ONCE.max
					? null
					: `Enter a whole number from ${AT_ONCE.min} to ${AT_ONCE.max}.`,
		},
	});
	const before = { max_in_flight: webhook.max_in_flight };
	useFollow(form, before);
	useKeptDraft(`${webhook.id} order`, form, before);
	const save = async ({ max_in_flight }: typeof form.values) => {
		await changeWebhook(projectId, webhook.id, { max_in_flight: Number(max_in_flight) });
		notifyDone("Saved.");
	};
	const count = form.values.max_in_flight;
	const dirty = count !== webhook.max_in_flight;
	return (
		<SettingsForm
			title="Order and speed"
			form={form}
			save={save}
			dirty={dirty}
			readOnly={readOnly}
			onUnsaved={onUnsaved}
		>
			<NumberInput
				label="Events in flight"
				w={220}
				maw="100%"
				min={AT_ONCE.min}
				max={AT_ONCE.max}
				allowDecimal={false}
				allowNegative={false}
				disabled={readOnly}
				value={count}
				onChange={(value) => form.setFieldValue("max_in_flight", value)}
				error={form.errors.max_in_flight}
			/>
			<Text size="sm" c="dimmed" mih={{ base: 63, sm: 42 }} aria-live="polite">
				{costOf(Number(count))}
			</Text>
		</SettingsForm>
	);
}

import { Switch, Text, TextInput } from "@mantine/core";
import { type UseFormReturnType, useForm } from "@mantine/form";
import type { EventType } from "../../../api/model.ts";
import { useSession } from "../../../api/session.ts";
import { textFault } from "../../../lib/account/account-rules.ts";
import { EventPicker } from "./event-picker.tsx";
import { UrlField } from "./url-field.tsx";
import { eventsFault, urlFault } from "./webhook-faults.ts";

export interface WebhookValues {
	url: string;
	description: string;
	events: EventType[];
	standard_webhooks: boolean;
}

/** @param saved what the webhook has; for a new one, what the form starts with */
export function useWebhookForm(saved: WebhookValues) {
	const { max_description_length: max } = useSession();
	return useForm({
		initialValues: saved,
		validate: {
			url: urlFault,
			// One from before the operator lowered the limit may stay.
			description: (text) => (text === saved.description ? null : textFault(text, { min: 0, max })),
			events: eventsFault,
		},
	});
}

interface WebhookFieldsProps {
	/** The webhook that is being changed; without it, a new one. */
	webhookId?: string;
	form: UseFormReturnType<WebhookValues>;
	/** Explains the description. */
	description: string;
	readOnly?: boolean;
	/** Called with the type whose sample is shown. */
	onLook?: (type: EventType) => void;
}

/** Where a webhook sends, what it is called, and what it receives. */
export function WebhookFields({ webhookId, form, description: hint, readOnly = false, onLook }: WebhookFieldsProps) {
	const { url, description, events } = form.values;
	const { max_description_length: max } = useSession();
	// Characters, as the API counts them.
	const { length } = [...description];
	return (
		<>
			<UrlField
				webhookId={webhookId}
				value={url}
				onChange={(next) => form.setFieldValue("url", next)}
				error={form.errors.url}
				readOnly={readOnly}
			/>
			<TextInput
				label="Description"
				description={hint}
				autoComplete="off"
				readOnly={readOnly}
				{...form.getInputProps("description")}
				rightSectionWidth={72}
				rightSection={
					<Text size="xs" c="dimmed" aria-label={`${length} of ${max} characters`}>
						{length}/{max}
					</Text>
				}
			/>
			<EventPicker
				value={events}
				onChange={(next) => form.setFieldValue("events", next)}
				error={form.errors.events}
				disabled={readOnly}
				{...(onLook && { onLook })}
			/>
			<Switch
				label="Standard Webhooks headers"
				description="Also sends webhook-id, webhook-timestamp and webhook-signature, so that libraries of the Standard Webhooks specification verify requests with the same secret."
				disabled={readOnly}
				{...form.getInputProps("standard_webhooks", { type: "checkbox" })}
			/>
		</>
	);
}

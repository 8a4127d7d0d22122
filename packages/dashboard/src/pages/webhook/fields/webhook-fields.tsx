import { Text, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import type { EventType } from "../../../api/model.ts";
import { EventPicker } from "./event-picker.tsx";
import { StandardSwitch } from "./standard-switch.tsx";
import { UrlField } from "./url-field.tsx";
import { DESCRIPTION_LENGTH, descriptionFault, eventsFault, urlFault } from "./webhook-faults.ts";

export interface WebhookValues {
	url: string;
	description: string;
	events: EventType[];
	standard_webhooks: boolean;
}

export const webhookForm = (initialValues: WebhookValues) => ({
	initialValues,
	validate: { url: urlFault, description: descriptionFault, events: eventsFault },
});

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
	const { url, description, events, standard_webhooks } = form.values;
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
					<Text size="xs" c="dimmed" aria-label={`${length} of ${DESCRIPTION_LENGTH} characters`}>
						{length}/{DESCRIPTION_LENGTH}
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
			<StandardSwitch
				value={standard_webhooks}
				onChange={(next) => form.setFieldValue("standard_webhooks", next)}
				disabled={readOnly}
			/>
		</>
	);
}

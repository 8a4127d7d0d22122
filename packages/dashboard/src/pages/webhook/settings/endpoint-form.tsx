import { Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { changeWebhook, type Webhook } from "../../../api/webhooks.ts";
import { typedName } from "../../../lib/text/names.ts";
import { changedOf, useFollow } from "../../../ui/hooks/use-follow.ts";
import { notifyDone } from "../../../ui/notify.tsx";
import { EventPicker } from "../fields/event-picker.tsx";
import { StandardSwitch } from "../fields/standard-switch.tsx";
import { UrlField } from "../fields/url-field.tsx";
import { DESCRIPTION_LENGTH, descriptionFault, eventsFault, urlFault } from "../fields/webhook-faults.ts";
import { SettingsForm } from "./settings-form.tsx";
import type { FormProps } from "./settings-props.ts";

const savedOf = ({ url, description, events, standard_webhooks }: Webhook) => ({
	url,
	description,
	events: [...events],
	standard_webhooks,
});

/** Where a webhook sends, what it is called, and what it receives. */
export function EndpointForm({ projectId, webhook, readOnly, onUnsaved }: FormProps) {
	const before = savedOf(webhook);
	const form = useForm({
		initialValues: before,
		validate: { url: urlFault, description: descriptionFault, events: eventsFault },
	});
	useFollow(form, before);
	const save = async ({ url, description, ...rest }: typeof form.values) => {
		const values = { url: url.trim(), description: typedName(description), ...rest };
		const kept = savedOf(await changeWebhook(projectId, webhook.id, changedOf(values, before)));
		// Keep what the user typed in the meantime.
		const typed = changedOf(form.getValues(), values);
		form.setInitialValues(kept);
		form.setValues({ ...kept, ...typed });
		notifyDone("Saved. Retries and replays use it from now on, too.");
	};
	const { url, description, events, standard_webhooks } = form.values;
	const dirty = Object.keys(changedOf(form.values, before)).length > 0;
	return (
		<SettingsForm title="Endpoint" form={form} save={save} dirty={dirty} readOnly={readOnly} onUnsaved={onUnsaved}>
			<UrlField
				value={url}
				onChange={(next) => form.setFieldValue("url", next)}
				error={form.errors.url}
				readOnly={readOnly}
			/>
			<TextInput
				label="Description"
				description="A name for your own use."
				autoComplete="off"
				readOnly={readOnly}
				{...form.getInputProps("description")}
				rightSectionWidth={72}
				rightSection={
					<Text size="xs" c="dimmed" aria-label={`${description.length} of ${DESCRIPTION_LENGTH} characters`}>
						{description.length}/{DESCRIPTION_LENGTH}
					</Text>
				}
			/>
			<EventPicker
				value={events}
				onChange={(next) => form.setFieldValue("events", next)}
				error={form.errors.events}
				disabled={readOnly}
			/>
			<StandardSwitch
				value={standard_webhooks}
				onChange={(next) => form.setFieldValue("standard_webhooks", next)}
				disabled={readOnly}
			/>
		</SettingsForm>
	);
}

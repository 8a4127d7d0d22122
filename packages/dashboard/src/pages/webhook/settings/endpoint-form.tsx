import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { changeWebhook } from "../../../api/webhooks.ts";
import { ForRole } from "../../../ui/account/for-role.tsx";
import { useSubmit } from "../../../ui/hooks/use-submit.ts";
import { notifyDone } from "../../../ui/notify.tsx";
import { Section } from "../../../ui/page/page.tsx";
import { ErrorState } from "../../../ui/page/states.tsx";
import { EventPicker } from "../fields/event-picker.tsx";
import { StandardSwitch } from "../fields/standard-switch.tsx";
import { UrlField } from "../fields/url-field.tsx";
import { DESCRIPTION_LENGTH, descriptionFault, eventsFault, urlFault } from "../fields/webhook-faults.ts";
import type { SettingsProps } from "./settings-props.ts";

/** Where a webhook sends, what it is called, and what it receives. */
export function EndpointForm({ projectId, webhook, readOnly }: SettingsProps) {
	const form = useForm({
		initialValues: {
			url: webhook.url,
			description: webhook.description,
			events: [...webhook.events],
			standard_webhooks: webhook.standard_webhooks,
		},
		validate: { url: urlFault, description: descriptionFault, events: eventsFault },
	});
	const { busy, problem, submit } = useSubmit(form, async (values) => {
		const saved = await changeWebhook(projectId, webhook.id, {
			url: values.url.trim(),
			description: values.description.trim(),
			events: values.events,
			// Only if changed: a secret that is too old must not keep the rest from being saved.
			...(values.standard_webhooks !== webhook.standard_webhooks && { standard_webhooks: values.standard_webhooks }),
		});
		const { url, description, events, standard_webhooks } = saved;
		const kept = { url, description, events: [...events], standard_webhooks };
		form.setInitialValues(kept);
		form.setValues(kept);
		notifyDone("Saved. Retries and replays use it from now on, too.");
	});
	const { url, description, events, standard_webhooks } = form.values;
	const dirty =
		url !== webhook.url ||
		description !== webhook.description ||
		standard_webhooks !== webhook.standard_webhooks ||
		events.toSorted().join() !== webhook.events.toSorted().join();
	return (
		<Section title="Endpoint">
			<form onSubmit={form.onSubmit(submit)} noValidate>
				<Stack gap="lg">
					<UrlField
						value={url}
						onChange={(next) => form.setFieldValue("url", next)}
						error={form.errors.url}
						disabled={readOnly}
					/>
					<TextInput
						label="Description"
						description="A name for your own use."
						autoComplete="off"
						disabled={readOnly}
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
					{problem === null ? null : <ErrorState error={problem} />}
					<Group justify="flex-end" gap="xs">
						<Button variant="default" disabled={!dirty || busy} onClick={() => form.reset()}>
							Discard
						</Button>
						<ForRole needs="developer">
							{(disabled) => (
								<Button type="submit" loading={busy} disabled={disabled || !dirty}>
									Save
								</Button>
							)}
						</ForRole>
					</Group>
				</Stack>
			</form>
		</Section>
	);
}

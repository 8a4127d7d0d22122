import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { changeWebhook } from "../../api/webhooks.ts";
import { ForRole } from "../../ui/for-role.tsx";
import { notifyDone } from "../../ui/notify.tsx";
import { Section } from "../../ui/page.tsx";
import { ErrorState } from "../../ui/states.tsx";
import { useSubmit } from "../../ui/use-submit.ts";
import { EventPicker } from "./event-picker.tsx";
import type { SettingsProps } from "./settings-props.ts";
import { UrlField } from "./url-field.tsx";
import { DESCRIPTION_LENGTH, descriptionFault, eventsFault, urlFault } from "./webhook-faults.ts";

/** Where a webhook sends, what it is called, and what it receives. */
export function EndpointForm({ projectId, webhook, readOnly }: SettingsProps) {
	const form = useForm({
		initialValues: { url: webhook.url, description: webhook.description, events: [...webhook.events] },
		validate: { url: urlFault, description: descriptionFault, events: eventsFault },
	});
	const { busy, problem, submit } = useSubmit(form, async (values) => {
		const saved = await changeWebhook(projectId, webhook.id, {
			url: values.url.trim(),
			description: values.description.trim(),
			events: values.events,
		});
		const kept = { url: saved.url, description: saved.description, events: [...saved.events] };
		form.setInitialValues(kept);
		form.setValues(kept);
		notifyDone("Saved. Retries and replays use it from now on, too.");
	});
	const { url, description, events } = form.values;
	const dirty =
		url !== webhook.url ||
		description !== webhook.description ||
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

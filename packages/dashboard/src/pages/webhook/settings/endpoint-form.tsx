import { changeWebhook, type Webhook } from "../../../api/webhooks.ts";
import { typedName } from "../../../lib/text/names.ts";
import { changedOf, useFollow } from "../../../ui/hooks/use-follow.ts";
import { useKeptDraft } from "../../../ui/hooks/use-kept-draft.ts";
import { notifyDone } from "../../../ui/notify.tsx";
import { useWebhookForm, WebhookFields } from "../fields/webhook-fields.tsx";
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
	const form = useWebhookForm(before);
	useFollow(form, before);
	useKeptDraft(`${webhook.id} endpoint`, form, before);
	const save = async ({ url, description, ...rest }: typeof form.values) => {
		const values = { url: url.trim(), description: typedName(description), ...rest };
		const kept = savedOf(await changeWebhook(projectId, webhook.id, changedOf(values, before)));
		// Keep what the user typed in the meantime.
		const typed = changedOf(form.getValues(), values);
		form.setInitialValues(kept);
		form.setValues({ ...kept, ...typed });
		notifyDone("Saved. Retries and replays use it from now on, too.");
	};
	const dirty = Object.keys(changedOf(form.values, before)).length > 0;
	return (
		<SettingsForm title="Endpoint" form={form} save={save} dirty={dirty} readOnly={readOnly} onUnsaved={onUnsaved}>
			<WebhookFields webhookId={webhook.id} form={form} description="A name for your own use." readOnly={readOnly} />
		</SettingsForm>
	);
}

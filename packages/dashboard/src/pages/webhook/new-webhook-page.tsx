import { Grid, Stack, Title } from "@mantine/core";
import { IconWebhook } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { EventType } from "../../api/model.ts";
import { useProjectId, useRole, useSession } from "../../api/session.ts";
import { createWebhook } from "../../api/webhooks.ts";
import { keepSecret } from "../../lib/account/kept-secret.ts";
import { typedName } from "../../lib/text/names.ts";
import { plural } from "../../lib/text/numbers.ts";
import { changedOf } from "../../ui/hooks/use-follow.ts";
import { useKeptDraft } from "../../ui/hooks/use-kept-draft.ts";
import { LeaveGuard } from "../../ui/leave-guard.tsx";
import { Page, PageHeader, Section } from "../../ui/page/page.tsx";
import { EmptyState } from "../../ui/page/states.tsx";
import { SubmitForm } from "../../ui/submit-form.tsx";
import { usableUrl } from "./fields/webhook-faults.ts";
import { useWebhookForm, WebhookFields } from "./fields/webhook-fields.tsx";
import { RequestPreview, ResponseRules } from "./request-preview.tsx";

const SAMPLE_TYPE = "purchase.completed";
const EMPTY = { url: "", description: "", events: [] as EventType[], standard_webhooks: false };

/** A summary of the choices so far: which events go where. */
function firstLine(url: string, events: number): string {
	const where = usableUrl(url)?.host ?? null;
	if (where === null && events === 0) return "Choose a URL and the events to send.";
	if (where === null) return `${plural(events, "event type")} will be sent once you enter an https URL.`;
	if (events === 0) return `Events are sent to ${where} once you choose which.`;
	return `${plural(events, "event type")} will be sent to ${where}.`;
}

/** A new webhook, for those who may create one. */
export function NewWebhookPage() {
	const { may } = useRole();
	if (may("developer")) return <NewWebhook />;
	return (
		<Page>
			<PageHeader title="New webhook" />
			<EmptyState title="For developers and owners" icon={<IconWebhook size={26} />}>
				Only the project's developers and owners can create webhooks. Ask one of them to create it or to give you the
				role.
			</EmptyState>
		</Page>
	);
}

/** Registers a webhook and then opens its page, which shows its secret, once. */
function NewWebhook() {
	const projectId = useProjectId();
	const navigate = useNavigate();
	const account = useSession().account.id;
	const [looked, setLooked] = useState<EventType | null>(null);
	const form = useWebhookForm(EMPTY);
	useKeptDraft(`${projectId} new webhook`, form, EMPTY);
	const create = async ({ url, description, ...rest }: typeof form.values) => {
		const fields = { url: url.trim(), description: typedName(description), ...rest };
		const { id, secret } = await createWebhook(projectId, fields);
		// The webhook's page shows it, so that a reload neither loses the secret nor creates another webhook.
		keepSecret({ account, owner: id, title: "Webhook created: store its signing secret", secret, at: Date.now() });
		await navigate({
			to: "/p/$projectId/webhooks/$webhookId",
			params: { projectId, webhookId: id },
			search: {},
			replace: true,
			ignoreBlocker: true,
		});
	};
	const { url, events, standard_webhooks } = form.values;
	const previewed = looked !== null && events.includes(looked) ? looked : (events[0] ?? SAMPLE_TYPE);
	const unsaved = Object.keys(changedOf(form.values, EMPTY)).length > 0;
	return (
		<Page>
			<LeaveGuard unsaved={unsaved}>The new webhook isn't created yet.</LeaveGuard>
			<PageHeader title="New webhook">{firstLine(url.trim(), events.length)}</PageHeader>
			<Grid gap="xl">
				<Grid.Col span={{ base: 12, lg: 7 }}>
					<Section>
						<SubmitForm
							form={form}
							send={create}
							action="Create webhook"
							gap="lg"
							onCancel={() => {
								void navigate({ to: "/p/$projectId/webhooks", params: { projectId }, ignoreBlocker: true });
							}}
						>
							<WebhookFields
								form={form}
								description="A name for your own use, such as Accounting, Chat, or Warehouse orders."
								onLook={setLooked}
							/>
						</SubmitForm>
					</Section>
				</Grid.Col>
				<Grid.Col span={{ base: 12, lg: 5 }}>
					<Stack gap="sm" pos="sticky" top={84}>
						<Title order={2} size="h5">
							What your receiver gets
						</Title>
						<RequestPreview url={url.trim()} type={previewed} standard={standard_webhooks} />
						<ResponseRules />
					</Stack>
				</Grid.Col>
			</Grid>
		</Page>
	);
}

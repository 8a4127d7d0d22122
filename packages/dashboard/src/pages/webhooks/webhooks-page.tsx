import { Button, Skeleton } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { IconPlus, IconWebhook } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { healthQuery } from "../../api/health.ts";
import { useProjectId, useRole } from "../../api/session.ts";
import { webhooksQuery } from "../../api/webhooks.ts";
import { listSentence } from "../../lib/health/health.ts";
import { ForRole } from "../../ui/account/for-role.tsx";
import { Page, PageHeader, Section } from "../../ui/page/page.tsx";
import { EmptyState, ErrorState } from "../../ui/page/states.tsx";
import { EXAMPLE_ROWS } from "./example-rows.ts";
import { SampleDialog } from "./sample-dialog.tsx";
import { WebhookCards } from "./webhook-cards.tsx";
import type { WebhookRow } from "./webhook-cells.tsx";
import { WebhooksTable } from "./webhooks-table.tsx";

const NARROW = "(max-width: 48em)";

/** All webhooks of the project and their health. */
export function WebhooksPage() {
	const projectId = useProjectId();
	const webhooks = useQuery(webhooksQuery(projectId));
	const health = useQuery(healthQuery(projectId));
	const { may } = useRole();
	const narrow = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false });
	const error = webhooks.data === undefined ? webhooks.error : health.data === undefined ? health.error : null;
	const rows = joined(webhooks.data, health.data);
	return (
		<Page>
			<PageHeader
				title="Webhooks"
				actions={
					rows?.length === 0 ? undefined : (
						<>
							<PublishSample />
							<NewWebhook projectId={projectId} />
						</>
					)
				}
			>
				{rows === undefined
					? error === null && <Skeleton height={16} width={220} my={4} />
					: listSentence(
							rows.map(({ webhook, health: one }) => ({
								state: webhook.status === "paused" ? "paused" : (one?.state ?? "idle"),
							})),
							rows.length,
						)}
			</PageHeader>
			{error === null ? null : (
				<ErrorState error={error} onRetry={() => Promise.all([webhooks.refetch(), health.refetch()])} />
			)}
			{rows?.length === 0 ? (
				<EmptyState
					title="No webhooks yet"
					icon={<IconWebhook size={26} />}
					action={may("developer") ? <NewWebhook projectId={projectId} /> : undefined}
					preview={narrow ? undefined : <WebhooksTable projectId={projectId} rows={EXAMPLE_ROWS} />}
				>
					A webhook sends your store's events to a URL of yours, such as orders to accounting or refunds to a chat,
					signed and retried until they arrive.
				</EmptyState>
			) : error !== null && rows === undefined ? null : narrow ? (
				<WebhookCards projectId={projectId} rows={rows} />
			) : (
				<Section flush>
					<WebhooksTable projectId={projectId} rows={rows} />
				</Section>
			)}
		</Page>
	);
}

function joined(
	webhooks: readonly WebhookRow["webhook"][] | undefined,
	healths: readonly NonNullable<WebhookRow["health"]>[] | undefined,
): readonly WebhookRow[] | undefined {
	if (webhooks === undefined || healths === undefined) return undefined;
	const byId = new Map(healths.map((health) => [health.webhook_id, health]));
	return webhooks.map((webhook) => ({ webhook, health: byId.get(webhook.id) }));
}

function PublishSample() {
	const [opened, setOpened] = useState(false);
	return (
		<>
			<ForRole needs="developer">
				{(disabled) => (
					<Button variant="default" disabled={disabled} onClick={() => setOpened(true)}>
						Publish a sample
					</Button>
				)}
			</ForRole>
			<SampleDialog opened={opened} onClose={() => setOpened(false)} />
		</>
	);
}

function NewWebhook({ projectId }: { projectId: string }) {
	return (
		<ForRole needs="developer">
			{(disabled) =>
				disabled ? (
					<Button leftSection={<IconPlus size={16} aria-hidden />} disabled>
						New webhook
					</Button>
				) : (
					<Button
						leftSection={<IconPlus size={16} aria-hidden />}
						renderRoot={(props) => <Link {...props} to="/p/$projectId/webhooks/new" params={{ projectId }} />}
					>
						New webhook
					</Button>
				)
			}
		</ForRole>
	);
}

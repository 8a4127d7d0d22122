import { Button, Skeleton } from "@mantine/core";
import { IconFilterOff, IconPlus, IconWebhook } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { healthQuery } from "../../api/health.ts";
import { useProjectId, useRole } from "../../api/session.ts";
import { webhooksQuery } from "../../api/webhooks.ts";
import { ForRole, RoleNote } from "../../ui/account/for-role.tsx";
import { useNarrow } from "../../ui/hooks/use-width.ts";
import { ButtonLink } from "../../ui/links.tsx";
import { Page, PageHeader, Section } from "../../ui/page/page.tsx";
import { EmptyState, ErrorState } from "../../ui/page/states.tsx";
import { EXAMPLE_ROWS } from "./example-rows.ts";
import { findWebhooks, foundSentence, type Order, orderOf } from "./find-webhooks.ts";
import { SampleDialog } from "./sample-dialog.tsx";
import { validateWebhooksSearch, type WebhooksSearch } from "./search.ts";
import { WebhookCards } from "./webhook-cards.tsx";
import type { WebhookRow } from "./webhook-cells.tsx";
import { WebhookFilters } from "./webhook-filters.tsx";
import { WebhooksTable } from "./webhooks-table.tsx";

/** From this many webhooks on, they can be filtered. */
const MANY = 8;

/** All webhooks of the project and their health. */
export function WebhooksPage() {
	const projectId = useProjectId();
	const webhooks = useQuery(webhooksQuery(projectId));
	const health = useQuery(healthQuery(projectId));
	const { may } = useRole();
	const narrow = useNarrow();
	const error = webhooks.data === undefined ? webhooks.error : health.data === undefined ? health.error : null;
	const search = validateWebhooksSearch({ ...useSearch({ from: "/signed-in/p/$projectId/developer/webhooks" }) });
	const { text, state } = search;
	const navigate = useNavigate();
	const filter = (next: WebhooksSearch) =>
		void navigate({
			to: "/p/$projectId/webhooks",
			params: { projectId },
			search: next,
			replace: true,
			resetScroll: false,
		});
	const rows = useMemo(() => joined(webhooks.data, health.data), [webhooks.data, health.data]);
	// Rows stay where they are while the page is open.
	const [kept, setKept] = useState<{ readonly projectId: string; readonly order: Order } | null>(null);
	const order = kept?.projectId === projectId ? kept.order : null;
	if (order === null && rows !== undefined) setKept({ projectId, order: orderOf(rows) });
	const found = useMemo(
		() => rows && findWebhooks(rows, order ?? new Map(), validateWebhooksSearch({ text, state })),
		[rows, order, text, state],
	);
	const isFiltered = text !== undefined || state !== undefined;
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
				{rows === undefined || found === undefined
					? error === null && <Skeleton height={16} width={220} my={4} />
					: foundSentence(rows, found, search)}
				<RoleNote needs="developer">create webhooks and publish samples</RoleNote>
			</PageHeader>
			{error === null ? null : (
				<ErrorState error={error} onRetry={() => Promise.all([webhooks.refetch(), health.refetch()])} />
			)}
			{webhooks.data !== undefined && (webhooks.data.length > MANY || (webhooks.data.length > 0 && isFiltered)) ? (
				<WebhookFilters search={search} onChange={filter} />
			) : null}
			{rows?.length === 0 ? (
				<EmptyState
					title="No webhooks"
					icon={<IconWebhook size={26} />}
					action={may("developer") ? <NewWebhook projectId={projectId} /> : undefined}
					preview={narrow ? undefined : <WebhooksTable projectId={projectId} rows={EXAMPLE_ROWS} />}
				>
					A webhook sends your store's events to a URL of yours, such as orders to accounting or refunds to a chat,
					signed, and retried if a receiver fails.
				</EmptyState>
			) : error !== null && rows === undefined ? null : webhooks.data === undefined ? (
				// Whether filters will be above the table isn't known yet.
				<Skeleton height={340} radius="lg" role="status" aria-busy aria-label="Loading the webhooks" />
			) : found?.length === 0 ? (
				<EmptyState
					title="No webhook matches"
					icon={<IconFilterOff size={26} />}
					action={
						<Button variant="default" onClick={() => filter({})}>
							Clear the filters
						</Button>
					}
				>
					No webhook has that state and the text in its name, URL or id.
				</EmptyState>
			) : narrow ? (
				<WebhookCards projectId={projectId} rows={found} />
			) : (
				<Section flush>
					<WebhooksTable projectId={projectId} rows={found} />
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
				<Button variant="default" onClick={() => setOpened(true)}>
					Publish a sample
				</Button>
			</ForRole>
			<SampleDialog opened={opened} onClose={() => setOpened(false)} />
		</>
	);
}

function NewWebhook({ projectId }: { projectId: string }) {
	return (
		<ForRole needs="developer">
			<ButtonLink
				leftSection={<IconPlus size={16} aria-hidden />}
				to="/p/$projectId/webhooks/new"
				params={{ projectId }}
			>
				New webhook
			</ButtonLink>
		</ForRole>
	);
}

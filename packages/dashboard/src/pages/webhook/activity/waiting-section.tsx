import { Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type Health, waitingQuery } from "../../../api/health.ts";
import type { Webhook } from "../../../api/webhooks.ts";
import { holdOf, waitingSince } from "../../../lib/health/health-facts.ts";
import { pendingSentence } from "../../../lib/health/webhook-words.ts";
import { formatCount } from "../../../lib/text/numbers.ts";
import { useNow } from "../../../ui/hooks/use-now.ts";
import { AnchorLink } from "../../../ui/links.tsx";
import { Section } from "../../../ui/page/page.tsx";
import { ErrorState } from "../../../ui/page/states.tsx";
import { WaitingList } from "./waiting-list.tsx";

const SHOWN = 5;

interface WaitingSectionProps {
	projectId: string;
	webhook: Webhook;
	health: Health | undefined;
}

/** A webhook's backlog and pending retries. */
export function WaitingSection({ projectId, webhook, health }: WaitingSectionProps) {
	const { data, error, refetch } = useQuery(waitingQuery(projectId, { webhookId: webhook.id, limit: SHOWN }));
	const now = useNow(health === undefined ? 0 : waitingSince([health]));
	const count = health?.waiting.count ?? 0;
	const more = count - (data?.length ?? 0);
	return (
		<Section title="Waiting to be sent">
			{data === undefined && error !== null ? (
				<ErrorState error={error} onRetry={refetch} />
			) : data === undefined || health === undefined ? (
				<Skeleton height={20} width={360} maw="100%" />
			) : (
				<Stack gap="sm">
					<Text size="sm">{pendingSentence(health, now)}</Text>
					{data.length === 0 ? null : (
						<WaitingList projectId={projectId} waiting={data} holdOf={() => holdOf(webhook)} />
					)}
					{more > 0 && data.length > 0 ? (
						<AnchorLink
							size="sm"
							to="/p/$projectId/logs"
							params={{ projectId }}
							search={{ webhook_id: webhook.id, state: "waiting" }}
						>
							Show {formatCount(more)} more in the log
						</AnchorLink>
					) : null}
				</Stack>
			)}
		</Section>
	);
}

import { Button, Group, Select, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Attempt } from "../../api/attempts.ts";
import { watchedDeliveryQuery } from "../../api/deliveries.ts";
import { sendTest, type Webhook } from "../../api/webhooks.ts";
import { explanation } from "../../lib/attempts/attempt-words.ts";
import { deliveriesWaiting, type Waiting } from "../../lib/health/health-facts.ts";
import { webhookName } from "../../lib/health/webhook-name.ts";
import { waitWords } from "../../lib/health/webhook-words.ts";
import { isolated } from "../../lib/text/names.ts";
import { formatMs, plural } from "../../lib/text/numbers.ts";
import { dueWords } from "../../lib/text/time.ts";
import { ForRole } from "../../ui/account/for-role.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { CancelTest } from "../../ui/deliveries/cancel-test.tsx";
import { Outcome } from "../../ui/deliveries/outcome.tsx";
import { RetryAllNow } from "../../ui/deliveries/retry-now.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { useAttempt } from "../../ui/hooks/use-attempt.ts";
import { Ident } from "../../ui/ident.tsx";
import { AnchorLink } from "../../ui/links.tsx";
import { ErrorState } from "../../ui/page/states.tsx";
import { When } from "../../ui/when.tsx";
import classes from "./test-dialog.module.css";

interface TestDialogProps {
	projectId: string;
	webhook: Webhook;
	/** Its pending retries. */
	waiting: Waiting;
	/** How many failed for good. */
	failed: number;
	opened: boolean;
	/** Asks whether to replay those. */
	onReplay: () => void;
	onClose: () => void;
}

/** Sends a sample event to one webhook and shows the response as it arrives. */
export function TestDialog({ opened, ...props }: TestDialogProps) {
	const { onClose, webhook } = props;
	return (
		<Dialog
			opened={opened}
			onClose={onClose}
			title={`Send a test event to ${isolated(webhookName(webhook))}`}
			size="lg"
		>
			<TestBody {...props} />
		</Dialog>
	);
}

function TestBody({ projectId, webhook, waiting, failed, onReplay, onClose }: Omit<TestDialogProps, "opened">) {
	const [type, setType] = useState(webhook.events[0]!);
	const [eventId, setEventId] = useState<string | null>(null);
	const { busy, problem, attempt } = useAttempt();
	const send = async () => {
		setEventId(null);
		setEventId(await sendTest(projectId, webhook.id, type));
	};
	return (
		<Stack>
			<Text size="sm" c="dimmed">
				The type's sample, signed and sent like any event, but only to this webhook. It's in the log, and your receiver
				can't tell it from a real event.
			</Text>
			<Group align="flex-end" gap="sm">
				<Select
					flex="1 1 220px"
					label="Event type"
					allowDeselect={false}
					value={type}
					onChange={(value) => setType(value ?? type)}
					data={[...webhook.events]}
					comboboxProps={{ withinPortal: true }}
				/>
				<Button onClick={() => void attempt(send)} loading={busy} data-autofocus>
					{eventId === null ? "Send" : "Send another"}
				</Button>
			</Group>
			<div className={classes.response} aria-live="polite">
				{problem === null ? null : <ErrorState error={problem} />}
				{eventId === null ? (
					problem === null && <Text className={classes.hint}>The response will appear here.</Text>
				) : (
					<TestResponse
						key={eventId}
						projectId={projectId}
						webhookId={webhook.id}
						eventId={eventId}
						waiting={waiting}
						failed={failed}
						onReplay={onReplay}
					/>
				)}
			</div>
			<Group justify="flex-end">
				<Button variant="default" onClick={onClose}>
					Close
				</Button>
			</Group>
		</Stack>
	);
}

interface TestResponseProps {
	projectId: string;
	webhookId: string;
	eventId: string;
	waiting: Waiting;
	failed: number;
	onReplay: () => void;
}

function TestResponse({ projectId, webhookId, eventId, waiting, failed, onReplay }: TestResponseProps) {
	const retries = deliveriesWaiting(waiting);
	const { data, error, refetch } = useQuery(
		watchedDeliveryQuery(projectId, { webhook_id: webhookId, event_id: eventId }),
	);
	const last = data?.attempts.at(-1);
	if (error !== null && last === undefined) return <ErrorState error={error} onRetry={refetch} />;
	return (
		<Stack gap="xs">
			<Group gap="sm">
				{last === undefined ? (
					<Outcome kind="waiting" label="Sent, waiting for the response" />
				) : last.error_code === "test_cancelled" ? (
					<Outcome kind="cancelled" />
				) : (
					<Outcome kind={last.status} />
				)}
				<Ident id={eventId} />
				{last?.status === "retrying" ? <CancelTest projectId={projectId} delivery={last} /> : null}
			</Group>
			{last === undefined ? null : <ResponseResult attempt={last} projectId={projectId} />}
			{last?.status !== "delivered" || retries === 0 ? null : (
				<Group gap="sm">
					<Text size="sm">It works now. {waitWords(waiting)} for a retry.</Text>
					<RetryAllNow projectId={projectId} webhookId={webhookId} waiting={waiting} variant="filled" />
				</Group>
			)}
			{last?.status !== "delivered" || failed === 0 ? null : (
				<Group gap="sm">
					<Text size="sm">
						{retries === 0 ? "It works now. " : ""}
						{plural(failed, "delivery")} failed for good.
					</Text>
					<ForRole needs="developer">
						<Button variant={retries === 0 ? "filled" : "default"} onClick={onReplay}>
							Replay {plural(failed, "failed delivery")}
						</Button>
					</ForRole>
				</Group>
			)}
		</Stack>
	);
}

function ResponseResult({ attempt, projectId }: { attempt: Attempt; projectId: string }) {
	const { status_code, response_ms, response_body, next_retry_at } = attempt;
	return (
		<>
			<Text size="sm">
				{status_code === null ? explanation(attempt) : `Returned ${status_code} in ${formatMs(response_ms)}.`}
				{next_retry_at === null ? null : (
					<>
						{" "}
						The next retry is <When at={next_retry_at} words={dueWords} />.
					</>
				)}
			</Text>
			{response_body === "" ? null : <CodeBlock code={response_body} label="response body" wrap />}
			<AnchorLink
				size="sm"
				to="/p/$projectId/logs/$attemptId"
				params={{ projectId, attemptId: attempt.id }}
				search={{ webhook_id: attempt.webhook_id }}
			>
				See the complete request and response in the log
			</AnchorLink>
		</>
	);
}

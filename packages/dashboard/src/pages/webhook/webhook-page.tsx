import { Button, Group, Skeleton, Tabs, VisuallyHidden } from "@mantine/core";
import { IconSend } from "@tabler/icons-react";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import type { ListedAttempt } from "../../api/attempts.ts";
import { isStatus } from "../../api/client/error.ts";
import type { Health } from "../../api/health.ts";
import { useSession } from "../../api/session.ts";
import type { Webhook } from "../../api/webhooks.ts";
import { failedTestOf, failedTestWords } from "../../lib/health/failed-test.ts";
import {
	deliveriesWaiting,
	isOlderThanLog,
	lacksSecret,
	type Waiting,
	waitingSince,
} from "../../lib/health/health-facts.ts";
import { webhookName } from "../../lib/health/webhook-name.ts";
import { type HelpfulAction, untilNow, webhookSentence } from "../../lib/health/webhook-words.ts";
import { isolated } from "../../lib/text/names.ts";
import { plural } from "../../lib/text/numbers.ts";
import { ForRole, RoleNote } from "../../ui/account/for-role.tsx";
import { SecretDialog } from "../../ui/account/secret-once.tsx";
import { useShownSecret } from "../../ui/account/shown-secret.ts";
import { HealthState } from "../../ui/deliveries/outcome.tsx";
import { RetryAllNow } from "../../ui/deliveries/retry-now.tsx";
import { useNow } from "../../ui/hooks/use-now.ts";
import { LeaveGuard } from "../../ui/leave-guard.tsx";
import { AnchorLink } from "../../ui/links.tsx";
import { Page, PageHeader } from "../../ui/page/page.tsx";
import { ErrorState } from "../../ui/page/states.tsx";
import { ActivityTab } from "./activity/activity-tab.tsx";
import { FailingBanner } from "./failing-banner.tsx";
import { ReceiverCode } from "./receiver-code.tsx";
import { ReplayDialog } from "./replay-dialog.tsx";
import { isTab, validateWebhookSearch } from "./search.ts";
import { SecretBanner } from "./secret-banner.tsx";
import { SettingsTab } from "./settings/settings-tab.tsx";
import { ResumeDialog } from "./state-dialogs.tsx";
import { TestDialog } from "./test-dialog.tsx";
import { useWebhook } from "./use-webhook.ts";
import { VerifyTab } from "./verify/verify-tab.tsx";
import classes from "./webhook-page.module.css";

/** One webhook: its health, its activity, and its settings. */
export function WebhookPage() {
	const { projectId, webhookId, webhook, health, recent } = useWebhook();
	// One that was deleted in the meantime can't be used any longer, either.
	if (webhook.error !== null && (webhook.data === undefined || isStatus(webhook.error, 404))) {
		return (
			<Page>
				<PageHeader title="Webhook" />
				<ErrorState error={webhook.error} onRetry={webhook.refetch} />
				<Group gap="lg" fz="sm">
					<AnchorLink size="sm" to="/p/$projectId/webhooks" params={{ projectId }}>
						All webhooks
					</AnchorLink>
					{isStatus(webhook.error, 404) ? (
						// They stay in the log.
						<AnchorLink size="sm" to="/p/$projectId/logs" params={{ projectId }} search={{ webhook_id: webhookId }}>
							Its deliveries
						</AnchorLink>
					) : null}
					<ForRole needs="owner">
						<AnchorLink size="sm" to="/p/$projectId/audit" params={{ projectId }} search={{ webhook_id: webhookId }}>
							Who changed it
						</AnchorLink>
					</ForRole>
				</Group>
			</Page>
		);
	}
	// What its health has to say is above the tabs, and would push them down. If it can't be loaded, the page stays, though
	// parts of it request it again.
	if (webhook.data === undefined || !health.isFetched) return <WebhookSkeleton />;
	return (
		<Loaded
			key={webhookId}
			projectId={projectId}
			webhook={webhook.data}
			health={health.data ?? undefined}
			healthError={health.error}
			// Without them, the header is complete, too.
			recent={recent.data ?? (recent.failureCount > 0 ? [] : undefined)}
		/>
	);
}

const NOTHING = { count: 0, tests: 0 };

interface LoadedProps {
	projectId: string;
	webhook: Webhook;
	health: Health | undefined;
	healthError: unknown;
	/** The newest attempts; undefined until they are known. */
	recent: readonly ListedAttempt[] | undefined;
}

function Loaded({ projectId, webhook, health, healthError, recent }: LoadedProps) {
	// The router also passes on what validation has dropped.
	const search = validateWebhookSearch({
		...useSearch({ from: "/signed-in/p/$projectId/developer/webhooks/$webhookId" }),
	});
	const navigate = useNavigate({ from: "/p/$projectId/webhooks/$webhookId" });
	const [dialog, setDialog] = useState<Exclude<HelpfulAction, null> | null>(null);
	const close = () => setDialog(null);
	const [unsaved, setUnsaved] = useState(false);
	// From the first look on, the settings stay, with what isn't saved, while other tabs are shown.
	const [hasSettings, setHasSettings] = useState(false);
	if (search.tab === "settings" && !hasSettings) setHasSettings(true);
	const secret = useShownSecret(webhook.id);
	const name = webhookName(webhook);
	const failedTest = failedTestOf(recent ?? []);
	const { log_retention_days: days } = useSession();
	const lastAt = Math.max(
		...[health?.last_delivered_at, failedTest?.started_at].map((at) => Date.parse(at ?? "") || 0),
	);
	const now = useNow(Math.max(lastAt, health === undefined ? 0 : waitingSince([health])));
	// The list's health may be slightly older than the webhook itself.
	const state = webhook.status === "paused" ? "paused" : health?.state === "paused" ? "idle" : health?.state;
	const nothing = untilNow(isOlderThanLog(webhook, health), days);
	const sentence =
		health === undefined || state === undefined
			? null
			: webhookSentence({ ...health, state }, now, failedTest !== null, nothing);
	const isMute = webhook.secret_state !== "usable";
	const failing = !isMute && (state === "failing" || state === "unstable") && health !== undefined;
	const fails = state === "failing" && health?.failing_since !== null;
	return (
		<Page>
			<PageHeader
				title={name}
				badge={state === undefined ? null : <HealthState state={state} lacksSecret={lacksSecret(webhook)} />}
				actions={
					<Actions
						projectId={projectId}
						webhook={webhook}
						// A failing or unstable webhook's banner lists pending and failed deliveries, and has the actions. While it
						// fails, a test shows whether it works again, then offers the next step.
						action={isMute ? null : failing ? (fails ? "test" : null) : (sentence?.action ?? null)}
						waiting={failing || isMute ? NOTHING : (health?.waiting ?? NOTHING)}
						failed={health?.dead_letters ?? 0}
						onAct={setDialog}
					/>
				}
			>
				<span className={classes.url} title={webhook.url}>
					{webhook.url}
				</span>
				{isMute ? null : sentence === null || (recent === undefined && !failing) ? (
					<Skeleton height={16} width={320} mt={8} mb={2} />
				) : failing ? null : (
					// It changes with each delivery, and as time passes. What matters is announced with the state.
					<div aria-live="off">
						{sentence.text}
						{failedTest === null || state === "paused" ? null : (
							<>
								{` ${failedTestWords(failedTest, now)} `}
								<AnchorLink
									inherit
									underline="always"
									to="/p/$projectId/logs/$attemptId"
									params={{ projectId, attemptId: failedTest.id }}
									search={{ webhook_id: webhook.id }}
								>
									See the response
								</AnchorLink>
							</>
						)}
					</div>
				)}
				<RoleNote needs="developer">send test events, retry, replay and change settings</RoleNote>
			</PageHeader>
			{healthError === null || health !== undefined ? null : <ErrorState error={healthError} />}
			{isMute ? <SecretBanner projectId={projectId} webhook={webhook} /> : null}
			{failing ? <FailingBanner projectId={projectId} health={health} onReplay={() => setDialog("replay")} /> : null}
			<Tabs
				value={search.tab ?? "activity"}
				onChange={(tab) =>
					void navigate({
						search: (before) => {
							const { tab: _, ...rest } = before;
							return isTab(tab) ? { ...rest, tab } : rest;
						},
					})
				}
				keepMounted={false}
			>
				<Tabs.List mb="lg">
					<Tabs.Tab value="activity">Activity</Tabs.Tab>
					<Tabs.Tab value="verify">Verify</Tabs.Tab>
					<Tabs.Tab value="settings">
						Settings
						{unsaved ? (
							<span className={classes.unsaved} title="Unsaved changes">
								<VisuallyHidden>(unsaved changes)</VisuallyHidden>
							</span>
						) : null}
					</Tabs.Tab>
				</Tabs.List>
				<Tabs.Panel value="activity">
					<ActivityTab
						projectId={projectId}
						webhook={webhook}
						health={health}
						range={search.range ?? "day"}
						offersReplay={failing || sentence?.action === "replay"}
					/>
				</Tabs.Panel>
				<Tabs.Panel value="verify">
					<VerifyTab projectId={projectId} webhookId={webhook.id} />
				</Tabs.Panel>
				<Tabs.Panel value="settings" keepMounted>
					{hasSettings ? <SettingsTab projectId={projectId} webhook={webhook} onUnsaved={setUnsaved} /> : null}
				</Tabs.Panel>
			</Tabs>
			<LeaveGuard unsaved={unsaved}>The settings of {isolated(name)} have unsaved changes.</LeaveGuard>
			<ReplayDialog
				projectId={projectId}
				webhookId={webhook.id}
				name={name}
				opened={dialog === "replay"}
				onClose={close}
			/>
			<ResumeDialog
				projectId={projectId}
				webhook={webhook}
				health={health}
				opened={dialog === "resume"}
				onClose={close}
			/>
			<TestDialog
				projectId={projectId}
				webhook={webhook}
				waiting={health?.waiting ?? NOTHING}
				failed={health?.dead_letters ?? 0}
				opened={dialog === "test"}
				onReplay={() => setDialog("replay")}
				onClose={close}
			/>
			{secret.shown === null ? null : (
				<SecretDialog
					title={secret.shown.title}
					what="signing secret"
					secret={secret.shown.secret}
					onClose={secret.done}
				>
					<ReceiverCode />
				</SecretDialog>
			)}
		</Page>
	);
}

interface ActionsProps {
	projectId: string;
	webhook: Webhook;
	action: HelpfulAction;
	/** The pending retries that are offered. */
	waiting: Waiting;
	failed: number;
	onAct: (action: Exclude<HelpfulAction, null>) => void;
}

/** The actions that help, next to the test. */
function Actions({ projectId, webhook, action, waiting, failed, onAct }: ActionsProps) {
	const sendsNothing = webhook.status === "paused" || webhook.secret_state !== "usable";
	return (
		<ForRole needs="developer">
			<span className={classes.actions}>
				{sendsNothing ? null : (
					<Button
						variant={action === "test" ? "filled" : "default"}
						leftSection={<IconSend size={16} aria-hidden />}
						onClick={() => onAct("test")}
					>
						Send test event
					</Button>
				)}
				{sendsNothing || deliveriesWaiting(waiting) === 0 ? null : (
					<RetryAllNow projectId={projectId} webhookId={webhook.id} waiting={waiting} />
				)}
				{action === "replay" ? (
					<Button onClick={() => onAct("replay")}>Replay {plural(failed, "failed delivery")}</Button>
				) : null}
				{action === "resume" ? <Button onClick={() => onAct("resume")}>Resume</Button> : null}
			</span>
		</ForRole>
	);
}

const WebhookSkeleton = () => (
	<Page>
		<div role="status" aria-busy aria-label="Loading the webhook">
			<Skeleton height={30} width={220} mb={14} />
			<Skeleton height={16} width={340} mb={8} />
			<Skeleton height={16} width={280} mb={28} />
			<Skeleton height={340} radius="lg" />
		</div>
	</Page>
);

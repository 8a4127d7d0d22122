import { Button, Group, Stack, Text, Title, Tooltip } from "@mantine/core";
import { IconReload } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Attempt, AttemptSummary } from "../../api/attempts.ts";
import { type Delivery, deliveryKey } from "../../api/deliveries.ts";
import { useProjectId, useSession } from "../../api/session.ts";
import { deletedWebhooksQuery, type Webhook } from "../../api/webhooks.ts";
import type { References } from "../../lib/attempts/references.ts";
import { buildTrack } from "../../lib/attempts/track.ts";
import { deletedName, webhookName } from "../../lib/health/webhook-name.ts";
import { inertText } from "../../lib/text/inert-text.ts";
import { ForRole, RoleNote } from "../../ui/account/for-role.tsx";
import { CancelTest } from "../../ui/deliveries/cancel-test.tsx";
import { RetryNow } from "../../ui/deliveries/retry-now.tsx";
import { Track } from "../../ui/deliveries/track.tsx";
import { Ident } from "../../ui/ident.tsx";
import { AnchorLink } from "../../ui/links.tsx";
import { type Choice, searchFor } from "../logs/filters/search-choices.ts";
import type { LogsSearch } from "../logs/search.ts";
import { AttemptFacts } from "./attempt-facts.tsx";
import classes from "./delivery.module.css";
import type { StandingState } from "./delivery-state.ts";
import { DismissButton } from "./dismiss-button.tsx";
import { RequestSection } from "./request-section.tsx";
import { ResponseSection } from "./response-section.tsx";
import { byPosition } from "./use-delivery.ts";
import { Verdict } from "./verdict.tsx";

interface DeliveryViewProps {
	projectId: string;
	attempt: Attempt;
	/** What its event names. */
	references: References;
	/** All attempts of the delivery. */
	attempts: readonly AttemptSummary[];
	/** Null if it no longer exists; then only the attempts are left. */
	delivery: Delivery | null;
	state: StandingState;
	/** Null if it was deleted, undefined until it is known. */
	webhook: Webhook | null | undefined;
	/** The list's filters, which stay in the address bar. */
	search: LogsSearch;
	onReplay: () => void;
	onRetried: () => void;
}

/** The inside of the drawer. */
export function DeliveryView(props: DeliveryViewProps) {
	const { projectId, attempt, references, attempts, delivery, state, webhook, search, onReplay, onRetried } = props;
	const { order, customer } = references;
	const plan = useSession();
	const { data: gone } = useQuery({ ...deletedWebhooksQuery(projectId), enabled: webhook === null });
	const deleted = gone?.find(({ id }) => id === attempt.webhook_id);
	const { hold } = state;
	const lines = useMemo(() => buildTrack(attempts, delivery, plan, hold), [attempts, delivery, plan, hold]);
	const isFollowed = attempts.some((one) => byPosition(one, attempt) > 0);
	const line = lines.find(({ replay }) => replay === attempt.replay);
	return (
		<Stack gap="xl">
			<Group gap="xs" justify="space-between">
				<dl className={classes.about}>
					<div>
						<dt>Webhook</dt>
						<dd>
							{webhook == null ? (
								<>
									{webhook === null ? deletedName(deleted, attempt.url) : null}
									<Ident id={attempt.webhook_id} />
								</>
							) : (
								<AnchorLink
									size="sm"
									to="/p/$projectId/webhooks/$webhookId"
									params={{ projectId, webhookId: webhook.id }}
								>
									{webhookName(webhook)}
								</AnchorLink>
							)}
						</dd>
					</div>
					<div>
						<dt>Event</dt>
						<dd>
							<Ident id={attempt.event_id} />
							<AnchorLink
								size="sm"
								to="/p/$projectId/logs"
								params={{ projectId }}
								search={{ event_id: attempt.event_id }}
							>
								All attempts
							</AnchorLink>
						</dd>
					</div>
					{order === null ? null : <Found name="Order" choice={{ kind: "order", value: order, label: order }} />}
					{customer === null ? null : (
						<Found name="Customer" choice={{ kind: "customer", value: customer, label: customer }} />
					)}
				</dl>
				<Group gap="xs">
					{attempt.test && !state.over ? <CancelTest projectId={projectId} delivery={attempt} /> : null}
					{state.canDismiss && !attempt.test ? (
						<DismissButton
							key={deliveryKey(attempt)}
							projectId={projectId}
							delivery={{ ...attempt, order_id: order }}
							name={webhook == null ? deletedName(deleted, attempt.url) : webhookName(webhook)}
						/>
					) : null}
					{state.canRetry && state.nextAt !== null && webhook != null ? (
						<RetryNow
							projectId={projectId}
							delivery={{ ...attempt, order_id: order }}
							dueAt={state.nextAt}
							onDone={onRetried}
						/>
					) : delivery === null ? (
						<Text size="sm" c="dimmed">
							{state.refusal}
						</Text>
					) : (
						<ReplayButton refusal={state.refusal} onReplay={onReplay} />
					)}
				</Group>
				{delivery === null ? null : <RoleNote needs="developer">send it again or dismiss it</RoleNote>}
			</Group>
			<Track
				lines={lines}
				selected={attempt.id}
				link={(attemptId, rest) => (
					<Link
						{...rest}
						to="/p/$projectId/logs/$attemptId"
						params={{ projectId, attemptId }}
						search={search}
						replace
						resetScroll={false}
					/>
				)}
			/>
			<Verdict
				attempt={attempt}
				state={state}
				isNewest={attempt.id === lines.at(-1)?.stations.findLast(({ attemptId }) => attemptId !== null)?.attemptId}
			/>
			<section aria-labelledby="attempt">
				<Title order={3} size="h5" id="attempt" mb="sm">
					Attempt {attempt.attempt} of {line?.total}
					{attempt.replay === 0 ? "" : `, replay ${attempt.replay}`}
				</Title>
				<AttemptFacts attempt={attempt} isFollowed={isFollowed} />
			</section>
			<RequestSection attempt={attempt} />
			<ResponseSection attempt={attempt} />
		</Stack>
	);
}

/** What the event is found by, linked to all that the log has about it. */
function Found({ name, choice }: { name: string; choice: Choice }) {
	const projectId = useProjectId();
	return (
		<div>
			<dt>{name}</dt>
			<dd>
				<AnchorLink
					size="sm"
					className={classes.found}
					to="/p/$projectId/logs"
					params={{ projectId }}
					search={searchFor(choice)}
				>
					{inertText(choice.label)}
				</AnchorLink>
			</dd>
		</div>
	);
}

interface ReplayButtonProps {
	/** Why it can't be replayed; null if it can. */
	refusal: string | null;
	onReplay: () => void;
}

function ReplayButton({ refusal, onReplay }: ReplayButtonProps) {
	return (
		<ForRole needs="developer">
			<Tooltip label={refusal} disabled={refusal === null}>
				<span>
					<Button leftSection={<IconReload size={16} aria-hidden />} disabled={refusal !== null} onClick={onReplay}>
						Replay
					</Button>
				</span>
			</Tooltip>
		</ForRole>
	);
}

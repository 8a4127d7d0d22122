import { JsonInput, List, Select, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError } from "../../api/client/error.ts";
import { type EventTypeEntry, eventTypesQuery, publishSample } from "../../api/event-types.ts";
import { useProject, useSession } from "../../api/session.ts";
import { type Webhook, webhooksQuery } from "../../api/webhooks.ts";
import { newSeriesWords } from "../../lib/attempts/track.ts";
import { holdOf } from "../../lib/health/health-facts.ts";
import { webhookName } from "../../lib/health/webhook-name.ts";
import { HOLDS } from "../../lib/text/hold.ts";
import { isolated } from "../../lib/text/names.ts";
import { plural } from "../../lib/text/numbers.ts";
import { parseJson } from "../../lib/text/parse-json.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { useAttempt } from "../../ui/hooks/use-attempt.ts";
import { useIsMounted } from "../../ui/hooks/use-is-mounted.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { notifyDone } from "../../ui/notify.tsx";
import { ErrorState } from "../../ui/page/states.tsx";
import { FormButtons } from "../../ui/submit-form.tsx";
import { useTypeToConfirm } from "../../ui/type-to-confirm.tsx";

interface SampleDialogProps {
	opened: boolean;
	onClose: () => void;
}

/** Publishes a sample event into the project: says who gets it, and asks for the project's name if anyone does. */
export function SampleDialog({ opened, onClose }: SampleDialogProps) {
	return (
		<Dialog opened={opened} onClose={onClose} title="Publish a sample event" size="lg" closeOnClickOutside={false}>
			<Body onClose={onClose} />
		</Dialog>
	);
}

function Body({ onClose }: Pick<SampleDialogProps, "onClose">) {
	const { id: projectId } = useProject();
	const types = useQuery(eventTypesQuery);
	const webhooks = useQuery(webhooksQuery(projectId));
	if (types.data !== undefined && webhooks.data !== undefined)
		return <SampleForm types={types.data} webhooks={webhooks.data} onClose={onClose} />;
	const error = types.error ?? webhooks.error;
	if (error !== null)
		return <ErrorState error={error} onRetry={() => Promise.all([types.refetch(), webhooks.refetch()])} />;
	return <Text size="sm">Loading the event types …</Text>;
}

interface SampleFormProps extends Pick<SampleDialogProps, "onClose"> {
	types: readonly EventTypeEntry[];
	webhooks: readonly Webhook[];
}

const textOf = ({ sample }: EventTypeEntry) => JSON.stringify(sample, null, 2);

function SampleForm({ types, webhooks, onClose }: SampleFormProps) {
	const { id: projectId, name } = useProject();
	const navigate = useNavigate();
	const [entry, setEntry] = useState(
		types.find(({ type }) => webhooks.some(({ events }) => events.includes(type))) ?? types[0]!,
	);
	const [text, setText] = useState(textOf(entry));
	const { isConfirmed, field } = useTypeToConfirm(name);
	const { busy, problem, setProblem, attempt } = useAttempt();
	const isMounted = useIsMounted();
	const subscribers = webhooks.filter(({ events }) => events.includes(entry.type));
	const data = parsed(text);
	const faults = problem instanceof ApiError ? problem.errors.filter(({ pointer }) => pointer.startsWith("/data")) : [];
	const isReady = data !== null && (subscribers.length === 0 || isConfirmed);
	const choose = (type: string | null) => {
		const next = types.find((one) => one.type === type);
		if (next === undefined) return;
		setEntry(next);
		setText(textOf(next));
		setProblem(null);
	};
	const publish = async () => {
		if (data === null) return;
		const id = await publishSample(projectId, { type: entry.type, data, webhooks: subscribers.length });
		notifyDone("Sample event published.");
		if (!isMounted()) return;
		onClose();
		void navigate({ to: "/p/$projectId/logs", params: { projectId }, search: { event_id: id } });
	};
	return (
		<form
			onSubmit={(event) => {
				event.preventDefault();
				if (isReady && !busy) void attempt(publish);
			}}
		>
			<Stack>
				<Text size="sm">
					A sample is a real event in this project's log, except that its id begins with <code>evt_sample_</code>. A
					receiver that doesn't look at the id takes it for a real one. To try out only one webhook,{" "}
					<AnchorLink size="sm" underline="always" to="/p/$projectId/webhooks" params={{ projectId }} onClick={onClose}>
						send it a test event
					</AnchorLink>{" "}
					instead.
				</Text>
				<Select
					label="Event type"
					description={entry.description}
					allowDeselect={false}
					value={entry.type}
					onChange={choose}
					data={types.map(({ type }) => type)}
				/>
				<JsonInput
					label="Data"
					description="Checked against the type's schema when it's published."
					value={text}
					onChange={(next) => {
						setText(next);
						setProblem(null);
					}}
					error={
						data === null
							? "This isn't a JSON object."
							: faults.length === 0
								? undefined
								: faults
										.map(({ pointer, detail }) => `${pointer.slice("/data".length) || "The data"} ${detail}`)
										.join(" · ")
					}
					autosize
					minRows={6}
					maxRows={8}
					spellCheck={false}
				/>
				<Receivers subscribers={subscribers} />
				{subscribers.length === 0 ? null : field}
				<FormButtons
					action={
						subscribers.length === 0 ? "Publish to the log" : `Publish to ${plural(subscribers.length, "webhook")}`
					}
					busy={busy}
					problem={faults.length > 0 ? null : problem}
					ready={isReady}
					onCancel={onClose}
				/>
			</Stack>
		</form>
	);
}

/** Lists the webhooks that get it, and how it's sent. */
function Receivers({ subscribers }: { subscribers: readonly Webhook[] }) {
	const plan = useSession();
	if (subscribers.length === 0)
		return (
			<Text size="sm">
				No webhook is subscribed to this type, so nothing is sent. The event is only written to the log.
			</Text>
		);
	return (
		<Stack gap={4}>
			<Text size="sm">
				It can't be taken back.{" "}
				{subscribers.length === 1 ? "1 webhook gets it" : `${subscribers.length} webhooks get it`}, signed, with{" "}
				{newSeriesWords(plan)}:
			</Text>
			<List size="sm">
				{subscribers.map((webhook) => (
					<List.Item key={webhook.id}>
						{isolated(webhookName(webhook))}
						{holdWords(webhook)}
					</List.Item>
				))}
			</List>
		</Stack>
	);
}

/** When a webhook to which nothing is sent now gets it; "" for others. */
function holdWords(webhook: Webhook): string {
	const hold = holdOf(webhook);
	return hold === null ? "" : ` ${HOLDS[hold].aside}`;
}

/** The JSON object in a text; null if it isn't one. */
function parsed(text: string): Record<string, unknown> | null {
	const value = parseJson(text);
	return typeof value === "object" && !Array.isArray(value) ? (value as Record<string, unknown> | null) : null;
}

import { Button, Checkbox, List, ScrollArea, Stack, Table, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type PendingWebhook, pendingWebhooks, releaseQuarantine } from "../../../api/quarantine.ts";
import { namedLike, releaseOf } from "../../../lib/account/release.ts";
import { webhookName } from "../../../lib/health/webhook-name.ts";
import { formatCount, plural } from "../../../lib/text/numbers.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { notifyDone } from "../../../ui/notify.tsx";
import { ErrorState } from "../../../ui/page/states.tsx";
import { useTypeToConfirm } from "../../../ui/type-to-confirm.tsx";
import { When } from "../../../ui/when.tsx";
import { BackupTime } from "./backup-time.tsx";
import classes from "./release-dialog.module.css";

interface ReleaseDialogProps {
	backupAt: string | null;
	onClose: () => void;
}

/** How many are listed at first, and then on each request. */
const ROWS = 50;

/** Ends a quarantine: shows what will be sent to which webhook, and lets the operator leave out a webhook's. */
export default function ReleaseDialog({ backupAt, onClose }: ReleaseDialogProps) {
	const [soFar, setSoFar] = useState(0);
	const [skipped, setSkipped] = useState<ReadonlySet<string>>(new Set());
	const { data, error, refetch } = useQuery({
		queryKey: ["quarantine", "waiting"],
		queryFn: ({ signal }) => pendingWebhooks(signal, setSoFar),
		gcTime: 0,
		staleTime: "static",
	});
	const release = releaseOf(data ?? [], ({ id }) => skipped.has(id));
	const { isConfirmed, field } = useTypeToConfirm(release.total);
	const run = async () => {
		const released = await releaseQuarantine(release.skipped);
		notifyDone(
			released ? "Released. Deliveries continue within a second." : "Someone else has just released the database.",
		);
	};
	return (
		<Confirm
			opened
			onClose={onClose}
			title="Release the restored database"
			size="xl"
			action={release.total === 0 ? "Release" : `Release and send ${formatCount(release.total)}`}
			onConfirm={run}
			ready={data !== undefined && isConfirmed}
		>
			<Stack gap="sm">
				<Text size="sm">
					Pending deliveries are as of the backup
					<BackupTime at={backupAt} />. Receivers may have received them since. Those that skip known event ids won't
					handle any event twice. For the others, skip what is pending.
				</Text>
				{error !== null ? (
					<ErrorState error={error} onRetry={refetch} />
				) : data === undefined ? (
					<Text size="sm" role="status">
						Looking for pending deliveries: {plural(soFar, "project")} so far.
					</Text>
				) : data.length === 0 ? (
					<Text size="sm">No delivery is pending.</Text>
				) : (
					<Pending webhooks={data} skipped={skipped} onSkip={setSkipped} />
				)}
				{data === undefined ? null : (
					<List size="sm" spacing={2}>
						<List.Item>{release.words}</List.Item>
						{release.skipped.length === 0 ? null : (
							<List.Item>
								Skipping leaves out events that were accepted since the restore, too. Skipped retries and replays fail
								when they are due, and can then be replayed. All events stay in the log.
							</List.Item>
						)}
						<List.Item>
							Before the release, repeat what was done since the backup: revoke API keys, remove members, change
							passwords, and rotate secrets. Receivers refuse signatures made with a secret they have replaced.
						</List.Item>
					</List>
				)}
				{field}
			</Stack>
		</Confirm>
	);
}

interface PendingProps {
	webhooks: readonly PendingWebhook[];
	/** The ids of webhooks whose pending deliveries are left out. */
	skipped: ReadonlySet<string>;
	onSkip: (skipped: ReadonlySet<string>) => void;
}

function Pending({ webhooks, skipped, onSkip }: PendingProps) {
	const [sought, setSought] = useState("");
	const [listed, setListed] = useState(ROWS);
	const found = webhooks.filter((webhook) => namedLike(sought, webhook));
	const active = found.filter(({ status }) => status === "active");
	const all = active.length > 0 && active.every(({ id }) => skipped.has(id));
	const some = active.some(({ id }) => skipped.has(id));
	const rest = found.length - listed;
	const skipAll = () => {
		const ids = new Set(active.map(({ id }) => id));
		onSkip(new Set(all ? [...skipped].filter((id) => !ids.has(id)) : [...skipped, ...ids]));
	};
	const toggle = (id: string) =>
		onSkip(new Set(skipped.has(id) ? [...skipped].filter((one) => one !== id) : [...skipped, id]));
	return (
		<>
			{webhooks.length <= ROWS ? null : (
				<TextInput
					size="xs"
					label="Find a webhook or project"
					value={sought}
					onChange={(event) => setSought(event.currentTarget.value)}
					autoComplete="off"
				/>
			)}
			<ScrollArea.Autosize mah={320} type="auto" scrollbars="y" offsetScrollbars="present">
				<Table fz="sm" verticalSpacing={6} horizontalSpacing={6} aria-label="Pending deliveries" stickyHeader>
					<Table.Thead>
						<Table.Tr>
							<Table.Th>Webhook</Table.Th>
							<Table.Th ta="right" visibleFrom="sm">
								First attempts
							</Table.Th>
							<Table.Th ta="right" visibleFrom="sm">
								Retries, replays
							</Table.Th>
							<Table.Th>
								<Checkbox
									size="xs"
									label={sought.trim() === "" ? "Skip all" : "Skip these"}
									checked={all}
									indeterminate={!all && some}
									disabled={active.length === 0}
									onChange={skipAll}
								/>
							</Table.Th>
						</Table.Tr>
					</Table.Thead>
					<Table.Tbody>
						{found.slice(0, listed).map((webhook) => (
							<Table.Tr key={webhook.id}>
								<Table.Td className={classes.name}>
									<Text size="sm" fw={550}>
										{webhookName(webhook)}
									</Text>
									<Text size="xs" c="dimmed">
										{webhook.project}
									</Text>
									<Text size="xs" hiddenFrom="sm">
										{plural(webhook.backlog.events, "first attempt")}, {formatCount(webhook.waiting.count)} retries and
										replays
									</Text>
								</Table.Td>
								<Table.Td ta="right" visibleFrom="sm">
									{formatCount(webhook.backlog.events)}
									{webhook.backlog.oldest_at === null ? null : (
										<Text size="xs" c="dimmed">
											oldest <When at={webhook.backlog.oldest_at} />
										</Text>
									)}
								</Table.Td>
								<Table.Td ta="right" visibleFrom="sm">
									{formatCount(webhook.waiting.count)}
								</Table.Td>
								<Table.Td>
									{webhook.status === "paused" ? (
										<Text size="xs" c="dimmed">
											Paused: waits
										</Text>
									) : (
										<Checkbox
											size="xs"
											label="Skip"
											aria-label={`Skip what is pending for ${webhookName(webhook)} of ${webhook.project}`}
											checked={skipped.has(webhook.id)}
											onChange={() => toggle(webhook.id)}
										/>
									)}
								</Table.Td>
							</Table.Tr>
						))}
					</Table.Tbody>
				</Table>
			</ScrollArea.Autosize>
			{found.length === 0 ? (
				<Text size="sm" c="dimmed">
					No webhook or project has this name.
				</Text>
			) : null}
			{rest <= 0 ? null : (
				<Button size="xs" variant="default" onClick={() => setListed(listed + ROWS)}>
					{`Show ${Math.min(ROWS, rest)} more of ${plural(rest, "other webhook")}`}
				</Button>
			)}
		</>
	);
}

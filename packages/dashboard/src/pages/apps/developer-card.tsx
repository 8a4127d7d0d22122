import { Button, Group, Paper, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconActivity, IconArrowRight, IconCode, IconKey, IconWebhook } from "@tabler/icons-react";
import { useProject, useSession } from "../../api/session.ts";
import { newSeriesWords, type RetryPlan } from "../../lib/attempts/track.ts";
import { ForRole } from "../../ui/account/for-role.tsx";
import { Outcome } from "../../ui/deliveries/outcome.tsx";
import { InstallButton } from "../../ui/install-button.tsx";
import { ButtonLink } from "../../ui/links.tsx";
import classes from "./developer-card.module.css";
import { RemoveDialog } from "./remove-dialog.tsx";

const brings = (plan: RetryPlan) => [
	{
		Icon: IconWebhook,
		name: "Webhooks",
		text: `Sends purchases, refunds, subscriptions and more to your own systems as they happen, signed, with ${newSeriesWords(plan)}.`,
	},
	{ Icon: IconKey, name: "API Keys", text: "Your programs publish events and manage the project over HTTP." },
	{
		Icon: IconActivity,
		name: "Logs",
		text: "Every attempt with its request and response, why it failed, and a button to send it again.",
	},
];

/** The Developer app: what it adds, and Install or Remove. */
export function DeveloperCard() {
	const { id, apps } = useProject();
	const plan = useSession();
	const installed = apps.includes("developer");
	const [removing, remove] = useDisclosure(false);
	return (
		<Paper className={classes.card} component="section" aria-labelledby="developer-app">
			<Group className={classes.head} gap="md" wrap="nowrap" align="flex-start">
				<div className={classes.icon} aria-hidden>
					<IconCode size={28} stroke={1.7} />
				</div>
				<div className={classes.names}>
					<Group gap="sm">
						<Title order={2} size="h4" id="developer-app">
							Developer
						</Title>
						{installed ? <Outcome kind="delivered" label="Installed" /> : null}
					</Group>
					<Text c="dimmed" size="sm">
						Connects the store to accounting, chat, fulfillment or anything you've built.
					</Text>
				</div>
			</Group>
			<ul className={classes.list}>
				{brings(plan).map(({ Icon, name, text }) => (
					<li key={name} className={classes.item}>
						<Icon size={20} stroke={1.7} aria-hidden />
						<div>
							<Text size="sm" fw={600}>
								{name}
							</Text>
							<Text size="sm" c="dimmed">
								{text}
							</Text>
						</div>
					</li>
				))}
			</ul>
			<Group className={classes.foot} justify="space-between" gap="sm">
				{installed ? (
					<>
						<ButtonLink
							to="/p/$projectId/webhooks"
							params={{ projectId: id }}
							variant="light"
							rightSection={<IconArrowRight size={16} aria-hidden />}
						>
							Go to Webhooks
						</ButtonLink>
						<ForRole needs="owner">
							<Button variant="default" onClick={remove.open}>
								Remove
							</Button>
						</ForRole>
					</>
				) : (
					<>
						<Text size="sm" c="dimmed">
							Nothing is sent until you create a webhook.
						</Text>
						<InstallButton projectId={id} />
					</>
				)}
			</Group>
			<RemoveDialog opened={removing} onClose={remove.close} />
		</Paper>
	);
}

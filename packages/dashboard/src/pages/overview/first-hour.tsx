import { VisuallyHidden } from "@mantine/core";
import { IconCheck } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { ForRole } from "../../ui/account/for-role.tsx";
import { InstallButton } from "../../ui/install-button.tsx";
import { ButtonLink } from "../../ui/links.tsx";
import { Section } from "../../ui/page/page.tsx";
import classes from "./first-hour.module.css";

const ORDER = ["install", "webhook", "event", "delivery"] as const;
type Step = (typeof ORDER)[number];

/** Which of the first steps with a project are done. */
export type DoneSteps = Readonly<Record<Step, boolean>>;

/** The step to do next; undefined when all are done. */
export const nextStep = (done: DoneSteps): Step | undefined => ORDER.find((step) => !done[step]);

interface FirstHourProps {
	projectId: string;
	done: DoneSteps;
	/** The webhook that a test would go to. */
	firstWebhookId: string | null;
}

const STEPS: Readonly<Record<Step, { readonly title: string; readonly text: string }>> = {
	install: {
		title: "Install the Developer app",
		text: "It adds webhooks, API keys and the delivery log to this project.",
	},
	webhook: {
		title: "Create a webhook",
		text: "Choose a URL and the events. You get a signing secret and sample code for a receiver.",
	},
	event: {
		title: "Publish an event, or send a test",
		text: "Your store publishes through the API. A test event takes just one click.",
	},
	delivery: {
		title: "Get the first delivery accepted",
		text: "This turns green once your receiver returns 2xx. If it doesn't, the log says why.",
	},
};

/** The first steps with a project; each turns green once the service has seen it happen. */
export function FirstHour({ projectId, done, firstWebhookId }: FirstHourProps) {
	const next = nextStep(done);
	const acts: Record<Step, ReactNode> = {
		install: <InstallButton projectId={projectId} size="xs" />,
		webhook: (
			<ForRole needs="developer">
				<ButtonLink size="xs" to="/p/$projectId/webhooks/new" params={{ projectId }}>
					New webhook
				</ButtonLink>
			</ForRole>
		),
		event:
			firstWebhookId === null ? null : (
				<ButtonLink
					size="xs"
					to="/p/$projectId/webhooks/$webhookId"
					params={{ projectId, webhookId: firstWebhookId }}
					search={{}}
				>
					Go to the webhook
				</ButtonLink>
			),
		delivery: (
			<ButtonLink size="xs" variant="default" to="/p/$projectId/logs" params={{ projectId }} search={{}}>
				Open the log
			</ButtonLink>
		),
	};
	return (
		<Section
			title="Your first hour"
			description={`${ORDER.filter((step) => done[step]).length} of ${ORDER.length} done`}
		>
			<ol className={classes.steps} aria-label="First steps">
				{ORDER.map((step, index) => {
					const isDone = done[step];
					const isNext = step === next;
					return (
						<li
							key={step}
							className={classes.step}
							data-done={isDone || undefined}
							data-next={isNext || undefined}
							aria-current={isNext ? "step" : undefined}
						>
							<span className={classes.mark} aria-hidden>
								{isDone ? <IconCheck size={15} stroke={2.5} /> : index + 1}
							</span>
							<div>
								<p className={classes.title}>
									{STEPS[step].title}
									{isDone ? <VisuallyHidden>, done</VisuallyHidden> : null}
								</p>
								{isDone ? null : <p className={classes.text}>{STEPS[step].text}</p>}
							</div>
							{isNext ? <div className={classes.act}>{acts[step]}</div> : null}
						</li>
					);
				})}
			</ol>
		</Section>
	);
}

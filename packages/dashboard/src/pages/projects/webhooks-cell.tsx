import { Tooltip, VisuallyHidden } from "@mantine/core";
import { useInViewport } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { type ProblemWords, problemWords } from "../../api/client/problem-words.ts";
import { type ProjectHealth, projectsHealthQuery } from "../../api/health.ts";
import { isolated } from "../../lib/text/names.ts";
import { compactCount, formatCount, plural } from "../../lib/text/numbers.ts";
import { HealthState, Outcome } from "../../ui/deliveries/outcome.tsx";
import { AnchorLink } from "../../ui/links.tsx";
import classes from "./projects-table.module.css";

/** A project shows the first of these that any of its webhooks has. */
const STATES = ["failing", "unstable", "healthy", "paused", "idle"] as const;
/** If a project shows one of these, its link leads to the webhooks that have it. */
const FILTERED: ReadonlySet<string> = new Set(["failing", "unstable", "paused"]);

interface WebhooksCellProps {
	project: { readonly id: string; readonly name: string };
	/** The projects whose health is requested together with this one's. */
	group: readonly string[];
}

/** The health of a project's webhooks, with links to fix it. Requested only while it is in view; empty until it is known. */
export function WebhooksCell({ project, group }: WebhooksCellProps) {
	const { ref, inViewport } = useInViewport();
	const { data, error, isPlaceholderData } = useQuery({ ...projectsHealthQuery(group), enabled: inViewport });
	const health = data?.findLast(({ project_id }) => project_id === project.id);
	return (
		<span ref={ref} className={classes.webhooks}>
			{error !== null ? (
				<Unknown {...problemWords(error)} />
			) : health !== undefined ? (
				<Known name={isolated(project.name)} health={health} />
			) : data === undefined || isPlaceholderData ? null : (
				<Unknown {...LEFT_OUT} />
			)}
		</span>
	);
}

/** Only for this project: its data is damaged, or it may no longer be seen. */
const LEFT_OUT = { title: "Its webhooks' health can't be read", detail: "Open the project to find out why." };

function Unknown({ title, detail }: Pick<ProblemWords, "title" | "detail">) {
	return (
		<Tooltip label={`${title}. ${detail}`}>
			<span className={classes.quiet}>
				<span aria-hidden>–</span>
				<VisuallyHidden>Not known. {title}.</VisuallyHidden>
			</span>
		</Tooltip>
	);
}

function Known({ name, health }: { name: string; health: ProjectHealth }) {
	const { project_id: projectId, webhooks, dead_letters: dead } = health;
	const present = STATES.filter((state) => webhooks[state] > 0);
	const [worst] = present;
	const wordOf = (state: (typeof STATES)[number]) => (state === "idle" ? "with no deliveries" : state);
	const counts = present.map((state) => `${formatCount(webhooks[state])} ${wordOf(state)}`).join(", ");
	const toDecide = `${compactCount(dead)} to decide`;
	return (
		<>
			<Tooltip label={counts} disabled={worst === undefined}>
				<AnchorLink
					to="/p/$projectId/webhooks"
					params={{ projectId }}
					search={worst !== undefined && FILTERED.has(worst) ? { state: worst } : {}}
					aria-label={`${worst === undefined ? "No webhooks" : `Webhooks: ${counts}`}; ${name}`}
				>
					{worst === undefined ? (
						<span className={classes.quiet}>No webhooks</span>
					) : (
						<HealthState state={worst} count={webhooks[worst]} />
					)}
				</AnchorLink>
			</Tooltip>
			{dead === 0 ? null : (
				<Tooltip
					label={`${plural(dead, "delivery")} failed for good. Replay or dismiss ${dead === 1 ? "it" : "them"}.`}
				>
					<AnchorLink
						to="/p/$projectId/logs"
						params={{ projectId }}
						search={{ state: "failed", unhandled: true }}
						aria-label={`Failed deliveries: ${toDecide}; ${name}`}
					>
						<Outcome kind="failed" plain label={toDecide} />
					</AnchorLink>
				</Tooltip>
			)}
		</>
	);
}

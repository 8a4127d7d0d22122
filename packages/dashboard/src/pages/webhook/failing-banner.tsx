import { Button, Group } from "@mantine/core";
import { IconActivity, IconAlertTriangle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { attemptQuery } from "../../api/attempts.ts";
import type { Health } from "../../api/health.ts";
import { adviceFor } from "../../lib/attempts/advice/advice.ts";
import { responseExcerpt } from "../../lib/attempts/response-excerpt.ts";
import { deliveriesWaiting } from "../../lib/health/health-facts.ts";
import { recoveryAdvice } from "../../lib/health/recovery.ts";
import { failingSince, unstableWords, waitingSentence } from "../../lib/health/webhook-words.ts";
import { plural } from "../../lib/text/numbers.ts";
import { ForRole } from "../../ui/account/for-role.tsx";
import { RetryAllNow } from "../../ui/deliveries/retry-now.tsx";
import { useNow } from "../../ui/hooks/use-now.ts";
import { useRecovery } from "../../ui/hooks/use-recovery.ts";
import { ButtonLink } from "../../ui/links.tsx";
import classes from "./failing-banner.module.css";

interface FailingBannerProps {
	projectId: string;
	health: Health;
	onReplay: () => void;
}

/** What is wrong with a failing or unstable webhook, its pending events, and what to do. */
export function FailingBanner({ projectId, health, onReplay }: FailingBannerProps) {
	const { last_attempt: last } = health;
	const next = health.waiting.next_at;
	const now = useNow(next === null ? 0 : Date.parse(next));
	const waits = waitingSentence(health, now);
	// After a success, the last attempt says nothing about the failed ones.
	const failed = last === null || last.status === "delivered" ? null : last;
	// Its body and headers say more than its status.
	const { data: whole } = useQuery({ ...attemptQuery(projectId, failed?.id ?? ""), enabled: failed !== null });
	const { tries } = failed === null ? { tries: [] } : adviceFor(whole ?? failed);
	const recovery = useRecovery(projectId, health, now);
	const [advice = failed === null ? recoveryAdvice(health.recent, recovery) : "Open the log to see the responses."] =
		tries;
	const excerpt = whole === undefined || failed?.status_code == null ? "" : responseExcerpt(whole.response_body);
	return (
		<section
			className={classes.banner}
			aria-label={failed === null ? "What happened" : "What is wrong"}
			data-state={health.state}
		>
			<div className={classes.words}>
				{failed === null ? <IconActivity size={20} aria-hidden /> : <IconAlertTriangle size={20} aria-hidden />}
				<div>
					<p className={classes.title}>
						{health.state === "failing" ? failingSince(health, now) : unstableWords(health)}
					</p>
					{waits === "" ? null : <p className={classes.text}>{waits}</p>}
					{excerpt === "" ? null : (
						<p className={classes.text}>
							It said: <code className={classes.said}>{excerpt}</code>
						</p>
					)}
					<p className={classes.text}>{advice}</p>
				</div>
			</div>
			<Group gap="xs">
				<ButtonLink
					variant="default"
					to="/p/$projectId/logs"
					params={{ projectId }}
					search={{ webhook_id: health.webhook_id }}
				>
					See responses
				</ButtonLink>
				{deliveriesWaiting(health.waiting) === 0 ? null : (
					<RetryAllNow
						projectId={projectId}
						webhookId={health.webhook_id}
						waiting={health.waiting}
						// Likely to succeed now.
						variant={failed === null ? "filled" : "default"}
					/>
				)}
				{health.dead_letters === 0 ? null : (
					<ForRole needs="developer">
						{/* While it is failing, a replay fails, too. */}
						<Button variant={health.state === "failing" ? "default" : "filled"} onClick={onReplay}>
							Replay {plural(health.dead_letters, "failed delivery")}
						</Button>
					</ForRole>
				)}
			</Group>
		</section>
	);
}

import { Button, Group } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { Health } from "../../api/health.ts";
import { failingSince, waitingSentence } from "../../lib/health.ts";
import { plural } from "../../lib/numbers.ts";
import { ForRole } from "../../ui/for-role.tsx";
import { useNow } from "../../ui/use-now.ts";
import classes from "./failing-banner.module.css";

interface FailingBannerProps {
	projectId: string;
	health: Health;
	onReplay: () => void;
}

/** What is wrong with a failing webhook, what waits because of it, and what to do. */
export function FailingBanner({ projectId, health, onReplay }: FailingBannerProps) {
	const next = health.waiting.next_at;
	const now = useNow(next === null ? 0 : Date.parse(next));
	const waits = waitingSentence(health, now);
	return (
		<section className={classes.banner} aria-label="What is wrong">
			<div className={classes.words}>
				<IconAlertTriangle size={20} aria-hidden />
				<div>
					<p className={classes.title}>{failingSince(health, now)}</p>
					{waits === "" ? null : <p className={classes.text}>{waits}</p>}
					<p className={classes.text}>{adviceFor(health)}</p>
				</div>
			</div>
			<Group gap="xs">
				<Button
					variant="default"
					renderRoot={(props) => (
						<Link
							{...props}
							to="/p/$projectId/logs"
							params={{ projectId }}
							search={{ webhook_id: health.webhook_id }}
						/>
					)}
				>
					See the answers
				</Button>
				{health.dead_letters === 0 ? null : (
					<ForRole needs="developer">
						{(disabled) => (
							<Button onClick={onReplay} disabled={disabled}>
								Replay {plural(health.dead_letters, "failed event")}
							</Button>
						)}
					</ForRole>
				)}
			</Group>
		</section>
	);
}

/** What to do about the last answer; the service's own words where no answer came. */
function adviceFor({ last_attempt: last }: Health): string {
	const code = last?.status_code ?? null;
	if (last === null) return "Look into the log for what came back.";
	if (code === null) return last.error ?? "No answer came. Check that the receiver runs and can be reached.";
	if (code === 401 || code === 403)
		return "The receiver refuses the request. It may have another signing secret, or a login in front of it.";
	if (code === 404 || code === 410) return "Nothing is at this URL any more. Check the URL in the settings.";
	if (code === 429)
		return "The receiver takes fewer requests than it gets. Raise its limit, or lower what is sent at once.";
	if (code >= 300 && code < 400)
		return "The receiver redirects, which is not followed. Enter the final URL in the settings.";
	if (code >= 500)
		return "The receiver itself fails. Its own log says why; once it is mended, retries arrive by themselves.";
	return "Only an answer of 2xx counts as accepted. See what the receiver says in its answers.";
}

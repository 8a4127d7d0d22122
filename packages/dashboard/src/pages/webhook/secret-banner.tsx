import { IconKeyOff } from "@tabler/icons-react";
import type { Webhook } from "../../api/webhooks.ts";
import { ForRole } from "../../ui/account/for-role.tsx";
import classes from "./failing-banner.module.css";
import { RotateSecret } from "./rotate-secret.tsx";

interface SecretBannerProps {
	projectId: string;
	webhook: Webhook;
}

/** Why nothing can be signed for a webhook, and what to do. */
export function SecretBanner({ projectId, webhook }: SecretBannerProps) {
	const { secret_state: state, status } = webhook;
	return (
		<section className={classes.banner} aria-label="What is wrong">
			<div className={classes.words}>
				<IconKeyOff size={20} aria-hidden />
				<div>
					<p className={classes.title}>
						{state === "lost"
							? "Its signing secret was discarded, because the service's seal key was lost."
							: "The service can't read its signing secret: the key that sealed it is missing."}
					</p>
					<p className={classes.text}>
						Nothing is sent, and events wait. Rotate the secret and give the new one to the receiver
						{status === "paused"
							? ", then resume the webhook."
							: ". Waiting events are sent as soon as it's rotated: to give the receiver the new secret first, pause the webhook in its settings."}
						{state === "lost" ? null : " Or ask the operator to restore the key."}
					</p>
				</div>
			</div>
			<ForRole needs="developer">
				<RotateSecret projectId={projectId} webhook={webhook} variant="filled" />
			</ForRole>
		</section>
	);
}

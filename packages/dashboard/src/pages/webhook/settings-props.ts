import type { Webhook } from "../../api/webhooks.ts";

/** What each part of a webhook's settings is given. */
export interface SettingsProps {
	projectId: string;
	webhook: Webhook;
	/** For those who may look only. */
	readOnly: boolean;
}

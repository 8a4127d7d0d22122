import type { Webhook } from "../../../api/webhooks.ts";

/** The props of each part of a webhook's settings. */
export interface SettingsProps {
	projectId: string;
	webhook: Webhook;
	/** For users who may only look. */
	readOnly: boolean;
}

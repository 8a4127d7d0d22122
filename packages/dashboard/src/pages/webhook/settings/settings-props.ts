import type { Webhook } from "../../../api/webhooks.ts";

/** The props of each part of a webhook's settings. */
export interface SettingsProps {
	projectId: string;
	webhook: Webhook;
	/** For users who may only look. */
	readOnly: boolean;
}

/** The props of parts that are saved. */
export interface FormProps extends SettingsProps {
	/** Called with whether there are changes that aren't saved. It stays the same. */
	onUnsaved: (unsaved: boolean) => void;
}

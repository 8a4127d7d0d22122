export {
	APPS,
	DEVELOPER_APP,
	NAME_LENGTH,
	type ProjectInput,
	Projects,
	type ProjectsOptions,
	projectFaults,
} from "./projects.ts";
export type { Fault, Invalid } from "./text.ts";
export { textFaults } from "./text.ts";
export { UrlCheck, type UrlCheckOptions, type UrlCheckResult } from "./url-check.ts";
export {
	MAX_IN_FLIGHT,
	type NewWebhookInput,
	type WebhookChange,
	type WebhookFields,
	type WebhookLimits,
	Webhooks,
	type WebhooksOptions,
	type WebhookView,
} from "./webhooks.ts";

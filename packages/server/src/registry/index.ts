export type { Fault, Invalid } from "./fault.ts";
export {
	APPS,
	DEVELOPER_APP,
	NAME_LENGTH,
	type ProjectInput,
	Projects,
	type ProjectsOptions,
	projectFaults,
} from "./projects.ts";
export { textFaults } from "./text.ts";
export { UrlCheck, type UrlCheckOptions, type UrlCheckResult } from "./url-check.ts";
export { MAX_IN_FLIGHT, type WebhookFields, type WebhookLimits } from "./webhook-faults.ts";
export {
	type NewWebhookInput,
	type WebhookChange,
	Webhooks,
	type WebhooksOptions,
	type WebhookView,
} from "./webhooks.ts";

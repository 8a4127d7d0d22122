import { Components } from "./openapi/components.ts";
import { operationOf } from "./openapi/operation.ts";
import { receiverWebhooks } from "./openapi/receiver.ts";
import type { Route } from "./route.ts";

export interface OpenApiOptions {
	/** The word in the names of deliveries' headers. */
	readonly brand: string;
}

const TAGS = [
	{ name: "Projects", description: "Stores whose events are published; each is separate from all others." },
	{ name: "API keys", description: "Keys that can access a single project." },
	{ name: "Events", description: "Publishing events, and reading the log by polling." },
	{
		name: "Store facts",
		description:
			"Reports of what happened in the store. The service publishes the events that follow, each once and in order.",
	},
	{ name: "Webhooks", description: "Where events are sent." },
	{ name: "Delivery log", description: "Every attempt, and replays." },
	{ name: "Insight", description: "Statistics, health, pending retries, and live changes." },
	{ name: "Account", description: "The account and sessions of a person who signs in to the dashboard." },
	{ name: "Members", description: "Members and their roles, invitations, and the audit log." },
	{ name: "System", description: "Health, metrics and this document." },
];

const DESCRIPTION = `Posthorn pushes a store's events to HTTPS endpoints: signed, in order, retried, with every attempt on record.

Send an API key as \`Authorization: Bearer KEY\`. The operator's key sees every project; a project's key sees only its own project, and gets 404 for anything else. Errors are \`application/problem+json\` (RFC 9457); for invalid input, \`errors\` lists every fault. Each response has an \`X-Request-Id\`: yours, if you sent one.

Strings are well-formed Unicode. Besides the schemas, there are limits on sizes and nesting; a request beyond them gets 413 or 422.`;

/** This API as an OpenAPI 3.1 document, built from the routes that the server registers. */
export function openApiDocument(routes: readonly Route[], { brand }: OpenApiOptions): Record<string, unknown> {
	const components = new Components();
	const paths: Record<string, Record<string, unknown>> = {};
	for (const route of routes) {
		paths[route.path] ??= {};
		paths[route.path]![route.method.toLowerCase()] = operationOf(route, components);
	}
	const webhooks = receiverWebhooks(brand, components);
	return {
		openapi: "3.1.0",
		info: {
			title: "Posthorn",
			version: "1",
			description: DESCRIPTION,
			license: { name: "Apache-2.0", identifier: "Apache-2.0" },
		},
		servers: [{ url: "/" }],
		tags: TAGS,
		security: [{ apiKey: [] }, { session: [] }],
		paths,
		webhooks,
		components: {
			...components.toJSON(),
			securitySchemes: {
				session: {
					type: "apiKey",
					in: "cookie",
					name: "posthorn_session",
					description:
						"The session cookie of a person who signed in. Over https its name begins with `__Host-`. Changes also need the header `X-CSRF-Token`.",
				},
				apiKey: {
					type: "http",
					scheme: "bearer",
					description: "The operator's key (`pho_…`) or a project's (`phk_…`).",
				},
			},
		},
	};
}

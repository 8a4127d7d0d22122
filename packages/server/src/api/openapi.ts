import { Components } from "./openapi/components.ts";
import { operationOf } from "./openapi/operation.ts";
import { receiverWebhooks } from "./openapi/receiver.ts";
import type { Route } from "./route.ts";

export interface OpenApiOptions {
	/** The word in the header names of the requests that receivers get. */
	readonly brand: string;
}

const TAGS = [
	{ name: "Projects", description: "Stores whose events are published; each is separate from all others." },
	{ name: "API keys", description: "Keys that see one project alone." },
	{ name: "Events", description: "Publishing events, and reading the log by polling." },
	{
		name: "Store facts",
		description: "What happened in the store, from which the service makes the events: each once, in order.",
	},
	{ name: "Webhooks", description: "Where events are sent." },
	{ name: "Delivery log", description: "Every attempt, and sending again." },
	{ name: "Insight", description: "How webhooks fare: figures, health, what waits, and what changes." },
	{ name: "Account", description: "Of somebody who signs in to the dashboard." },
	{ name: "Members", description: "Who may do what in a project, and who did what." },
	{ name: "System", description: "For those who run the service." },
];

const DESCRIPTION = `Posthorn pushes a store's events to HTTPS endpoints: signed, in order, retried, every attempt on view.

Send an API key as \`Authorization: Bearer KEY\`. The operator's key sees every project; a project's key sees its own project alone, and anything else is 404. Errors are \`application/problem+json\` (RFC 9457); for input, \`errors\` names every fault. Each answer carries \`X-Request-Id\`, yours if you sent one.`;

/** This API as an OpenAPI 3.1 document, made from the rows that the server serves. */
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
						"Of somebody who signed in. Over https its name begins with `__Host-`. Changes need the header `X-CSRF-Token` as well.",
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

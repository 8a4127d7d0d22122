import { DEFAULT_BRAND } from "@posthorn/protocol";
import { queryOptions } from "@tanstack/react-query";
import { api, callApi } from "./client/client.ts";
import type { Schemas } from "./client/operation.ts";

/** A catalogue entry for an event type. */
export type EventTypeEntry = Schemas["EventTypeEntry"];

export interface Sample {
	readonly type: EventTypeEntry["type"];
	readonly data: Readonly<Record<string, unknown>>;
	/** How many webhooks are expected to get it. */
	readonly webhooks: number;
}

/** Publishes a sample event and returns its id. Throws ApiError, 409 if another number of webhooks would get it. */
export async function publishSample(projectId: string, sample: Sample): Promise<string> {
	const path = { project_id: projectId };
	const { id } = await api.post("/v1/projects/{project_id}/samples", { path, body: sample as never });
	return id;
}

/** The catalogue. It only changes with the service's version. */
export const eventTypesQuery = queryOptions({
	queryKey: ["event-types"],
	queryFn: ({ signal }) => api.get("/v1/event-types", { signal }),
	staleTime: Number.POSITIVE_INFINITY,
});

interface ReceiverDocument {
	readonly webhooks?: Readonly<
		Record<string, { readonly post?: { readonly parameters?: readonly { name?: string }[] } }>
	>;
}

/** The word in the header names, from the part of the OpenAPI document that is about receivers. */
export const brandQuery = queryOptions({
	queryKey: ["brand"],
	queryFn: async ({ signal }) => {
		const { webhooks = {} } = await callApi<ReceiverDocument>("GET", "/openapi.json", { signal });
		const names = Object.values(webhooks).flatMap(({ post }) => post?.parameters?.map(({ name }) => name ?? "") ?? []);
		const brands = names.map((name) => /^X-(.+)-Signature$/i.exec(name)?.[1]);
		return brands.find((brand) => brand !== undefined) ?? DEFAULT_BRAND;
	},
	staleTime: Number.POSITIVE_INFINITY,
});

import type { Static } from "typebox";
import type * as port from "../../storage/port.ts";
import { formatTime, formatTimeOrNull } from "../http/time.ts";
import { closed, id, list, Name, Time } from "./common.ts";
import { Type } from "./type.ts";

const Apps = Type.Array(Type.Enum(["developer"], { type: "string" }), {
	uniqueItems: true,
	description: "Installed apps. `developer` adds webhooks, API keys and logs.",
	examples: [["developer"]],
});

export const Project = Type.Object(
	{ id: id("proj", "project"), name: Name, apps: Apps, created_at: Time },
	{ title: "Project" },
);
export const ProjectList = list(Project);
export const NewProject = Type.Object(
	{ name: Name, apps: Type.Optional(Apps) },
	{ ...closed, title: "NewProject", examples: [{ name: "My store" }] },
);
export const ProjectPatch = Type.Object({ name: Name }, { ...closed, title: "ProjectPatch" });

const apiKeyFields = {
	id: id("key", "key"),
	name: Name,
	prefix: Type.String({
		description: "The key's first characters, to tell keys apart.",
		examples: ["phk_Zk3v9QxB"],
	}),
	created_at: Time,
};
export const ApiKey = Type.Object(
	{
		...apiKeyFields,
		last_used_at: Type.Union([Time, Type.Null()], {
			description: "When it was last used, accurate to about a minute.",
		}),
	},
	{ title: "ApiKey" },
);
export const ApiKeyList = list(ApiKey);
export const CreatedApiKey = Type.Object(
	{ ...apiKeyFields, key: Type.String({ description: "The key, shown only in this response and stored as a hash." }) },
	{ title: "CreatedApiKey" },
);
export const NewApiKey = Type.Object({ name: Name }, { ...closed, title: "NewApiKey", examples: [{ name: "Shop" }] });

export function presentProject({ id, name, apps, createdAt }: port.Project): Static<typeof Project> {
	return { id, name, apps: apps as "developer"[], created_at: formatTime(createdAt) };
}

export function presentApiKey(key: port.ApiKey): Static<typeof ApiKey> {
	const { id, name, prefix, createdAt, lastUsedAt } = key;
	return { id, name, prefix, created_at: formatTime(createdAt), last_used_at: formatTimeOrNull(lastUsedAt) };
}

import type { Static } from "typebox";
import type * as port from "../../storage/port.ts";
import { KEY_SCOPES } from "../../storage/port.ts";
import { formatTime, formatTimeOrNull } from "../http/time.ts";
import { closed, givenTime, id, list, Name, Time } from "./common.ts";
import { Actor } from "./members.ts";
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

const scopes = (description: string) =>
	Type.Array(Type.Enum([...KEY_SCOPES], { type: "string", title: "KeyScope" }), {
		minItems: 1,
		uniqueItems: true,
		description: `${description} \`publish\`: publish events and report store facts. \`read\`: read the log, webhooks and deliveries. \`manage\`: change webhooks, replay, send test events, revoke keys.`,
		examples: [["publish"]],
	});

const apiKeyFields = {
	id: id("key", "key"),
	name: Name,
	prefix: Type.String({
		description: "The key's first characters, to tell keys apart.",
		examples: ["phk_Zk3v9QxB"],
	}),
	scopes: scopes("What the key may do."),
	expires_at: Type.Union([Time, Type.Null()], {
		description: "When the key stops working; null if it doesn't expire.",
	}),
	created_by: Type.Union([Actor, Type.Null()], {
		description: "Who created the key; null for keys created before this was recorded.",
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
export const NewApiKey = Type.Object(
	{
		name: Name,
		scopes: Type.Optional(scopes("What the key may do; everything by default.")),
		expires_at: Type.Optional(givenTime("When the key stops working, in the future; by default, it doesn't expire.")),
	},
	{ ...closed, title: "NewApiKey", examples: [{ name: "Shop", scopes: ["publish"] }] },
);

export function presentProject({ id, name, apps, createdAt }: port.Project): Static<typeof Project> {
	return { id, name, apps: apps as "developer"[], created_at: formatTime(createdAt) };
}

export function presentApiKey(key: port.ApiKey): Static<typeof ApiKey> {
	const { id, name, prefix, scopes, expiresAt, createdBy, createdAt, lastUsedAt } = key;
	return {
		id,
		name,
		prefix,
		scopes: [...scopes],
		expires_at: formatTimeOrNull(expiresAt),
		created_by: createdBy && { ...createdBy },
		created_at: formatTime(createdAt),
		last_used_at: formatTimeOrNull(lastUsedAt),
	};
}

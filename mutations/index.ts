import { ACCOUNTS } from "./accounts.ts";
import { API } from "./api.ts";
import { ENGINE_ACTOR } from "./engine-actor.ts";
import { ENGINE_LANES } from "./engine-lanes.ts";
import { ENGINE_LEASES } from "./engine-leases.ts";
import { ENGINE_SEND } from "./engine-send.ts";
import { FACTS } from "./facts.ts";
import type { Mutation } from "./mutation.ts";
import { NET } from "./net.ts";
import { OTHERS } from "./others.ts";
import { PUBLISH } from "./publish.ts";
import { REGISTRY } from "./registry.ts";
import { SETTLE } from "./settle.ts";
import { STORAGE_POSTGRES } from "./storage-postgres.ts";
import { STORAGE_SHARED } from "./storage-shared.ts";
import { STORAGE_SQLITE } from "./storage-sqlite.ts";
import { STORAGE_VERBS } from "./storage-verbs.ts";
import { WEBHOOKS } from "./webhooks.ts";

export type Areas = Readonly<Record<string, readonly Mutation[]>>;

/** All mutations, by the area that `--area` names: in the order in which data flows. */
export const AREAS: Areas = {
	publish: PUBLISH,
	"engine-lanes": ENGINE_LANES,
	"engine-actor": ENGINE_ACTOR,
	"engine-leases": ENGINE_LEASES,
	"engine-send": ENGINE_SEND,
	net: NET,
	settle: SETTLE,
	"storage-shared": STORAGE_SHARED,
	"storage-verbs": STORAGE_VERBS,
	"storage-sqlite": STORAGE_SQLITE,
	"storage-postgres": STORAGE_POSTGRES,
	api: API,
	registry: REGISTRY,
	accounts: ACCOUNTS,
	facts: FACTS,
	webhooks: WEBHOOKS,
	others: OTHERS,
};

import { ACCOUNTS } from "./areas/accounts.ts";
import { API } from "./areas/api.ts";
import { ENGINE_ACTOR } from "./areas/engine/actor.ts";
import { ENGINE_LANES } from "./areas/engine/lanes.ts";
import { ENGINE_LEASES } from "./areas/engine/leases.ts";
import { ENGINE_SEND } from "./areas/engine/send.ts";
import { FACTS } from "./areas/facts.ts";
import { NET } from "./areas/net.ts";
import { OTHERS } from "./areas/others.ts";
import { PUBLISH } from "./areas/publish.ts";
import { REGISTRY } from "./areas/registry.ts";
import { SETTLE } from "./areas/settle.ts";
import { STORAGE_POSTGRES } from "./areas/storage/postgres.ts";
import { STORAGE_SHARED } from "./areas/storage/shared.ts";
import { STORAGE_SQLITE } from "./areas/storage/sqlite.ts";
import { STORAGE_VERBS } from "./areas/storage/verbs.ts";
import { WEBHOOKS } from "./areas/webhooks.ts";
import type { Mutation } from "./mutation.ts";

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

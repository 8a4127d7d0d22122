import { ACTOR } from "./actor.ts";
import type { Bite } from "./bite.ts";
import { LANES } from "./lanes.ts";
import { LEASES } from "./leases.ts";
import { OWNERS } from "./owners.ts";
import { PUBLISH } from "./publish.ts";
import { SETTLE } from "./settle.ts";

/** All deliberate faults, in the order in which data flows. */
export const BITES: readonly Bite[] = [...PUBLISH, ...LANES, ...ACTOR, ...LEASES, ...SETTLE, ...OWNERS];

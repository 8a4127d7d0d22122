import type { Storage } from "../../../src/storage/port.ts";
import { openPostgresStorage, type PostgresStorage } from "../../../src/storage/postgres/index.ts";
import { World } from "../conformance/world.ts";

type Clock = Parameters<typeof openPostgresStorage>[0]["clock"];

/** The lease duration of nodes that {@link openNode} opens, in milliseconds. */
export const LEASE_TERM_MS = 15_000;

/** A node whose leases end by this clock instead of the database's. */
export const openNode = (url: string, clock: Clock): Promise<PostgresStorage> =>
	openPostgresStorage({ url, clock, leaseTermMs: LEASE_TERM_MS, leasesByClock: true });

/** The suite's verbs on a storage opened with these options, for tests of this engine only. It can't be reopened. */
export function worldOf(open: (clock: Clock) => Promise<Storage>): Promise<World> {
	return World.open({
		name: "PostgreSQL",
		manyNodes: true,
		leaseTermMs: LEASE_TERM_MS,
		open: ({ clock }) => open(clock),
		reopen: () => Promise.reject(new Error("This world can't be reopened.")),
		dispose: (storage) => storage.close(),
	});
}

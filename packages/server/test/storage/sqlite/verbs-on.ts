import type { NativeVerbs } from "../../../src/storage/port.ts";
import type { Connection } from "../../../src/storage/sqlite/connection/connection.ts";
import type { LeaseTime } from "../../../src/storage/sqlite/leases/leases.ts";
import { OPERATIONS } from "../../../src/storage/sqlite/verbs.ts";
import type { ColdStorage } from "../../../src/storage/verbs/index.ts";

type Verbs = NativeVerbs &
	ColdStorage & { pingWriter(): unknown; pingReader(): unknown; readGauges(after: number): unknown };

type Sync = {
	readonly [K in keyof Verbs]: (p?: Parameters<Verbs[K]>[0], time?: LeaseTime) => Awaited<ReturnType<Verbs[K]>>;
};

/** The verbs on this connection, without threads and outside any transaction. */
export function verbsOn(c: Connection): Sync {
	const verbs = Object.entries(OPERATIONS).map(([name, { pack, run, unpack }]) => [
		name,
		(p: never, time: LeaseTime = { now: 1_000, until: 2_000 }) => {
			const result = run(c, pack(p) as never, time);
			return unpack === undefined ? result : unpack(result as never);
		},
	]);
	return Object.fromEntries(verbs) as Sync;
}

import { of } from "./mutation.ts";
import { inPostgres, POSTGRES } from "./tests.ts";

/** The storage rules in PostgreSQL. */
export const STORAGE_POSTGRES = [
	...of("server/src/storage/postgres/log/append.ts", inPostgres("log/append"), [
		{
			name: "postgres-append-all-repeated",
			find: "repeated: !(maybeOurs && isOurs(found.there, row))",
			replace: "repeated: true",
			why: "An event whose commit got no response is not given to the lanes immediately.",
			review: "append-repeated.ts: always repeated",
		},
		{
			name: "postgres-append-taken-for-ours",
			find: "there.createdAt === row.createdAt && there.publishedAt === row.publishedAt",
			replace: "there.createdAt === row.createdAt",
			why: "A repeated event is reported as new.",
		},
	]),
	...of("server/src/storage/postgres/lanes/settle.ts", POSTGRES, [
		{
			name: "postgres-settle-any-generation",
			find: 'if (hold.generation !== c.storedGeneration(one.settlement.generation)) return "stale";',
			replace: "",
			only: "leases and alarms|settling",
			why: "A node that has lost its lease still settles, so the next owner sends deliveries twice.",
		},
		{
			name: "postgres-settle-beyond-log",
			find: 'if (one.moves.lanes.some(({ position }) => position > hold.last_seq)) return "stale";',
			replace: "",
			only: "settling",
			why: "After a failover lanes are beyond the end of the log, and new events are skipped.",
		},
		{
			name: "postgres-settle-unanswered-is-stale",
			find: 'if (known.length > 0 && known.every((id, i) => id === storedId(one.attempts[i]!))) return "settled";',
			replace: "",
			tests: inPostgres("faults"),
			why: "A commit whose response was lost has the project dropped and its events read again.",
		},
		{
			name: "postgres-settle-released",
			find: "CASE WHEN l.until IS NOT NULL THEN l.generation END AS generation",
			replace: "l.generation",
			only: "leases and alarms|settling|outlive their lease",
			why: "A node settles under a lease that it has released.",
		},
		{
			name: "postgres-settle-twice-in-one",
			find: "known.some((id) => id !== undefined) || repeatsItself(one)",
			replace: "repeatsItself(one)",
			only: "settling",
			why: "An attempt that is logged already takes the whole commit with it, or is logged twice.",
		},
	]),
	...of("server/src/storage/postgres/lanes/settle-rows.ts", POSTGRES, [
		{
			name: "postgres-lane-goes-back",
			find: "position = greatest(l.position, g.position),",
			replace: "position = CASE WHEN g.position > 0 THEN g.position ELSE l.position END,",
			only: "settling",
			why: "An attempt in flight undoes resuming from now, and the backlog is sent.",
		},
		{
			name: "postgres-lane-forgets-open",
			find: "FROM unnest(l.open) AS seq WHERE seq > g.position OR seq = ANY (g.open)",
			replace: "FROM unnest(l.open) AS seq WHERE seq = ANY (g.open)",
			only: "settling",
			why: "An outcome that is committed late closes events opened since: a crash loses them.",
		},
		{
			name: "postgres-lane-reopens",
			find: "UNION ALL SELECT seq FROM unnest(g.open) AS seq WHERE seq > l.position",
			replace: "UNION SELECT seq FROM unnest(g.open) AS seq",
			only: "settling",
			why: "An outcome that is committed late reopens what was settled since: it is sent again.",
		},
		{
			name: "postgres-deleted-loses-pending",
			find: "SELECT FROM posthorn.retries r\n\t\t\t\tWHERE",
			replace: "SELECT FROM posthorn.retries r\n\t\t\t\tWHERE false AND",
			only: "settling",
			why: "A retry of a deleted webhook stays as it was when its attempt fails: the attempt is repeated.",
		},
		{
			name: "postgres-retry-counted-again",
			find: "NULL, NULL, 1, 0 FROM put WHERE added",
			replace: "NULL, NULL, 1, 0 FROM put",
			only: "backlogs and gauges",
			why: "The gauge of waiting retries grows with each failure.",
		},
	]),
	...of("server/src/storage/postgres/leases/leases.ts", POSTGRES, [
		{
			name: "postgres-lease-same-generation",
			find: "generation = l.generation + 1, acknowledged",
			replace: "generation = l.generation, acknowledged",
			only: "leases and alarms",
			why: "Two holders in a row have the same generation, and the first may settle under the second's lease.",
		},
		{
			name: "postgres-lease-in-quarantine",
			find: "settings WHERE name = '",
			replace: "settings WHERE false AND name = '",
			only: "in quarantine",
			why: "A restored database sends what waits before anyone has looked.",
		},
		{
			name: "postgres-lease-acknowledges-unread",
			find: "acknowledged = NULL, until",
			replace: "until",
			tests: inPostgres("nodes"),
			only: "regardless of former holders",
			why: "A change counts as in force before the new holder of the project has read it.",
		},
		{
			name: "postgres-release-ignores-changes",
			find: "g.last_seq > $4 OR g.revision <> $5",
			replace: "g.last_seq > $4 OR g.revision < $5",
			only: "leases and alarms",
			why: "A replay or test stored while the lease was released waits for the next event.",
		},
		{
			name: "postgres-next-alarm-latest",
			find: "SELECT least(",
			replace: "SELECT greatest(",
			only: "leases and alarms",
			why: "A node sleeps beyond the retries that are due first.",
		},
		{
			name: "postgres-lease-no-turns",
			find: "Math.max(behind, ...news), overdueFirst: !overdueFirst",
			replace: "Math.max(behind, ...news), overdueFirst: false",
			only: "with one slot at a time",
			why: "If slots become free one at a time, only projects with new events get them, and retries wait.",
		},
	]),
	...of("server/src/storage/postgres/lanes/replay.ts", POSTGRES, [
		{
			name: "postgres-replay-twice",
			find: "newest.dismissed_at IS NULL AND waiting.seq IS NULL AS over",
			replace: "newest.dismissed_at IS NULL AS over",
			only: "dead letters are replayed|none twice",
			why: "“Replay all that failed” begins a second series while one waits.",
		},
		{
			name: "postgres-replay-dead-letters",
			find: "dead_letters = greatest(0, l.dead_letters - g.dead)",
			replace: "dead_letters = l.dead_letters",
			only: "backlogs and gauges|replays",
			why: "Dead letters that are replayed stay counted.",
		},
	]),
	...of("server/src/storage/postgres/lanes/replay.ts", POSTGRES, [
		{
			name: "postgres-replay-matching-deleted",
			find: "AND lane.webhook_no IS NOT NULL AS chosen",
			replace: "AS chosen",
			only: "replays by filter",
			why: "A replay by filter stores attempts for deleted webhooks.",
		},
	]),
	...of("server/src/storage/postgres/leases/handover.ts", POSTGRES, [
		{
			name: "postgres-handed-over-any-generation",
			find: "AND replay = $4 AND generation = $5`",
			replace: "AND replay = $4 AND generation >= $5`",
			only: "outlive their lease",
			why: "A former holder settles an attempt that a later one has handed over.",
		},
		{
			name: "postgres-handed-over-too-long",
			find: "WHERE project_no = $2 AND until <= ",
			replace: "WHERE project_no = $2 AND until + 1000 <= ",
			only: "outlive their lease",
			why: "Attempts of a node that died are repeated late.",
		},
	]),
	...of("server/src/storage/postgres/leases/peers.ts", inPostgres("nodes"), [
		{
			name: "postgres-in-force-too-soon",
			find: "coalesce(acknowledged, -1) < $3",
			replace: "coalesce(acknowledged, $3) < $3",
			only: "regardless of former holders",
			why: "A pause returns before the project's owner has read it.",
		},
	]),
	...of("server/src/storage/postgres/lanes/locks.ts", POSTGRES, [
		{
			name: "postgres-ring-held",
			find: "UPDATE posthorn.leases SET wake_at = 0 WHERE project_no = $1 AND until IS NULL",
			replace: "UPDATE posthorn.leases SET wake_at = 0 WHERE project_no = $1",
			only: "leases and alarms|registry",
			why: "An owned project counts as free, and is taken from its node.",
		},
	]),
	...of("server/src/storage/postgres/retention/retention.ts", POSTGRES, [
		{
			name: "postgres-sweep-holds-too-much",
			find: "\n\t\t.filter(({ project_no }) => held.has(project_no))\n",
			replace: "\n",
			tests: inPostgres("locked-rows"),
			only: "the sweep locks no webhooks",
			why: "Nodes that sweep at once hold what the other one needs, and both leave the project for later.",
		},
		{
			name: "postgres-sweep-wrong-counter",
			find: "FROM dead WHERE l.project_no = dead.project_no AND l.webhook_no = dead.webhook_no",
			replace: "FROM dead WHERE l.project_no = dead.project_no",
			only: "retention",
			why: "Deleted dead letters are subtracted from all webhooks of their project.",
			review: "retention-attempts.ts: the wrong counter",
		},
		{
			name: "postgres-sweep-counts-replayed",
			find: "AND waiting.seq IS NULL\n\t\tGROUP BY",
			replace: "GROUP BY",
			only: "retention",
			why: "A dead letter that is being replayed is subtracted twice.",
		},
	]),
	...of("server/src/storage/postgres/retention/retention.ts", POSTGRES, [
		{
			name: "postgres-sweep-open-events",
			find: "if (isOpen(project_no, seq)) return true;",
			replace: "",
			only: "retention",
			why: "An event that is open during a pause is deleted without an attempt.",
		},
		{
			name: "postgres-sweep-referred",
			find: "WHERE logged.seq IS NULL AND waiting.seq IS NULL\n\t))",
			replace: "WHERE logged.seq IS NULL\n\t))",
			only: "retention",
			why: "An event is deleted while its retry is pending: the retry finds nothing to send.",
		},
	]),
	...of("server/src/storage/postgres/lanes/settle.ts", inPostgres("lanes/settle"), [
		{
			name: "postgres-settle-cuts-in",
			find: "if (this.#renewal) await this.#ended([this.#renewal]);",
			replace: "",
			why: "Renewals meet the settles' locks, and leases are renewed one by one.",
		},
	]),
];

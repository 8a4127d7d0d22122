import { of } from "../../mutation.ts";
import { inPostgres, POSTGRES } from "../../tests.ts";

/** The storage rules in PostgreSQL. */
export const STORAGE_POSTGRES = [
	...of("server/src/storage/postgres/log/append.ts", inPostgres("log/append"), [
		{
			name: "postgres-append-all-repeated",
			find: "repeated: !(maybeOurs && isOurs(found, row))",
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
	...of("server/src/storage/postgres/connection/hot-rows.ts", inPostgres("plans"), [
		{
			name: "postgres-hot-rows-by-key",
			find: " ORDER BY stretch DESC LIMIT 1`;",
			replace: " LIMIT 1`;",
			why: "During a dump, each event takes more of the database's time than the one before.",
		},
	]),
	...of("server/src/storage/postgres/connection/session.ts", inPostgres("faults"), [
		{
			name: "postgres-canceled-commit-confirmed",
			find: "if (canceled !== null) throw",
			replace: "if (false) throw",
			only: "canceled",
			why: "An event is acknowledged that no standby has, and the next failover loses it.",
		},
	]),
	...of("server/src/storage/postgres/connection/session-settings.ts", inPostgres("faults"), [
		{
			name: "postgres-warnings-suppressed",
			find: 'client_min_messages: "warning"',
			replace: 'client_min_messages: "error"',
			only: "canceled",
			why: "An event is acknowledged that no standby has, and the next failover loses it.",
		},
	]),
	...of("server/src/storage/verbs/facts.ts", inPostgres("faults"), [
		{
			name: "facts-absent-basket-unconfirmed",
			find: 'yield* together(holdLog(project));\n\treturn "absent"',
			replace: 'return "absent"',
			only: "removing a basket again",
			why: "A basket's removal is acknowledged that no standby has, and after a failover the basket is abandoned.",
		},
	]),
	...of("server/src/storage/postgres/history/attempts.ts", POSTGRES, [
		{
			name: "postgres-followed-soon-only",
			find: `, \${laterIn("n.id >= $nearTo")}, false)`,
			replace: ", false)",
			only: "however much later",
			why: "A failed delivery that was replayed days later still asks for a decision on old pages.",
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
			find: 'if (isCommitted(one, logged)) return "settled";',
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
			find: "one.attempts.some((row) => logged.has(row)) || repeatsItself(one)",
			replace: "repeatsItself(one)",
			only: "settling",
			why: "An attempt that is logged already takes the whole commit with it, or is logged twice.",
		},
	]),
	...of("server/src/storage/postgres/lanes/settle.ts", inPostgres("nodes"), [
		{
			name: "postgres-settle-reads-lanes-early",
			find: "\tconst holding = c.rows<Held>(HOLD(waits), numberArray(given.map(({ projectNo }) => projectNo)));\n\tconst holdingLanes = holdLanes(c, given.flatMap(lanesOf), waits);\n\t// Sent after the locks: while they wait, webhooks may be deleted.\n\tconst deliveries = given.flatMap(deliveriesOf);\n\tconst lanes = readLanes(c, deliveries);\n",
			replace:
				"\tconst deliveries = given.flatMap(deliveriesOf);\n\tconst lanes = readLanes(c, deliveries);\n\tconst holding = c.rows<Held>(HOLD(waits), numberArray(given.map(({ projectNo }) => projectNo)));\n\tconst holdingLanes = holdLanes(c, given.flatMap(lanesOf), waits);\n",
			only: "while its settlement waits",
			why: "A webhook that is deleted while a settlement waits for its project still seems to have a lane.",
		},
	]),
	...of("server/src/storage/postgres/lanes/swept-events.ts", POSTGRES, [
		{
			name: "postgres-settle-swept-event",
			find: "if (loose.size === 0) return () => false;",
			replace: "return () => false;",
			only: "retention",
			why: "An attempt in flight is logged without its event, which retention has deleted, and the log can't be read.",
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
			name: "postgres-never-closed-for-deleted",
			find: "SET closing = true\n\t\tWHERE ctid",
			replace: "SET closing = true\n\t\tWHERE false AND ctid",
			only: "settling",
			why: "A retry that is stored for a webhook after it was deleted is never closed, and keeps its event.",
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
			why: "A restored database sends its pending deliveries before anyone has looked.",
		},
		{
			name: "postgres-renew-in-quarantine",
			find: "l.until IS NOT NULL AND $",
			replace: "l.until IS NOT NULL OR NOT $",
			only: "in quarantine",
			why: "A node that took leases as the quarantine began sends throughout it.",
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
			find: "g.last_seq > $lastSeq OR g.revision <> $revision",
			replace: "g.last_seq > $lastSeq OR g.revision < $revision",
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
			find: "Math.max(after, ...news), overdueFirst: !overdueFirst",
			replace: "Math.max(after, ...news), overdueFirst: false",
			only: "with one slot at a time",
			why: "If slots become free one at a time, only projects with new events get them, and retries wait.",
		},
	]),
	...of("server/src/storage/postgres/lanes/settle.ts", POSTGRES, [
		{
			name: "postgres-handed-over-any-generation",
			find: "AND replay = $4 AND generation = $5`",
			replace: "AND replay = $4 AND generation >= $5`",
			only: "outlive their lease",
			why: "A former holder settles an attempt that a later one has handed over.",
		},
	]),
	...of("server/src/storage/postgres/leases/leases.ts", POSTGRES, [
		{
			name: "postgres-handed-over-too-long",
			find: "WHERE project_no = $project AND until <= ",
			replace: "WHERE project_no = $project AND until + 1000 <= ",
			only: "outlive their lease",
			why: "Attempts of a node that died are repeated late.",
		},
	]),
	...of("server/src/storage/postgres/leases/peers.ts", inPostgres("nodes"), [
		{
			name: "postgres-in-force-too-soon",
			find: "coalesce(acknowledged, -1) < $revision",
			replace: "coalesce(acknowledged, $revision) < $revision",
			only: "regardless of former holders",
			why: "A pause returns before the project's owner has read it.",
		},
	]),
	...of("server/src/storage/postgres/lanes/locks.ts", POSTGRES, [
		{
			name: "postgres-ring-held",
			find: "SET wake_at = 0 WHERE project_no = ANY ($1::bigint[]) AND until IS NULL",
			replace: "SET wake_at = 0 WHERE project_no = ANY ($1::bigint[])",
			only: "leases and alarms|registry",
			why: "An owned project counts as free, and is taken from its node.",
		},
	]),
	...of("server/src/storage/postgres/retention/retention.ts", inPostgres("retention/retention"), [
		{
			name: "postgres-sweep-needs-room",
			find: 'if (!isStorageError(error) || error.code !== "full") throw error;',
			replace: "if (error) throw error;",
			why: "On a full disk, retention fails before it drops the day that would make room.",
		},
	]),
	...of("server/src/storage/postgres/retention/retention.ts", POSTGRES, [
		{
			name: "postgres-minutes-by-any-clock",
			find: "now ?? clock",
			replace: "clock",
			only: "statistics",
			why: "A clock that is far ahead for a moment empties the statistics of the last two days.",
		},
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
			find: "const needed = new Set(open.map(keyOf));",
			replace: "const needed = new Set<string>();",
			only: "retention",
			why: "An event that is open during a pause is deleted without an attempt.",
		},
		{
			name: "postgres-sweep-referred",
			find: "for (const row of found) needed.add(keyOf(row));",
			replace: "",
			only: "retention",
			why: "An event is deleted while its retry is pending: the retry finds nothing to send.",
		},
		{
			name: "postgres-sweep-wakes-nobody",
			find: "const unattempted = from === 0 ? await wakeLate(connections, cutoff) : [];",
			replace: "const unattempted: string[] = [];",
			only: "retention",
			why: "What a paused webhook left for longer than the log is kept is never dead-lettered.",
		},
	]),
	...of("server/src/storage/postgres/leases/peers.ts", POSTGRES, [
		{
			name: "postgres-sweep-always-early",
			find: "(s.holder IS NULL AND $early)",
			replace: "(s.holder IS NULL AND $early IS NOT NULL)",
			only: "retention",
			why: "Every node makes its own pass.",
		},
		{
			name: "postgres-sweep-never-replaced",
			find: `s.until <= \${NOW} OR s.until >`,
			replace: "s.until >",
			only: "retention",
			why: "After a node died while it swept, nothing is deleted anymore.",
		},
	]),
	...of("server/src/storage/postgres/lanes/right-of-way.ts", inPostgres("lanes/right-of-way"), [
		{
			name: "postgres-settle-cuts-in",
			find: "if (this.#renewal) await this.#ended([this.#renewal]);",
			replace: "",
			why: "Renewals meet the settles' locks, and leases are renewed one by one.",
		},
	]),
	...of("server/src/storage/postgres/connection/session-settings.ts", inPostgres("log/publish-access"), [
		{
			name: "postgres-names-anywhere",
			find: 'search_path: "pg_catalog"',
			replace: 'search_path: "public"',
			only: "operators",
			why: "An operator that a store creates runs with the rights of the nodes.",
		},
	]),
	...of("server/src/storage/postgres/migrations/index.ts", inPostgres("upgrade"), [
		{
			name: "postgres-migrates-as-itself",
			find: "for (const { name } of owners) await handOver(client, name);",
			replace: "",
			only: "administrator",
			why: "Nodes can't use the tables that an administrator's migration created.",
		},
	]),
	...of("server/src/storage/postgres/migrations/index.ts", inPostgres("connection/pools"), [
		{
			name: "postgres-migrates-with-any-names",
			find: `; \${OWN_NAMES.transaction}\``,
			replace: "`",
			only: "pools transactions",
			why: "Through a pool, an operator that a store creates runs with the rights of the user who migrates.",
		},
	]),
];

import { of } from "../../mutation.ts";
import { SQLITE } from "../../tests.ts";

const RESPONSE_FILTER = ["server/src/storage/shared/response-filter.test.ts"];

/** Rules shared by both storage engines. */
export const STORAGE_SHARED = [
	...of("server/src/storage/port/history.ts", RESPONSE_FILTER, [
		{
			name: "response-filter-open-end",
			find: "from <= code && code <= to",
			replace: "from <= code && code < to",
			why: "A filter for one status code finds nothing.",
		},
		{
			name: "response-filter-no-response",
			find: "statusCode ?? NO_RESPONSE",
			replace: "statusCode ?? 200",
			why: "Attempts without a response are shown among those that were accepted.",
		},
	]),
	...of(
		"server/src/storage/shared/room.ts",
		["server/src/storage/shared/room.test.ts"],
		[
			{
				name: "room-without-probe",
				find: "await this.#probe();",
				replace: "",
				why: "With a full disk, a node is ready again every few seconds.",
			},
			{
				name: "room-probed-by-everyone",
				find: "if (this.#elapsed() < this.#probeAt) throw refusal;",
				replace: "",
				why: "Anyone who asks whether the node is ready makes a full database write a megabyte.",
			},
		],
	),
	...of("server/src/storage/shared/deliveries.ts", RESPONSE_FILTER, [
		{
			name: "response-filter-2xx-below",
			find: "from < 200 || to > 299",
			replace: "from < 200 || to > 499",
			why: "A filter for 404 finds nothing.",
		},
	]),
	...of("server/src/storage/shared/stats.ts", SQLITE, [
		{
			name: "response-times-rank",
			find: "let left = Math.ceil(this.#total * share);",
			replace: "let left = Math.floor(this.#total * share) + 1;",
			only: "statistics",
			why: "Percentiles are those of the next rank: with few attempts the slowest is shown as p50.",
		},
		{
			name: "response-times-unsent",
			find: "if (responseClass <= NOT_SENT) return;",
			replace: "",
			only: "statistics",
			why: "Deliveries closed without a request count as answered within a millisecond.",
		},
	]),
	...of("server/src/storage/shared/deliveries.ts", SQLITE, [
		{
			name: "id-range-until-next",
			find: "lowestSuffixAt(until)",
			replace: "lowestSuffixAt(until + 1)",
			only: "delivery log|dead letters are replayed|replays by filter",
			why: "A range of times shows, and replays, the attempts of its end.",
		},
		{
			name: "page-beyond-until",
			find: "to: before < to ? before : to",
			replace: "to: before",
			only: "delivery log",
			why: "A page that follows an attempt beyond the times asked for shows those between.",
			review: "attempt-list.ts: a page goes beyond its end",
		},
		{
			name: "replay-matching-later-ones",
			find: "Math.min(until ?? at, at)",
			replace: "until ?? Number.MAX_SAFE_INTEGER",
			only: "replays by filter",
			why: "A replay of many steps replays what it has itself sent.",
		},
	]),
	...of(
		"server/src/base/collections.ts",
		["server/src/base/bounded-map.test.ts"],
		[
			{
				name: "bounded-map-unbounded",
				find: "if (oldest !== undefined) this.delete(oldest);",
				replace: "",
				why: "Names of projects and webhooks fill the memory of the storage threads.",
			},
			{
				name: "bounded-map-drops-newest",
				find: "if (!this.delete(key) && this.size",
				replace: "if (this.size",
				why: "Setting a name that is known drops another one.",
			},
		],
	),
	...of(
		"server/src/storage/shared/deliveries.ts",
		["server/test/engine-memory.test.ts"],
		[
			{
				name: "closing-lane-active",
				find: 'status: "deleted",',
				replace: 'status: "paused",',
				only: "changes of webhooks",
				why: "Pending deliveries of a deleted webhook aren't closed.",
			},
		],
	),
];

import { of } from "./mutation.ts";
import { ENGINE, inEngine } from "./tests.ts";

/** How lanes go through their log. */
export const ENGINE_LANES = [
	...of("server/src/engine/lanes/lane.ts", inEngine("lanes/lane"), [
		{
			name: "lane-reopened-passes",
			find: "if (event.seq <= this.#position) return;",
			replace: "if (event.seq < this.#position) return;",
			why: "An open event at the position that is sent again moves the lane on by one: the next event is skipped.",
		},
		{
			name: "lane-skip-through",
			find: "retry.seq <= this.#state.skipThrough",
			replace: "retry.seq < this.#state.skipThrough",
			why: "Resuming from now still sends the last event of the backlog.",
			review: "lane.ts: the last of the events left out is sent",
		},
		{
			name: "lane-one-too-many",
			find: "return this.#sending < this.#state.maxInFlight;",
			replace: "return this.#sending <= this.#state.maxInFlight;",
			why: "A lane that asks for one request at a time gets two: order is lost.",
		},
		{
			name: "lane-subscription-start",
			find: "return from !== undefined && event.seq > from;",
			replace: "return from !== undefined && event.seq >= from;",
			why: "A webhook gets the event before its subscription began.",
		},
		{
			name: "lane-replay-skipped",
			find: "if (retry.replay > 0 || retry.seq < 0) return null;",
			replace: "if (retry.seq < 0) return null;",
			why: "A replay of an event that was once skipped is closed instead of sent.",
		},
		{
			name: "lane-goes-back",
			find: "this.#position = Math.max(this.#position, state.position);",
			replace: "this.#position = state.position;",
			why: "Each change of a webhook moves its lane back to what is committed: events in flight are sent twice.",
		},
		{
			name: "lane-sends-what-is-elsewhere",
			find: "this.#open.stopWaiting(seq);",
			replace: "",
			why: "An attempt that another node has in flight is made here, too.",
		},
		{
			name: "lane-forgets-newer-series",
			find: "if (this.isInFlight(retry)) this.#inProgress.delete(retry.seq);",
			replace: "this.#inProgress.delete(retry.seq);",
			why: "The commit of a series ends the one that replaced it: its attempt is made twice.",
		},
		{
			name: "lane-latest-retry-first",
			find: "due < next) && this.mayStartQueued",
			replace: "due > next) && this.mayStartQueued",
			why: "A lane wakes for the last of its queues, not for the first.",
		},
		{
			name: "lane-fewer-retries",
			find: "Math.max(SENDS.retriesPerWebhook, maxInFlight)",
			replace: "Math.min(SENDS.retriesPerWebhook, maxInFlight)",
			tests: ENGINE,
			only: "retries in flight",
			why: "After an outage of the receiver a webhook with one request at a time retries one by one.",
		},
		{
			name: "lane-open-events-wait",
			find: "return (this.following ? announced : this.#position) < lastSeq || this.#open.hasWaiting;",
			replace: "return (this.following ? announced : this.#position) < lastSeq;",
			why: "A project is released, with no alarm, while open events wait to be sent again.",
		},
		{
			name: "lane-not-woken-by-any-read",
			find: "if (this.awaits !== key && this.awaits !== ANY_READ) return false;",
			replace: "if (this.awaits !== key) return false;",
			why: "Lanes that found too many reads under way stops forever.",
		},
		{
			name: "lane-ignores-elsewhere-ended",
			find: "for (const one of before) if (!attempts.some((other) => isSame(one, other))) this.#endedElsewhere(one);",
			replace: "",
			why: "An attempt of a node that died counts as in flight forever: the lane stops.",
		},
		{
			name: "lane-keeps-old-url",
			find: "this.target.url = state.url;",
			replace: "",
			tests: ENGINE,
			only: "changes of webhooks|loads",
			why: "After a change of the URL requests go to the old one until the project changes nodes.",
		},
	]),
	...of("server/src/engine/lanes/log-reader.ts", inEngine("lanes/log-reader"), [
		{
			name: "reader-end-of-read",
			find: "events.at(-1)?.seq ?? Math.max(known, position)",
			replace: "events.at(-1)?.seq ?? Math.max(this.lastSeq, position)",
			why: "An event published during a read that finds nothing is skipped.",
			review: "log-reader.ts: an empty read ends at the newest number instead of the known one",
		},
		{
			name: "reader-keeps-for-nobody",
			find: "if (follows && foremost >= this.lastSeq - NEAR_END)",
			replace: "if (follows)",
			why: "Projects whose webhooks are all paused fill the memory with what is published.",
		},
		{
			name: "reader-unbounded-reads",
			find: "if (this.#reads.size >= WINDOWS.readsPerProject) return null;",
			replace: "",
			why: "A project with thousands of webhooks reads thousands of windows at once.",
		},
		{
			name: "reader-reads-after-end",
			find: "if (this.#over) return;",
			replace: "",
			why: "Data read for a released project stays in memory.",
		},
		{
			name: "reader-believes-numbers",
			find: "event.seq === seq && event.id === id",
			replace: "event.seq === seq",
			why: "After a failover an event under a number used before is taken for the one that was lost, and not sent.",
		},
	]),
	...of("server/src/engine/lanes/retry-queue.ts", inEngine("lanes/retry-queue"), [
		{
			name: "retry-queue-settled-again",
			find: "rows.filter((row) => row.replay > (",
			replace: "rows.filter((row) => row.replay >= (",
			why: "A retry that was settled while the queue was read is sent again.",
			review: "retry-queue.ts: a settled series counts as a newer one",
		},
		{
			name: "retry-queue-not-outdated",
			find: "this.#outdated = this.#loading;",
			replace: "this.#outdated = false;",
			why: "A replay that was stored while the queue was read waits until the queue is read for another reason.",
			review: "retry-queue.ts: a read under way is not outdated by a change",
		},
		{
			name: "retry-queue-forgets-rest",
			find: "rows.length >= limit && last",
			replace: "rows.length > limit && last",
			why: "The backlog after the first window is never read.",
		},
		{
			name: "retry-queue-order",
			find: "a.dueAt === b.dueAt && a.seq < b.seq",
			replace: "a.dueAt === b.dueAt && a.seq > b.seq",
			why: "Replays, which are all due together, go out newest first.",
		},
		{
			name: "retry-queue-twice",
			find: "if (there >= 0) this.#head.splice(there, 1);",
			replace: "",
			why: "A retry that was read before its commit returned is made twice.",
		},
		{
			name: "retry-queue-forgets-nothing",
			find: "if (this.#loading) this.#changed.set(seq, { replay, next: null });",
			replace: "",
			why: "A delivery that was settled while the queue was read is sent again.",
		},
		{
			name: "retry-queue-loads-once",
			find: "abandonLoad(): void {\n\t\tthis.#loading = false;",
			replace: "abandonLoad(): void {",
			why: "After one failed read, the webhook's retries are never made.",
		},
		{
			name: "retry-queue-lost-while-read",
			find: "if (this.#loading) this.#changed.set(retry.seq, { replay: retry.replay, next: retry });\n\t\telse this.#insert(retry);",
			replace: "if (!this.#loading) this.#insert(retry);",
			why: "A retry that is committed while the queue is read waits until the queue is read again.",
		},
	]),
	...of("server/src/engine/lanes/open-events.ts", inEngine("lanes/lane"), [
		{
			name: "open-events-from-position",
			find: "if (seq <= position) continue;",
			replace: "if (seq < position) continue;",
			why: "An event in flight at the position is opened a second time, and sent twice.",
		},
		{
			name: "open-events-put-back-settled",
			find: "if (!this.#seqs.includes(seq)) return;",
			replace: "",
			why: "A cancelled attempt that the owner has since skipped is sent.",
		},
		{
			name: "open-events-lost-on-reload",
			find: "if (seq <= stored.position && !stored.open.includes(seq)) this.settle(seq);",
			replace: "if (!stored.open.includes(seq)) this.settle(seq);",
			why: "A change of the webhook forgets what is in flight and not committed: a crash then loses it.",
		},
		{
			name: "open-events-missing-one-stays",
			find: "if (!found.has(seq) && this.#waiting.includes(seq)) this.settle(seq);",
			replace: "if (!found.has(seq)) break;",
			why: "One open event that is not in the log any more stops its lane forever.",
		},
		{
			name: "open-events-not-stored",
			find: "else this.#seqs.push(seq);",
			replace: "",
			why: "The position is stored beyond events in flight: a crash loses them.",
			review: "lane.ts: the position passes an event in flight",
		},
		{
			name: "open-events-put-back-last",
			find: "this.#waiting.splice(at < 0 ? this.#waiting.length : at, 0, seq);",
			replace: "this.#waiting.push(seq);",
			why: "Cancelled first attempts go out in the order of cancelling, not in log order.",
		},
	]),
	...of(
		"server/src/engine/lanes/log-reader.ts",
		[...inEngine("lanes/lane"), ...inEngine("lanes/log-reader")],
		[
			{
				name: "chunk-serves-other-types",
				find: "(this.types === null || this.types === types)",
				replace: "true",
				why: "A window that was read for other types is taken for all there is: events are skipped.",
			},
			{
				name: "chunk-serves-later-ones",
				find: "return this.after <= position && position",
				replace: "return position",
				why: "A lane that is behind a window in memory jumps to it, and skips the events in between.",
			},
		],
	),
	...of("server/src/engine/lanes/window-budget.ts", inEngine("lanes/log-reader"), [
		{
			name: "window-budget-keeps-events",
			find: "\t\tchunk.empty();\n",
			replace: "",
			why: "Windows that are not counted any more still hold their events: memory grows with the lanes.",
		},
		{
			name: "window-budget-never-shrinks",
			find: "if (this.#held.delete(chunk)) this.#bytes -= chunk.bytes;\n\t\tchunk.empty();",
			replace: "chunk.empty();\n\t\tthis.#held.delete(chunk);",
			why: "The budget counts what has gone: soon nothing is kept in memory at all.",
		},
	]),
];

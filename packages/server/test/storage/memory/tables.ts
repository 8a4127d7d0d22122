import { compareText, OrderedSet } from "./ordered.ts";
import { PartitionedSet } from "./partitions.ts";
import type {
	AttemptRow,
	EpochRow,
	EventRow,
	ForkRow,
	HandedOverRow,
	LaneRow,
	LeaseRow,
	LogRow,
	ProjectRow,
	ReferenceRangeRow,
	RetryRow,
	StatRow,
	WebhookRow,
} from "./rows.ts";
import { HashIndex, type Journal, Table } from "./table.ts";
import { basketTables, factTables } from "./tables-facts.ts";

export const deliveryKey = (webhookNo: number, seq: number): string => `${webhookNo}/${seq}`;
export const eventKey = (projectNo: number, id: string): string => `${projectNo}/${id}`;

type EventKey = Pick<EventRow, "projectNo" | "seq">;
type DeliveryKey = Pick<AttemptRow, "projectNo" | "seq" | "webhookNo" | "replay" | "attempt">;
type DueKey = Pick<RetryRow, "webhookNo" | "queue" | "dueAt" | "seq">;
type StatKey = Omit<StatRow, "no" | "n">;

const projectOf = ({ projectNo }: { readonly projectNo: number }): number => projectNo;
const byNo = (a: { readonly no: number }, b: { readonly no: number }): number => a.no - b.no;
const byId = (a: { readonly id: string }, b: { readonly id: string }): number => compareText(a.id, b.id);
const inProject = (a: { readonly projectNo: number; readonly id: string }, b: typeof a): number =>
	a.projectNo - b.projectNo || compareText(a.id, b.id);

/** All tables of a database. */
export function makeTables(journal: Journal) {
	return {
		projects: new Table(journal, ({ no }: ProjectRow) => no, {
			id: new OrderedSet<ProjectRow, { readonly id: string }>(byId),
		}),
		logs: new Table(journal, ({ projectNo }: LogRow) => projectNo, {}),
		leases: new Table(journal, ({ projectNo }: LeaseRow) => projectNo, {
			news: new OrderedSet<LeaseRow, { readonly projectNo: number }>(
				(a, b) => a.projectNo - b.projectNo,
				({ wakeAt }) => wakeAt === 0,
			),
			alarm: new OrderedSet<LeaseRow, Pick<LeaseRow, "projectNo" | "wakeAt">>(
				(a, b) => a.wakeAt! - b.wakeAt! || a.projectNo - b.projectNo,
				({ wakeAt }) => wakeAt !== null,
			),
			end: new OrderedSet<LeaseRow, Pick<LeaseRow, "projectNo" | "until">>(
				(a, b) => a.until! - b.until! || a.projectNo - b.projectNo,
				({ until }) => until !== null,
			),
		}),
		handedOver: new Table(journal, ({ webhookNo, seq }: HandedOverRow) => deliveryKey(webhookNo, seq), {
			project: new OrderedSet<HandedOverRow, Pick<HandedOverRow, "projectNo" | "webhookNo" | "seq">>(
				(a, b) => a.projectNo - b.projectNo || a.webhookNo - b.webhookNo || a.seq - b.seq,
			),
		}),
		nodes: new Table(journal, ({ holder }: { readonly holder: string; readonly seenAt: number }) => holder, {}),
		epochs: new Table(journal, ({ no }: EpochRow) => no, {}),
		forks: new Table(journal, ({ projectNo, epoch }: ForkRow) => `${projectNo}/${epoch}`, {}),

		webhooks: new Table(journal, ({ no }: WebhookRow) => no, {
			id: new HashIndex(({ id }: WebhookRow) => id),
			live: new OrderedSet<WebhookRow, Pick<WebhookRow, "projectNo" | "id">>(
				inProject,
				({ deletedAt }) => deletedAt === null,
			),
			closing: new OrderedSet<WebhookRow, Pick<WebhookRow, "projectNo" | "id">>(inProject, ({ closing }) => closing),
			deleted: new OrderedSet<WebhookRow, Pick<WebhookRow, "deletedAt" | "no">>(
				(a, b) => a.deletedAt! - b.deletedAt! || a.no - b.no,
				({ deletedAt }) => deletedAt !== null,
			),
		}),
		lanes: new Table(journal, ({ webhookNo }: LaneRow) => webhookNo, {}),
		events: new Table(journal, ({ no }: EventRow) => no, {
			no: new OrderedSet<EventRow, { readonly no: number }>(byNo),
			id: new HashIndex(({ projectNo, id }: EventRow) => eventKey(projectNo, id)),
			seq: new PartitionedSet<EventRow, EventKey>(projectOf, (a, b) => a.seq - b.seq),
			type: new PartitionedSet<EventRow, EventKey & Pick<EventRow, "type">>(
				projectOf,
				(a, b) => compareText(a.type, b.type) || a.seq - b.seq,
				({ seq }) => seq > 0,
			),
		}),
		retries: new Table(journal, ({ webhookNo, seq }: RetryRow) => deliveryKey(webhookNo, seq), {
			due: new PartitionedSet<RetryRow, DueKey>(
				({ webhookNo }) => webhookNo,
				(a, b) => a.queue - b.queue || a.dueAt - b.dueAt || a.seq - b.seq,
			),
			event: new PartitionedSet<RetryRow, Pick<RetryRow, "projectNo" | "seq" | "webhookNo">>(
				projectOf,
				(a, b) => a.seq - b.seq || a.webhookNo - b.webhookNo,
			),
		}),
		attempts: new Table(journal, ({ no }: AttemptRow) => no, {
			no: new OrderedSet<AttemptRow, { readonly no: number }>(byNo),
			delivery: new PartitionedSet<AttemptRow, DeliveryKey>(
				projectOf,
				(a, b) => a.seq - b.seq || a.webhookNo - b.webhookNo || a.replay - b.replay || a.attempt - b.attempt,
			),
			project: new PartitionedSet<AttemptRow, Pick<AttemptRow, "projectNo" | "status" | "id">>(
				projectOf,
				(a, b) => a.status - b.status || compareText(a.id, b.id),
			),
			webhook: new PartitionedSet<AttemptRow, Pick<AttemptRow, "webhookNo" | "status" | "id">>(
				({ webhookNo }) => webhookNo,
				(a, b) => a.status - b.status || compareText(a.id, b.id),
			),
		}),
		stats: new Table(journal, ({ no }: StatRow) => no, {
			key: new PartitionedSet<StatRow, StatKey>(
				projectOf,
				(a, b) =>
					a.grain - b.grain ||
					a.at - b.at ||
					a.webhookNo - b.webhookNo ||
					a.status - b.status ||
					a.responseClass - b.responseClass,
			),
		}),
		references: new Table(journal, ({ projectNo }: ReferenceRangeRow) => projectNo, {}),
		...factTables(journal),
		...basketTables(journal),
	};
}

export type Tables = ReturnType<typeof makeTables>;

import type { NewAttempt, Settlement } from "../port.ts";
import { STATUS_CODE } from "../shared/attempt-codes.ts";
import { type Packed, pack } from "./packed.ts";

/** Settlements in columns, the attempts of all of them one after the other: few objects to copy between threads. */
export interface SettleBatch {
	readonly settlements: readonly (Omit<Settlement, "attempts"> & { readonly attempts: number })[];
	/** Webhook ids, event types, URLs, brands and error codes, each once. */
	readonly names: readonly string[];
	readonly ids: readonly string[];
	readonly errors: readonly (string | null)[];
	readonly signatures: readonly (string | null)[];
	/** A row of {@link COLUMNS} for each attempt. */
	readonly numbers: Float64Array<ArrayBuffer>;
	/** The response bodies. */
	readonly packed: Packed;
}

/** Where each number of an attempt stands in its row; NaN is null. Names are given by their index. */
export const COLUMN = {
	webhook: 0,
	type: 1,
	url: 2,
	brand: 3,
	errorCode: 4,
	seq: 5,
	attempt: 6,
	replay: 7,
	status: 8,
	statusCode: 9,
	startedAt: 10,
	responseMs: 11,
	truncated: 12,
	nextRetryAt: 13,
	timestamp: 14,
} as const;

export const COLUMNS = Object.keys(COLUMN).length;

export function packSettlements(settlements: readonly Settlement[]): SettleBatch {
	const attempts =
		settlements.length === 1 ? settlements[0]!.attempts : settlements.flatMap((settlement) => settlement.attempts);
	const names = new NameTable();
	const numbers = new Float64Array(attempts.length * COLUMNS);
	for (let i = 0; i < attempts.length; i++) writeNumbers(numbers, i * COLUMNS, attempts[i]!, names);
	return {
		settlements: settlements.map((settlement) => ({ ...settlement, attempts: settlement.attempts.length })),
		names: names.names,
		ids: attempts.map((attempt) => attempt.id),
		errors: attempts.map((attempt) => attempt.error),
		signatures: attempts.map((attempt) => attempt.sent?.signature ?? null),
		numbers,
		packed: pack(attempts.map((attempt) => attempt.responseBody)),
	};
}

function writeNumbers(numbers: Float64Array, at: number, attempt: NewAttempt, names: NameTable): void {
	numbers[at + COLUMN.webhook] = names.indexOf(attempt.webhookId);
	numbers[at + COLUMN.type] = names.indexOf(attempt.eventType);
	numbers[at + COLUMN.url] = names.indexOf(attempt.url);
	numbers[at + COLUMN.brand] = attempt.sent === null ? Number.NaN : names.indexOf(attempt.sent.brand);
	numbers[at + COLUMN.errorCode] = attempt.errorCode === null ? Number.NaN : names.indexOf(attempt.errorCode);
	numbers[at + COLUMN.seq] = attempt.seq;
	numbers[at + COLUMN.attempt] = attempt.attempt;
	numbers[at + COLUMN.replay] = attempt.replay;
	numbers[at + COLUMN.status] = STATUS_CODE[attempt.status];
	numbers[at + COLUMN.statusCode] = attempt.statusCode ?? Number.NaN;
	numbers[at + COLUMN.startedAt] = attempt.startedAt;
	numbers[at + COLUMN.responseMs] = attempt.responseMs;
	numbers[at + COLUMN.truncated] = attempt.responseTruncated ? 1 : 0;
	numbers[at + COLUMN.nextRetryAt] = attempt.nextRetryAt ?? Number.NaN;
	numbers[at + COLUMN.timestamp] = attempt.sent?.timestamp ?? Number.NaN;
}

class NameTable {
	readonly names: string[] = [];
	readonly #indexes = new Map<string, number>();

	indexOf(name: string): number {
		const known = this.#indexes.get(name);
		if (known !== undefined) return known;
		this.#indexes.set(name, this.names.length);
		return this.names.push(name) - 1;
	}
}

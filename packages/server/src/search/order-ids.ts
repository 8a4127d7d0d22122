import { SEARCH } from "../base/budgets.ts";
import type { Storage } from "../storage/port.ts";

/**
 * The `order_id` in the data of each of these events, by `seq`. Those of test events are only samples, so they are left
 * out, like events without one and those of more than {@link SEARCH.orderIdBytes}.
 */
export async function orderIdsOf(
	storage: Pick<Storage, "readOrderIds">,
	projectId: string,
	rows: readonly { readonly seq: number }[],
): Promise<ReadonlyMap<number, string>> {
	const seqs = [...new Set(rows.map(({ seq }) => seq))].filter((seq) => seq > 0);
	if (seqs.length === 0) return new Map();
	const found = await storage.readOrderIds({ projectId, seqs, maxBytes: SEARCH.orderIdBytes });
	return new Map(found.map(({ seq, orderId }) => [seq, orderId]));
}

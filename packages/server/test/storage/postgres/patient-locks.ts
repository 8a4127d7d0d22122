import { LOCKED_ROWS } from "../../../src/base/budgets.ts";
import { Connections } from "../../../src/storage/postgres/connection/connections.ts";

/**
 * Until it is disposed of, transactions of the pool `waiting` wait this long for locked rows, milliseconds. A busy
 * machine may pause for longer than they normally wait, so that a test would never see them wait. Other limits than the
 * normal one stay.
 */
export function patientLocks(waitMs: number): Disposable {
	const { transaction } = Connections.prototype;
	// With a limit, the original calls this method again, without one.
	let isInner = false;
	Connections.prototype.transaction = function (this: Connections, ...[pool, work, lockMs]) {
		const isNormal = lockMs === undefined || lockMs === LOCKED_ROWS.waitMs;
		if (isInner || pool !== "waiting" || !isNormal) return transaction.call(this, pool, work, lockMs);
		isInner = true;
		try {
			return transaction.call(this, pool, work, waitMs);
		} finally {
			isInner = false;
		}
	} as typeof transaction;
	return {
		[Symbol.dispose]() {
			Connections.prototype.transaction = transaction;
		},
	};
}

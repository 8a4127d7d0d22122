import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import { type Storage, StorageError } from "../storage/port.ts";
import { HEALTH_STATES, type HealthState, healthOf, healthWindowStart, NO_FIGURES } from "./health.ts";

export type HealthCounts = Readonly<Record<HealthState, number>>;

export interface HealthCountOptions {
	readonly storage: Pick<Storage, "listProjects" | "listWebhooks" | "readHealth" | "getSetting" | "setSetting"> & {
		readonly peers: object | null;
	};
	readonly clock: Clock;
	readonly logger: Logger;
}

/** The minimum age of the counts before another pass begins, milliseconds. */
const EVERY_MS = 60_000;
/** After each project, a pass rests this many times as long as it took: it uses a tenth of a connection at most. */
const REST_FACTOR = 9;
/** … but no longer than this, milliseconds: the process may have been stopped meanwhile. */
const REST_MAX_MS = 60_000;
const PAGE = 200;
/** How long a node that counts keeps others from counting, milliseconds. If it takes longer, another one counts too. */
const TURN_MS = 600_000;
/** Older counts of another node aren't shown, milliseconds. */
const STALE_MS = 2 * TURN_MS;
/** The setting in which nodes share the count. */
const SHARED = "health_count";

/** Times are milliseconds since the Unix epoch. */
interface SharedCount {
	/** The last result, and when it was complete. */
	readonly counts: HealthCounts | null;
	readonly at: number;
	/** When a node began to count; 0 if none is counting. */
	readonly begunAt: number;
}

/**
 * Counts the webhooks of all projects by their health, for the metrics. A pass begins when the metrics are read, and
 * reads one project after another. Its result is shown until the next pass has ended. In a large database it takes
 * minutes. Usually only one of several nodes counts: they share the result, and when a pass has begun, in a setting.
 */
export class HealthCount {
	readonly #options: HealthCountOptions;
	#counts: HealthCounts | null = null;
	#counting: Promise<void> | null = null;
	#endedAt = Number.NEGATIVE_INFINITY;

	constructor(options: HealthCountOptions) {
		this.#options = options;
	}

	/** The result of the last pass; null before the first one has ended. */
	read(): HealthCounts | null {
		const { clock, logger } = this.#options;
		if (this.#counting === null && clock.elapsed() - this.#endedAt >= EVERY_MS)
			this.#counting = this.#refresh()
				.catch((error: unknown) => {
					// Old counts would say that all is well.
					this.#counts = null;
					if (error instanceof StorageError && error.code === "closed") return;
					logger.warn({ err: error }, "failed to count webhooks by their health");
				})
				.finally(() => {
					this.#counting = null;
					this.#endedAt = clock.elapsed();
				});
		return this.#counts;
	}

	/** Resolves when no pass is running. */
	async whenCounted(): Promise<void> {
		await this.#counting;
	}

	async #refresh(): Promise<void> {
		const { storage, clock } = this.#options;
		if (storage.peers === null) {
			this.#counts = await this.#count();
			return;
		}
		const value = await storage.getSetting({ name: SHARED });
		const shared: SharedCount = value === null ? { counts: null, at: 0, begunAt: 0 } : JSON.parse(value);
		const now = clock.now();
		// Clocks may differ, or have been ahead.
		const isWithin = (at: number, ms: number) => Math.abs(now - at) < ms;
		if (isWithin(shared.at, EVERY_MS) || isWithin(shared.begunAt, TURN_MS)) {
			this.#counts = isWithin(shared.at, STALE_MS) ? shared.counts : null;
			return;
		}
		const share = (count: SharedCount) => storage.setSetting({ name: SHARED, value: JSON.stringify(count) });
		await share({ ...shared, begunAt: now });
		try {
			this.#counts = await this.#count();
		} catch (error) {
			await share({ ...shared, begunAt: 0 });
			throw error;
		}
		await share({ counts: this.#counts, at: clock.now(), begunAt: 0 });
	}

	async #count(): Promise<HealthCounts> {
		const { storage, clock } = this.#options;
		const counts = Object.fromEntries(HEALTH_STATES.map((state) => [state, 0])) as Record<HealthState, number>;
		for await (const { id } of pages((page) => storage.listProjects(page))) {
			const begun = clock.elapsed();
			const now = clock.now();
			const health = new Map(
				(await storage.readHealth({ projectId: id, since: healthWindowStart(now) })).map((one) => [one.webhookId, one]),
			);
			for await (const webhook of pages((page) => storage.listWebhooks({ projectId: id, ...page }))) {
				counts[healthOf({ ...(health.get(webhook.id) ?? NO_FIGURES), status: webhook.status }, now)]++;
			}
			const restMs = Math.min(REST_FACTOR * (clock.elapsed() - begun), REST_MAX_MS);
			await new Promise<void>((resolve) => clock.setTimeout(resolve, restMs));
		}
		return counts;
	}
}

async function* pages<Row extends { readonly id: string }>(
	read: (page: { readonly limit: number; readonly after?: string }) => Promise<readonly Row[]>,
): AsyncGenerator<Row> {
	for (let after: string | undefined; ; ) {
		const rows = await read({ limit: PAGE, ...(after !== undefined && { after }) });
		yield* rows;
		after = rows.at(-1)?.id;
		if (rows.length < PAGE) return;
	}
}

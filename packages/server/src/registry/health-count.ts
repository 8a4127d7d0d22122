import { type Clock, restAfter, sleep } from "../base/clock.ts";
import { rowsOf } from "../base/collections.ts";
import type { Logger } from "../base/logger.ts";
import { isGeneral, type Project, type Storage, StorageError } from "../storage/port.ts";
import {
	HEALTH_STATES,
	type HealthState,
	type JudgedWebhook,
	judgeWebhooks,
	noHealthCounts,
	type SecretStateOf,
} from "./health.ts";

export type HealthCounts = Readonly<Record<HealthState, number>>;

export interface HealthCountOptions {
	readonly storage: Pick<Storage, "listProjects" | "listWebhooks" | "readHealth" | "getSetting" | "replaceSetting"> & {
		readonly peers: object | null;
	};
	readonly secretState: SecretStateOf;
	readonly clock: Clock;
	readonly logger: Logger;
	/** Called with each project of a pass, which continues once this has resolved. */
	readonly onJudged?: ((project: Project, webhooks: readonly JudgedWebhook[]) => Promise<void>) | undefined;
}

/** The minimum age of the counts before another pass begins, milliseconds. */
const EVERY_MS = 60_000;
/** After each project, a pass rests this many times as long as it took: it uses a tenth of a connection at most. */
const REST_FACTOR = 9;
/** … but no longer than this, milliseconds. */
const REST_MAX_MS = 60_000;
/** How often a node that counts reports that it still does, milliseconds. It does so between two projects. */
const REPORT_MS = 30_000;
/** If a node that counts hasn't reported for this long, another one counts instead, milliseconds. */
const TURN_MS = 180_000;
/** Older counts of another node aren't shown unless a node is counting, milliseconds. */
const STALE_MS = 1_200_000;
/** The setting in which nodes share the count. */
const SHARED = "health_count";

/** Times are milliseconds since the Unix epoch. */
interface SharedCount {
	/** The last result, and when it was complete. */
	readonly counts: HealthCounts | null;
	readonly at: number;
	/** When the last pass of a node that sends alerts was complete; 0 if there was none. */
	readonly alertsAt: number;
	/** When a node last reported that it counts; 0 if none does. */
	readonly countingAt: number;
}

const NONE: SharedCount = { counts: null, at: 0, alertsAt: 0, countingAt: 0 };

/**
 * Judges the webhooks of all projects, to count them by their health for the metrics, and for alerts. A pass begins when
 * the counts are read, which alerts do all the time. It judges one project after another: in a large database it takes
 * minutes. Its result is shown until the next pass has ended. Only one of several nodes counts at a time: they share the
 * result, and who counts, in a setting.
 */
export class HealthCount {
	readonly #options: HealthCountOptions;
	#counts: HealthCounts | null = null;
	#counting: Promise<void> | null = null;
	#endedAt = Number.NEGATIVE_INFINITY;
	/** Ends this node's turn; null if it isn't its turn. */
	#endTurn: (() => Promise<unknown>) | null = null;
	#stopped = false;

	constructor(options: HealthCountOptions) {
		this.#options = options;
	}

	/** The result of the last pass; null before the first one has ended. */
	read(): HealthCounts | null {
		const { clock, logger } = this.#options;
		if (!this.#stopped && this.#counting === null && clock.elapsed() - this.#endedAt >= EVERY_MS)
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

	async whenCounted(): Promise<void> {
		await this.#counting;
	}

	/** From now on another node may count. Rejects if storage fails. */
	async stop(): Promise<void> {
		this.#stopped = true;
		await this.#endTurn?.();
	}

	async #refresh(): Promise<void> {
		const { storage, clock, onJudged } = this.#options;
		if (storage.peers === null) {
			this.#counts = await this.#count(() => true);
			return;
		}
		const value = await storage.getSetting({ name: SHARED });
		const shared = parseShared(value);
		const now = clock.now();
		// Clocks may differ, or have been ahead.
		const isWithin = (at: number, ms: number) => Math.abs(now - at) < ms;
		const isCounting = isWithin(shared.countingAt, TURN_MS);
		// Passes of nodes without alerts send none.
		const lastAt = onJudged === undefined ? shared.at : shared.alertsAt;
		if (isCounting || isWithin(lastAt, EVERY_MS))
			this.#counts = isCounting || isWithin(shared.at, STALE_MS) ? shared.counts : null;
		else if (!this.#stopped) await this.#countInTurn(new Turn(storage, value), shared);
	}

	/** Counts for all nodes, unless another node begins first. @param shared the last result, which is kept until the end */
	async #countInTurn(turn: Turn, shared: SharedCount): Promise<void> {
		const { clock, onJudged } = this.#options;
		let reportedAt = 0;
		const report = () => {
			reportedAt = clock.elapsed();
			return turn.write({ ...shared, countingAt: clock.now() });
		};
		const end = () => turn.write({ ...shared, countingAt: 0 });
		// Before its turn begins: the service may stop meanwhile.
		this.#endTurn = end;
		try {
			if (!(await report())) return;
			const counts = await this.#count(() => clock.elapsed() - reportedAt < REPORT_MS || report());
			if (counts === null) return;
			const at = clock.now();
			const alertsAt = onJudged === undefined ? shared.alertsAt : at;
			if (await turn.write({ counts, at, alertsAt, countingAt: 0 })) this.#counts = counts;
		} catch (error) {
			await end().catch(() => undefined);
			throw error;
		} finally {
			this.#endTurn = null;
		}
	}

	/** @returns null if it ended early: the service stops, or it's no longer this node's turn */
	async #count(isOurs: () => boolean | Promise<boolean>): Promise<HealthCounts | null> {
		const { storage, clock, logger, onJudged } = this.#options;
		const counts = noHealthCounts();
		let first: { readonly projectId: string; readonly err: unknown } | null = null;
		let [read, unread] = [0, 0];
		for await (const project of rowsOf((page) => storage.listProjects(page))) {
			if (this.#stopped || !(await isOurs())) return null;
			const begun = clock.elapsed();
			let webhooks: readonly JudgedWebhook[] | null = null;
			try {
				webhooks = await this.#judge(project.id);
			} catch (err) {
				if (isGeneral(err)) throw err;
				first ??= { projectId: project.id, err };
				unread++;
			}
			const restMs = restAfter(clock, begun, REST_FACTOR, REST_MAX_MS);
			if (webhooks !== null) {
				read++;
				for (const { health } of webhooks) counts[health]++;
				await onJudged?.(project, webhooks);
			}
			await sleep(clock, restMs);
		}
		if (first !== null) {
			// If none can be read, their rows aren't the reason.
			if (read === 0) throw first.err;
			logger.warn(
				{ ...first, projects: unread },
				"failed to read the health of some projects' webhooks; others are counted",
			);
		}
		return counts;
	}

	async #judge(projectId: string): Promise<JudgedWebhook[]> {
		const { storage, secretState, clock } = this.#options;
		const webhooks: JudgedWebhook[] = [];
		for await (const step of judgeWebhooks(storage, secretState, projectId, clock.now())) webhooks.push(...step);
		return webhooks;
	}
}

/** A node's turn to count. It's over once this node has ended it, or another node has written to the setting. */
class Turn {
	readonly #storage: Pick<Storage, "replaceSetting">;
	/** What the setting contains while it is this node's turn. */
	#value: string | null;
	#isOver = false;
	#last: Promise<unknown> = Promise.resolve();

	constructor(storage: Pick<Storage, "replaceSetting">, value: string | null) {
		this.#storage = storage;
		this.#value = value;
	}

	/** Returns whether it was this node's turn. Writes run one after the other, because each replaces the previous value. */
	write(count: SharedCount): Promise<boolean> {
		const written = this.#last.then(async () => {
			if (this.#isOver) return false;
			const to = JSON.stringify(count);
			this.#isOver = !(await this.#storage.replaceSetting({ name: SHARED, from: this.#value, to }));
			if (this.#isOver) return false;
			this.#value = to;
			this.#isOver = count.countingAt === 0;
			return true;
		});
		this.#last = written.catch(() => undefined);
		return written;
	}
}

/** Parses the setting. The next pass replaces any other value. */
function parseShared(value: string | null): SharedCount {
	if (value === null) return NONE;
	try {
		const { counts, at, alertsAt, countingAt } = JSON.parse(value) as Partial<Record<keyof SharedCount, unknown>>;
		if (typeof at !== "number" || typeof countingAt !== "number") return NONE;
		// Nodes of earlier versions don't write it.
		const lastAlertsAt = typeof alertsAt === "number" ? alertsAt : 0;
		return { counts: isCounts(counts) ? counts : null, at, alertsAt: lastAlertsAt, countingAt };
	} catch {
		return NONE;
	}
}

const isCounts = (value: unknown): value is HealthCounts =>
	typeof value === "object" &&
	value !== null &&
	HEALTH_STATES.every((state) => typeof (value as Record<string, unknown>)[state] === "number");

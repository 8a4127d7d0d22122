/** Attempts in flight at former holders of the project, which settle them, or lose them if they are late. */
import type { Timer } from "../../base/clock.ts";
import type { HandedOver } from "../../storage/port.ts";
import type { ProjectWork } from "./project-work.ts";

/** Attempts in flight elsewhere are checked no sooner than this. */
const ELSEWHERE_MS = 250;

export class Elsewhere {
	readonly #work: ProjectWork;
	readonly #load: () => Promise<void>;
	#attempts: readonly HandedOver[] = [];
	#timer: Timer | null = null;

	/** @param load reads the lanes, and what is in flight elsewhere, from storage */
	constructor(work: ProjectWork, load: () => Promise<void>) {
		this.#work = work;
		this.#load = load;
	}

	/** Those that storage knew of when the lanes were loaded last. */
	get attempts(): readonly HandedOver[] {
		return this.#attempts;
	}

	loaded(attempts: readonly HandedOver[]): void {
		this.#attempts = attempts;
		this.watch();
	}

	/** Forgets those that aren't settled in time, so that they are made again. */
	watch(): void {
		this.end();
		if (this.#attempts.length === 0) return;
		const { projectId, context, post, readFailed } = this.#work;
		const { clock, storage } = context;
		const until = Math.min(...this.#attempts.map((attempt) => attempt.until));
		this.#timer = clock.setTimeout(
			async () => {
				try {
					await storage.forgetHandedOver(projectId);
					await this.#load();
					post({ kind: "watch_elsewhere" });
				} catch (error) {
					readFailed(error, () => post({ kind: "watch_elsewhere" }));
				}
			},
			Math.max(ELSEWHERE_MS, until - clock.now()),
		);
	}

	end(): void {
		this.#timer?.cancel();
		this.#timer = null;
	}
}

/** Attempts in flight at the project's previous owners, which settle them, or lose them if they are too late. */
import type { Timer } from "../../base/clock.ts";
import type { HandedOver } from "../../storage/port.ts";
import type { ProjectWork } from "./project-work.ts";

/** The minimum interval between checks of attempts in flight elsewhere. */
const ELSEWHERE_MS = 250;

export class Elsewhere {
	readonly #work: ProjectWork;
	readonly #load: () => Promise<void>;
	#attempts: readonly HandedOver[] = [];
	#timer: Timer | null = null;

	/** @param load reads the lanes, and the attempts in flight elsewhere, from storage */
	constructor(work: ProjectWork, load: () => Promise<void>) {
		this.#work = work;
		this.#load = load;
	}

	/** The attempts that storage listed when the lanes were last loaded. */
	get attempts(): readonly HandedOver[] {
		return this.#attempts;
	}

	loaded(attempts: readonly HandedOver[]): void {
		this.#attempts = attempts;
		this.watch();
	}

	/** Forgets attempts that aren't settled in time, so that they are repeated. */
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

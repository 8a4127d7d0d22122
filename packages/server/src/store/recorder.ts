import { type EventType, encodeEnvelope } from "@posthorn/protocol";
import type { Clock } from "../base/clock.ts";
import type { IdSource } from "../base/ids.ts";
import type { Engine } from "../engine/engine.ts";
import type { FactStorage, NewEvent, Recorded } from "../storage/port.ts";
import { INTAKE_LIMITS, Intake, type IntakeLimits } from "./intake.ts";
import type { Busy, FactRefused, FactResult } from "./result.ts";

export interface StoreOptions {
	readonly storage: FactStorage;
	readonly engine: Pick<Engine, "appended">;
	readonly clock: Clock;
	readonly ids: IdSource;
	/** The largest `data` of an event, bytes. */
	readonly maxEventBytes: number;
	/** {@link INTAKE_LIMITS} unless said. */
	readonly intake?: IntakeLimits;
}

/** What all rules share: making candidate events, and handing on those that storage has appended. */
export class FactRecorder {
	readonly storage: FactStorage;
	readonly #options: StoreOptions;
	readonly #intake: Intake;

	constructor(options: StoreOptions) {
		this.storage = options.storage;
		this.#options = options;
		this.#intake = new Intake(options.intake ?? INTAKE_LIMITS);
	}

	now(): number {
		return this.#options.clock.now();
	}

	/** An event that storage may append. `data` is JSON text. */
	candidate(projectId: string, type: EventType, createdAt: number, data: string): NewEvent {
		const id = this.#options.ids.next("event");
		const body = encodeEnvelope({ id, type, createdAt, projectId, data });
		return { id, type, createdAt, createdAtGiven: true, body };
	}

	/** Whether the data of an event would be too large; null if not. */
	sizeFault(data: string): Extract<FactRefused, { kind: "too_large" }> | null {
		const limit = this.#options.maxEventBytes;
		const bytes = Buffer.byteLength(data);
		return bytes > limit ? { kind: "too_large", bytes, limit } : null;
	}

	/**
	 * Does what has a fact stored (or so many), unless more of them wait for storage than a node can bear.
	 *
	 * @param bytes of what makes it large, if anything does
	 */
	admit<T>(bytes: number, store: () => Promise<T>, facts = 1): Promise<T | Busy> {
		return this.#intake.admit(facts, bytes, store);
	}

	/** Gives the lanes what was appended, so that it is sent at once, and answers without it. */
	done(projectId: string, result: Recorded): FactResult {
		if (result.kind !== "recorded") return result;
		const { kind, at, events, appended } = result;
		this.#options.engine.appended(projectId, appended);
		return { kind, at, events };
	}
}

/** An actor's loop: the parts that work on the project's lanes, and which of them handles each message. */
import { WINDOWS } from "../../base/budgets.ts";
import type { LogEvent } from "../../storage/port.ts";
import type { Lane } from "../lanes/lane.ts";
import { AppliedLanes } from "./applied-lanes.ts";
import { Attempts } from "./attempt.ts";
import type { LossReason, Message, ProjectWork } from "./context.ts";
import { Dispatcher } from "./dispatcher.ts";
import { Retirement } from "./handover.ts";
import { LaneSet } from "./lane-set.ts";
import { LogCheck } from "./log-check.ts";

export interface LoopOptions {
	/** Whether the actor has ended, so that nothing may change. */
	readonly isOver: () => boolean;
	/** Whether a change of webhooks is being stored. */
	readonly isHeld: () => boolean;
	/** Ends the actor. */
	readonly lose: (why: LossReason) => void;
}

export class Loop {
	readonly inbox = new Inbox<Message>((messages) => this.#run(messages));
	readonly lanes: LaneSet;
	readonly applied: AppliedLanes;
	readonly retirement: Retirement;
	readonly attempts: Attempts;
	/** When an event or an outcome last came in, milliseconds since the epoch. */
	lastActive: number;
	readonly #work: ProjectWork;
	readonly #options: LoopOptions;
	readonly #dispatcher: Dispatcher;
	readonly #check: LogCheck;
	/** Whether the other marked lanes are visited in the next turn of the event loop. */
	#isPaused = false;

	constructor(work: ProjectWork, options: LoopOptions) {
		this.#work = work;
		this.#options = options;
		this.lastActive = work.context.clock.now();
		this.lanes = new LaneSet(work.projectId, work.context, work.reader);
		this.applied = new AppliedLanes(work, this.lanes, (lane) => this.#drop(lane));
		this.attempts = new Attempts(work);
		this.retirement = new Retirement(work, this.attempts);
		this.#check = new LogCheck(work);
		this.#dispatcher = new Dispatcher(work, this.attempts, (lane) => {
			this.#drop(lane);
			this.attempts.endDeletion(lane);
		});
	}

	/**
	 * Handles these messages, then starts everything the marked lanes may start. If there is very much of it, it continues
	 * in the next turn of the event loop, so that other projects aren't delayed. A bug in our code ends the actor.
	 */
	#run(messages: readonly Message[]): void {
		const { context, projectId, open } = this.#work;
		let at = 0;
		try {
			while (at < messages.length) this.#receive(messages[at++]!);
			if (!this.#options.isOver()) {
				if (!this.#isPaused) this.#lookAtMarked();
				this.#dispatcher.queued.readBodies();
			}
		} catch (error) {
			context.logger.error({ err: error, projectId }, "a project's actor failed");
			this.#options.lose("fault");
			for (const message of messages.slice(at)) this.#release(message);
		}
		if (open.count === 0 && this.inbox.isEmpty) open.becameQuiet();
	}

	/** Frees lanes, timers and slots. */
	end(): void {
		for (const lane of this.lanes) this.#dispatcher.forget(lane);
		this.lanes.clear();
		this.#dispatcher.end();
		this.applied.end();
	}

	#lookAtMarked(): void {
		const { context, post } = this.#work;
		this.lanes.lookAtMarked((lane) => this.#dispatcher.pump(lane), WINDOWS.lanesPerTurn);
		if (!this.lanes.hasMarked) return;
		this.#isPaused = true;
		context.clock.setImmediate(() => post({ kind: "continue" }));
	}

	#receive(message: Message): void {
		const { lanes, attempts, applied, retirement } = this;
		const { reader, open } = this.#work;
		if (this.#options.isOver()) {
			this.#release(message);
			return;
		}
		switch (message.kind) {
			case "loaded":
				message.done();
				// Once attempts are handed over, the lanes stay as they are: nothing may be written.
				if (retirement.handover === null) applied.apply(message);
				break;
			case "appended":
				this.#appended(message.events);
				break;
			case "recheck":
				this.#check.readEnd();
				break;
			case "rewound":
				this.#options.lose("rewound");
				break;
			case "reaches":
				this.#isActive();
				reader.reaches(message.lastSeq);
				lanes.announceAll();
				break;
			case "window":
				lanes.windowRead(message.key, message.chunk);
				// The read may have found another node's events before their announcement, which then brings no news.
				if (reader.lastSeq > reader.announced) lanes.announceAll();
				break;
			case "open":
				this.#dispatcher.openRead(message);
				lanes.mark(message.lane);
				break;
			case "queue":
				lanes.queueRead(message);
				break;
			case "bodies":
				this.#dispatcher.queued.bodiesRead(message.wanted, message.events);
				for (const { lane } of message.wanted) lanes.mark(lane);
				break;
			case "ended":
				this.#ended(message);
				break;
			case "committed":
				open.end();
				if (message.result === "settled") {
					attempts.committed(message);
					this.#dispatcher.committed(message.inFlight);
					if (message.inFlight.retry || message.consequence.schedule) lanes.mark(message.inFlight.lane);
				} else this.#options.lose(message.result);
				break;
			case "position_committed":
				open.end();
				if (message.result !== "settled") this.#options.lose(message.result);
				break;
			case "deletion_ended":
				open.end();
				break;
			case "queues_changed":
				lanes.invalidateRetries(message.webhookId);
				break;
			case "look":
				lanes.mark(message.lane);
				break;
			case "continue":
				this.#isPaused = false;
				break;
			case "released":
				if (!this.#options.isHeld()) for (const lane of this.#dispatcher.takeHalted()) lanes.mark(lane);
				break;
			case "hand_over":
				retirement.handOver();
				break;
			case "watch_remote":
				applied.remote.watch();
				break;
			case "freed":
				this.#dispatcher.freed(message.slots, message.slot);
				break;
			case "rested":
				this.#dispatcher.rested();
				lanes.mark(null);
				break;
			case "sweep":
				lanes.sweep();
				break;
			case "fault":
				throw message.error;
		}
	}

	#appended(events: readonly LogEvent[]): void {
		this.#isActive();
		const { reader } = this.#work;
		// If other events are in between, their types are unknown here. A lane may be about to want more types while a change
		// is being stored.
		const follows = events.every(({ seq }, index) => seq === reader.announced + 1 + index);
		const isNews = reader.lastSeq === reader.announced && follows && !this.#options.isHeld();
		const doubtful = reader.appended(events, this.lanes.foremostFor(events));
		if (doubtful) this.#check.check(doubtful);
		if (isNews) this.lanes.announce(events);
		else this.lanes.announceAll();
	}

	#ended(message: Extract<Message, { kind: "ended" }>): void {
		const { inFlight, outcome } = message;
		if (!this.attempts.ended(inFlight, outcome)) {
			this.#release(message);
			return;
		}
		this.#isActive();
		if (outcome.kind === "deferred") this.#dispatcher.rest(inFlight.lane, outcome.shortage);
		this.lanes.mark(inFlight.lane);
	}

	/** A message that arrives after the actor has ended only releases what it holds. */
	#release(message: Message): void {
		if (message.kind === "ended") {
			if (!this.retirement.ended(message.inFlight, message.outcome)) message.inFlight.slot?.release();
		} else if (message.kind === "loaded") message.done();
		else if (message.kind === "freed") message.slot?.release();
		else if (message.kind === "bodies") for (const { slot } of message.wanted) slot.release();
	}

	#drop(lane: Lane): void {
		this.#dispatcher.forget(lane);
		this.lanes.drop(lane);
	}

	#isActive(): void {
		this.lastActive = this.#work.context.clock.now();
	}
}

/**
 * An actor's messages, in order. A microtask handles everything posted before it runs, so a message posted during a
 * call is never handled in the middle of that call.
 */
export class Inbox<T> {
	readonly #work: (messages: readonly T[]) => void;
	/**
	 * Two arrays used alternately and emptied by popping. V8 pretenures arrays at allocation sites whose arrays mostly
	 * survive, so a fresh array each time would retain its contents until the next full collection.
	 */
	#messages: T[] = [];
	#spare: T[] = [];
	#scheduled = false;
	readonly #run = (): void => {
		this.#scheduled = false;
		const messages = this.#messages;
		this.#messages = this.#spare;
		this.#spare = messages;
		try {
			this.#work(messages);
		} finally {
			while (messages.length > 0) messages.pop();
		}
	};

	constructor(work: (messages: readonly T[]) => void) {
		this.#work = work;
	}

	get isEmpty(): boolean {
		return this.#messages.length === 0;
	}

	post(message: T): void {
		this.#messages.push(message);
		if (this.#scheduled) return;
		this.#scheduled = true;
		queueMicrotask(this.#run);
	}
}

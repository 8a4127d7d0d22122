import type { Clock } from "../../base/clock.ts";
import type { Channel } from "./connection/channel.ts";
import type { Reads, Writes } from "./operations.ts";

/** What an operation takes besides its connection. */
type Args<F> = F extends (connection: never, ...args: infer A) => unknown ? A : never;

/** Calls to the two workers, by the names of their operations. */
export abstract class WorkerCalls {
	protected readonly writer: Channel;
	protected readonly reader: Channel;
	protected readonly clock: Pick<Clock, "now">;

	constructor(writer: Channel, reader: Channel, clock: Pick<Clock, "now">) {
		this.writer = writer;
		this.reader = reader;
		this.clock = clock;
	}

	protected write<K extends keyof Writes>(operation: K, ...args: Args<Writes[K]>): Promise<ReturnType<Writes[K]>> {
		return this.writer.call(operation, args);
	}

	protected read<K extends keyof Reads>(operation: K, ...args: Args<Reads[K]>): Promise<ReturnType<Reads[K]>> {
		return this.reader.call(operation, args);
	}
}

import {
	type Authority,
	type Credentials,
	createAuthority,
	type ForkedFastReceiver,
	type ForkedStats,
	forkFastReceiver,
	writeCaFile,
} from "@posthorn/testkit";
import type { Workspace } from "../workspace.ts";

/** The receiver of all requests: HTTPS in a separate process, which counts them and responds with 200. */
export class Receiver {
	readonly origin: string;
	/** PEM file with the authority of its certificate. */
	readonly caFile: string;
	readonly #process: ForkedFastReceiver;
	readonly #authority: Authority;
	#nextPath = 0;

	private constructor(process: ForkedFastReceiver, authority: Authority, caFile: string) {
		this.#process = process;
		this.#authority = authority;
		this.origin = `https://127.0.0.1:${process.port}`;
		this.caFile = caFile;
	}

	static async start(workspace: Workspace): Promise<Receiver> {
		const authority = await createAuthority("Posthorn bench authority");
		const caFile = writeCaFile(authority, workspace.makeFolder("authority"));
		return new Receiver(await forkFastReceiver(await authority.issue()), authority, caFile);
	}

	/** A certificate for another receiver, from the same authority. */
	issue(): Promise<Credentials> {
		return this.#authority.issue();
	}

	/** Reserves `count` paths: `/w` and the number returned, and the numbers after it. */
	takePaths(count: number): number {
		const first = this.#nextPath;
		this.#nextPath += count;
		return first;
	}

	/** How many requests arrived since the last reset, including repetitions. Cheap. */
	count(): Promise<number> {
		return this.#process.count();
	}

	/** Statistics of the requests since the last reset. */
	stats(): Promise<ForkedStats> {
		return this.#process.stats();
	}

	reset(): Promise<void> {
		return this.#process.reset();
	}

	close(): Promise<void> {
		return this.#process.close();
	}
}

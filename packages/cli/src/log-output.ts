import { write, writeSync } from "node:fs";

/** How long to wait before writing again to a pipe that is full. */
const RETRY_MS = 10;
/** How long a reader may keep the process from exiting. */
const FLUSH_MS = 1000;

/**
 * Writes the log to a file descriptor. What can't be written is dropped, because the reader has closed the pipe or the
 * disk is full: neither may stop the service, or keep it from exiting.
 */
export class LogOutput {
	readonly #descriptor: number;
	#lines: string[] = [];
	/** What is left of the lines being written. */
	#rest: Uint8Array = Buffer.alloc(0);
	#isWriting = false;
	#retry: NodeJS.Timeout | undefined;

	constructor(descriptor: number) {
		this.#descriptor = descriptor;
	}

	write(line: string): void {
		this.#lines.push(line);
		if (!this.#isWriting && this.#retry === undefined) this.#next();
	}

	/** Writes everything before it returns, unless the reader takes too long. */
	flushSync(): void {
		clearTimeout(this.#retry);
		this.#retry = undefined;
		// A write in progress ends without the event loop.
		let rest = this.#isWriting ? this.#takeLines() : Buffer.concat([this.#rest, this.#takeLines()]);
		if (!this.#isWriting) this.#rest = Buffer.alloc(0);
		const deadline = performance.now() + FLUSH_MS;
		while (rest.length > 0) {
			try {
				rest = rest.subarray(writeSync(this.#descriptor, rest));
			} catch (error) {
				if (!isFull(error) || performance.now() >= deadline) return;
				Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
			}
		}
	}

	#next(): void {
		if (this.#rest.length === 0) this.#rest = this.#takeLines();
		if (this.#rest.length === 0) return;
		this.#isWriting = true;
		write(this.#descriptor, this.#rest, (error, written) => {
			this.#isWriting = false;
			if (isFull(error)) {
				this.#retry = setTimeout(() => {
					this.#retry = undefined;
					this.#next();
				}, RETRY_MS);
				return;
			}
			this.#rest = error ? Buffer.alloc(0) : this.#rest.subarray(written);
			this.#next();
		});
	}

	#takeLines(): Buffer {
		const lines = Buffer.from(this.#lines.join(""));
		this.#lines = [];
		return lines;
	}
}

const isFull = (error: unknown): boolean => (error as NodeJS.ErrnoException | null)?.code === "EAGAIN";

import { fstatSync, write, writeSync } from "node:fs";

/** How long to wait before writing again to a pipe that is full. */
const RETRY_MS = 10;
/** How much may wait for a reader that is slow or has stopped, characters. */
const MAX_WAITING = 4 * 1_024 * 1_024;
/** How long a reader may keep the process from exiting. */
const FLUSH_MS = 1_000;

const NOTHING: Uint8Array = Buffer.alloc(0);

/**
 * Writes the log to a file descriptor. What can't be written is dropped, because the reader has closed the pipe or reads
 * nothing, or the disk is full: none of these may stop the service, fill its memory, or keep it from exiting.
 * pino's own destination retries `EPIPE` and `ENOSPC` without end when it flushes at exit.
 *
 * Node makes pipes and sockets non-blocking once `process.stdout` has been read, so writing to them never waits. A file's
 * disk may make a write wait, which would block the service, so a thread writes to it.
 */
export class LogOutput {
	readonly #descriptor: number;
	readonly #mayWait: boolean;
	readonly #onDropped: (lines: number) => void;
	/** Characters in {@link #lines}. */
	#waiting = 0;
	/** How many lines found too many waiting. */
	#dropped = 0;
	#lines: string[] = [];
	/** The unwritten part of the lines being written. */
	#rest: Uint8Array = NOTHING;
	/** Whether a thread is writing, or the next write begins. */
	#isWriting = false;
	/** Until the next write; undefined if none is planned. */
	#timer: NodeJS.Timeout | undefined;

	/** @param onDropped called when there is room again; may write a line */
	constructor(descriptor: number, onDropped: (lines: number) => void) {
		const stat = fstatSync(descriptor);
		this.#descriptor = descriptor;
		this.#mayWait = !stat.isFIFO() && !stat.isSocket();
		this.#onDropped = onDropped;
	}

	write(line: string): void {
		if (this.#waiting + line.length > MAX_WAITING) {
			this.#dropped++;
			return;
		}
		this.#waiting += line.length;
		this.#lines.push(line);
		// A moment later: if the process exits at once, flushSync has all lines, and writes them in order.
		if (!this.#isWriting && this.#timer === undefined) this.#writeIn(0);
	}

	/** Writes everything before it returns, unless the reader takes too long. The last call, as the process exits. */
	flushSync(): void {
		clearTimeout(this.#timer);
		// A thread's write to a file needs no event loop, and writes everything unless the disk is full.
		const before = this.#isWriting ? [] : [this.#rest];
		this.#isWriting = true;
		// The second time, what the first says about dropped lines.
		this.#rest = Buffer.concat([...before, this.#takeLines(), this.#takeLines()]);
		const deadline = performance.now() + FLUSH_MS;
		while (!this.#writeNow() && performance.now() < deadline)
			Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
	}

	/** @returns whether nothing is left */
	#writeNow(): boolean {
		while (this.#rest.length > 0) {
			try {
				this.#rest = this.#rest.subarray(writeSync(this.#descriptor, this.#rest));
			} catch (error) {
				if (isFull(error)) return false;
				this.#rest = NOTHING;
			}
		}
		return true;
	}

	#writeIn(ms: number): void {
		this.#timer = setTimeout(() => {
			this.#timer = undefined;
			this.#next();
		}, ms);
	}

	#next(): void {
		// The line about dropped ones must not start another write.
		this.#isWriting = true;
		if (this.#rest.length === 0) this.#rest = this.#takeLines();
		if (this.#mayWait && this.#rest.length > 0) {
			this.#writeOnThread();
			return;
		}
		this.#isWriting = false;
		if (!this.#writeNow()) this.#writeIn(RETRY_MS);
		else if (this.#lines.length > 0) this.#next();
	}

	#writeOnThread(): void {
		write(this.#descriptor, this.#rest, (error, written) => {
			this.#isWriting = false;
			if (isFull(error)) {
				this.#writeIn(RETRY_MS);
				return;
			}
			this.#rest = error ? NOTHING : this.#rest.subarray(written);
			this.#next();
		});
	}

	#takeLines(): Buffer {
		const lines = Buffer.from(this.#lines.join(""));
		this.#lines = [];
		this.#waiting = 0;
		const dropped = this.#dropped;
		this.#dropped = 0;
		if (dropped > 0) this.#onDropped(dropped);
		return lines;
	}
}

const isFull = (error: unknown): boolean => (error as NodeJS.ErrnoException | null)?.code === "EAGAIN";

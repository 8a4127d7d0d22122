/** Bounds what Node's parser produces from the bytes that it has read, up to 64 KiB in one turn of the event loop. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { REQUESTS } from "../../base/budgets.ts";

/** The code of the error that ends a connection whose request body comes in too many small chunks. */
export const SMALL_CHUNKS = "SMALL_CHUNKS";

/** What Node's parser accepts as `Upgrade`, which ends HTTP. */
const END_OF_HTTP = 2;

/**
 * Stops the parser from producing requests from what it has already read from a connection. Otherwise it produces
 * thousands, even though the connection is closed.
 */
export function leaveRest(socket: Socket & { parser?: { onIncoming: unknown } | null }): void {
	if (socket.parser) socket.parser.onIncoming = () => END_OF_HTTP;
}

/**
 * Bounds the number of chunks of a body: a chunk of one byte costs as much as a large one. Calls `refuse` once if there
 * are too many, and drops the rest.
 */
export function boundChunks(request: IncomingMessage, refuse: (error: Error & { code: string }) => void): void {
	if (request.headers["transfer-encoding"] === undefined) return;
	let chunks = 0;
	let bytes = 0;
	let isRefused = false;
	const push = request.push.bind(request);
	request.push = (chunk: Buffer | null) => {
		if (chunk === null) return push(null);
		if (isRefused) return false;
		bytes += chunk.length;
		if (++chunks <= REQUESTS.smallChunks + bytes / REQUESTS.chunkBytes) return push(chunk);
		isRefused = true;
		refuse(Object.assign(new Error("The body has too many small chunks."), { code: SMALL_CHUNKS }));
		return false;
	};
}

import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { RESPONSES } from "../base/budgets.ts";

/**
 * A large payload as a stream of slices, so that no more than a slice lies in a connection's buffer while the client does
 * not read, and whether it reads can be seen. Anything else is returned as it is.
 */
export function inSlices(reply: FastifyReply, payload: unknown): unknown {
	if (reply.request.method === "HEAD") return payload;
	const isText = typeof payload === "string";
	if (!isText && !(payload instanceof Uint8Array)) return payload;
	if (payload.length <= RESPONSES.sliceBytes) return payload;
	const bytes = isText ? Buffer.from(payload) : payload;
	reply.header("Content-Length", bytes.length);
	return Readable.from(slices(bytes), { highWaterMark: 1 });
}

function* slices(bytes: Uint8Array): Generator<Uint8Array> {
	for (let at = 0; at < bytes.length; at += RESPONSES.sliceBytes) yield bytes.subarray(at, at + RESPONSES.sliceBytes);
}

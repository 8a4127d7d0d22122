import type { Socket } from "node:net";

const HEAD_END = Buffer.from("\r\n\r\n");

/** Reads one request, head and body by its content-length. @returns its bytes, or null if the sender left first */
export async function readRequest(socket: Socket): Promise<Buffer | null> {
	return await new Promise((resolve) => {
		let read: Buffer = Buffer.alloc(0);
		const end = (request: Buffer | null): void => {
			socket.off("data", onData);
			socket.off("close", onClose);
			resolve(request);
		};
		const onClose = (): void => end(null);
		const onData = (chunk: Buffer): void => {
			read = Buffer.concat([read, chunk]);
			if (isWhole(read)) end(read);
		};
		socket.on("data", onData);
		socket.once("close", onClose);
	});
}

function isWhole(bytes: Buffer): boolean {
	const at = bytes.indexOf(HEAD_END);
	if (at === -1) return false;
	const length = /^content-length:\s*(\d+)/im.exec(bytes.toString("latin1", 0, at))?.[1] ?? "0";
	return bytes.length >= at + HEAD_END.length + Number(length);
}

/** Sends bytes one by one, `everyMs` apart; if `forever`, repeatedly until the peer leaves. */
export async function drip(socket: Socket, text: string, everyMs: number, forever: boolean): Promise<void> {
	const bytes = Buffer.from(text);
	for (let i = 0; socket.writable && (forever || i < bytes.length); i++) {
		socket.write(bytes.subarray(i % bytes.length, (i % bytes.length) + 1));
		await untilClosed(socket, everyMs);
	}
}

/** Sends the same bytes repeatedly, no faster than the peer reads, until the peer leaves. */
export async function flood(socket: Socket, text: string): Promise<void> {
	const bytes = Buffer.from(text);
	while (socket.writable) if (!socket.write(bytes)) await untilDrained(socket);
}

async function untilDrained(socket: Socket): Promise<void> {
	await new Promise<void>((resolve) => {
		const end = (): void => {
			socket.off("drain", end);
			socket.off("close", end);
			resolve();
		};
		socket.once("drain", end);
		socket.once("close", end);
	});
}

/** Resolves when the socket has closed, or after `ms`. */
async function untilClosed(socket: Socket, ms: number): Promise<void> {
	await new Promise<void>((resolve) => {
		const end = (): void => {
			clearTimeout(timer);
			socket.off("close", end);
			resolve();
		};
		const timer = setTimeout(end, ms);
		socket.once("close", end);
	});
}

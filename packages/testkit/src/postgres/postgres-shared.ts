/**
 * The server shared by all tests of a run, because starting one per file would take longer than many of them. It is
 * started when the first test asks for it, by the process that runs the tests.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { text } from "node:stream/consumers";

/** The variable with the loopback port of the process that starts it. */
const ASK_AT = "POSTHORN_TEST_POSTGRES_AT";

/**
 * Serves processes that inherit this one's environment.
 *
 * @param start starts the server; called once, for the first request
 * @returns a function that stops sharing and returns the server, if it was started
 */
export async function shareServer<T extends { readonly url: string }>(
	start: () => Promise<T>,
): Promise<() => Promise<T | null>> {
	let server: Promise<T> | null = null;
	const door = createServer((socket) => {
		socket.on("error", () => undefined);
		server ??= start();
		server.then(
			({ url }) => socket.end(url),
			(error: Error) => socket.destroy(error),
		);
	});
	door.listen(0, "127.0.0.1");
	await once(door, "listening");
	process.env[ASK_AT] = String((door.address() as AddressInfo).port);
	return async () => {
		door.close();
		return server;
	};
}

/** The URL of the shared server; undefined if none is shared. Rejects if it couldn't be started. */
export async function sharedServer(): Promise<string | undefined> {
	const { [ASK_AT]: port } = process.env;
	if (port === undefined) return undefined;
	const url = await text(connect(Number(port), "127.0.0.1"));
	if (url === "") throw new Error("The PostgreSQL server that tests share could not be started.");
	return url;
}

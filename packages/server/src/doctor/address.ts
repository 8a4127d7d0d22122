import { once } from "node:events";
import { createServer } from "node:net";
import type { Config } from "../config/index.ts";
import { type Finding, fault, ok, warning } from "./local.ts";

/** How long a program that uses the port has to respond, milliseconds. */
const ANSWER_MS = 2_000;
const NAME = "Address";

/** Whether the service could listen there. The port itself isn't taken, not even briefly: the service may be starting. */
export async function examineAddress({ host, port }: Pick<Config, "host" | "port">): Promise<Finding> {
	const server = createServer();
	try {
		server.listen(0, host);
		await once(server, "listening");
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		return fault(NAME, `Cannot listen on ${host}: it isn't an address of this machine (${code}); check POSTHORN_HOST.`);
	}
	const { address } = server.address() as { address: string };
	server.close();
	const user = port === 0 ? null : await userOf(address, port);
	if (user === "another")
		return warning(
			NAME,
			`Another program uses port ${port} of ${host}: stop it, or choose another port with POSTHORN_PORT.`,
		);
	return ok(NAME, user === null ? `Port ${port} of ${host} is free.` : `Port ${port} of ${host} is this service's.`);
}

/** Who accepts connections there, if anyone does. */
async function userOf(address: string, port: number): Promise<"posthorn" | "another" | null> {
	const own = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
	const url = `http://${own.includes(":") ? `[${own}]` : own}:${port}/healthz`;
	try {
		const { headers } = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) });
		return headers.get("x-request-id")?.startsWith("node_") ? "posthorn" : "another";
	} catch (error) {
		const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
		return code === "ECONNREFUSED" ? null : "another";
	}
}

/** A bare Fastify server with one JSON route. Each task resets its CPU time; the result is that of the previous one. */
import { fastify } from "fastify";
import { doTasks } from "../load/worker-process.ts";

/** What the server is asked. */
export interface FastifyTask {
	readonly kind: "listen" | "cpu";
}

/** Its port, or the CPU time that it has used so far, microseconds. */
export type FastifyReply = number;

const app = fastify();
app.post("/events", async ({ body }, reply) => {
	const { type } = body as { type: string };
	reply.code(202);
	return { id: "evt_00000000000000000000000000", seq: 1, type, created_at: "2026-01-01T00:00:00.000Z" };
});

doTasks<FastifyTask, FastifyReply>(async ({ kind }) => {
	if (kind === "listen") return Number(new URL(await app.listen({ host: "127.0.0.1", port: 0 })).port);
	const { user, system } = process.cpuUsage();
	return user + system;
});

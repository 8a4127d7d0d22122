import type { LogLevel } from "@posthorn/server/config";
import pino, { type Logger } from "pino";
import { LogOutput } from "./log-output.ts";

/** Logs JSON lines, or readable ones at a terminal unless `json` is set. */
export async function createLogger(level: LogLevel, json = false): Promise<Logger> {
	if (json || !process.stdout.isTTY) {
		const output = new LogOutput(1);
		process.on("exit", () => output.flushSync());
		return pino({ level, timestamp: pino.stdTimeFunctions.isoTime }, output);
	}
	// Loaded only when needed.
	const { default: pretty } = await import("pino-pretty");
	return pino(
		{ level },
		pretty({ ignore: "pid,hostname", translateTime: "SYS:HH:MM:ss.l", singleLine: true, sync: true }),
	);
}

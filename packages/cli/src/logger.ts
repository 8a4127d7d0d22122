import type { LogLevel } from "@posthorn/server/config";
import pino, { type Logger } from "pino";
import { LogOutput } from "./log-output.ts";

/** Without these, pino appends the messages of an error's causes to its own, which often repeats them. The stack has them. */
export const serializers = {
	err: (error: unknown): unknown =>
		error instanceof Error ? { ...pino.stdSerializers.err(error), message: error.message } : error,
};

/** Levels by name: their numbers are pino's own. */
const formatters = { level: (level: string) => ({ level }) };

/** Logs JSON lines, or readable ones at a terminal unless `json` is set. */
export async function createLogger(level: LogLevel, json = false): Promise<Logger> {
	if (json || !process.stdout.isTTY) {
		const output = new LogOutput(1, (lines) =>
			logger.warn({ lines }, "log lines were dropped: the log is read too slowly"),
		);
		const logger = pino({ level, timestamp: pino.stdTimeFunctions.isoTime, serializers, formatters }, output);
		process.on("exit", () => output.flushSync());
		return logger;
	}
	// Loaded only when needed.
	const { default: pretty } = await import("pino-pretty");
	return pino(
		{ level, serializers },
		pretty({ ignore: "pid,hostname", translateTime: "SYS:HH:MM:ss.l", singleLine: true, sync: true }),
	);
}

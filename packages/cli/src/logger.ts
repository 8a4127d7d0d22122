import type { LogLevel } from "@posthorn/server/config";
import pino, { type Logger } from "pino";
import pretty from "pino-pretty";

/** JSON lines for machines; for a person at a terminal, readable ones. */
export function createLogger(level: LogLevel): Logger {
	if (!process.stdout.isTTY) return pino({ level, timestamp: pino.stdTimeFunctions.isoTime });
	return pino(
		{ level },
		pretty({ ignore: "pid,hostname", translateTime: "SYS:HH:MM:ss.l", singleLine: true, sync: true }),
	);
}

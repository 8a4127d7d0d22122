import pino from "pino";
import { expect, test } from "vitest";
import { serializers } from "./logger.ts";

// It said "PostgreSQL cannot be reached (connect ECONNREFUSED): retrying.: connect ECONNREFUSED".
test("logs an error's own message, and its causes once, in the stack", () => {
	const lines: string[] = [];
	const logger = pino({ serializers }, { write: (line: string) => lines.push(line) });
	const cause = new Error("connect ECONNREFUSED");
	const error = Object.assign(new Error(`It cannot be reached (${cause.message}): retrying.`, { cause }), {
		code: "lost",
	});
	logger.warn({ err: error }, "failed");
	logger.warn({ err: "text" }, "failed");
	const [first, second] = lines.map((line) => JSON.parse(line));
	expect(first.err).toMatchObject({ type: "Error", code: "lost", message: error.message });
	expect(first.err.stack).toContain("caused by: Error: connect ECONNREFUSED");
	expect(second.err).toBe("text");
});

import { VirtualClock } from "@posthorn/testkit";
import type { FastifyRequest } from "fastify";
import { expect, test } from "vitest";
import { silentLogger } from "../../base/logger.ts";
import { StorageError } from "../../storage/port.ts";
import type { StorageState } from "../storage-check.ts";
import { FailureLog } from "./failure-log.ts";

const REQUEST = { id: "r-1", routeOptions: { url: "/v1/projects" }, projectId: null } as FastifyRequest;
const FULL = new StorageError("full", "The disk is full.");

function logged() {
	const clock = new VirtualClock();
	const lines: unknown[] = [];
	const line = ({ err, ...fields }: { err?: Error }, text: string) => void lines.push([text, err?.message, fields]);
	const storage: { state: StorageState } = { state: "full" };
	const storageCheck = { read: async () => storage.state };
	const log = new FailureLog({ logger: { ...silentLogger, error: line, warn: line }, clock, storageCheck });
	/** The check's result arrives in a later turn. */
	const pass = async (ms: number) => {
		clock.advance(ms);
		await new Promise(setImmediate);
	};
	return { clock, lines, storage, log, pass };
}
const BY = { requestId: "r-1", route: "/v1/projects" };

test("an outage of storage is over once storage works and requests have stopped failing", async () => {
	const { clock, lines, storage, log, pass } = logged();
	for (let n = 0; n < 100; n++) log.add(FULL, REQUEST);
	await pass(5_000);
	expect(lines).toEqual([["a request failed", "The disk is full.", BY]]);
	// Some need more space than others.
	storage.state = "ok";
	log.add(FULL, REQUEST);
	await pass(5_000);
	expect(lines).toHaveLength(1);
	await pass(5_000);
	const over = "requests no longer fail";
	expect(lines.slice(1)).toEqual([[over, undefined, { failures: 101, forMs: 15_000 }]]);
	expect(clock.nextAt).toBeNull();
	clock.advance(10_000);
	log.add(FULL, REQUEST);
	expect(lines[2]).toEqual(["a request failed", "The disk is full.", BY]);
	log.close();
	expect(clock.nextAt).toBeNull();
});

test("each other failure is logged", () => {
	const { clock, lines, log } = logged();
	for (let n = 0; n < 3; n++) log.add(new TypeError("undefined is not a disk"), REQUEST);
	expect(lines).toEqual(Array(3).fill(["a request failed", "undefined is not a disk", BY]));
	expect(clock.nextAt).toBeNull();
});

test("a line names the project of a request", () => {
	const { clock, lines, log } = logged();
	log.add(FULL, { ...REQUEST, projectId: "proj_1" } as FastifyRequest);
	log.add(FULL, REQUEST);
	clock.advance(10_000);
	log.add(FULL, REQUEST);
	log.close();
	expect(lines).toEqual([
		["a request failed", "The disk is full.", { ...BY, projectId: "proj_1" }],
		["a request failed", "The disk is full.", { ...BY, failures: 3, forMs: 10_000 }],
	]);
});

import { EventEmitter, once } from "node:events";
import { VirtualClock } from "@posthorn/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/logger.ts";
import { type AuditEntry, StorageError } from "../storage/port.ts";
import { createAccount, openTestStorage, type TestStorage } from "./accounts.fixture.ts";
import { Audit } from "./audit.ts";
import { type Accounts, startAccounts } from "./index.ts";
import { SESSION_MS } from "./sessions.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ACTOR = { kind: "operator_key", id: null, name: "The operator's key" } as const;
const CLIENT = { userAgent: "Test", address: "192.0.2.1" };

let rig: TestStorage;
let accounts: Accounts;
let swept: EventEmitter;
let warnings: string[];
let fails: boolean;
beforeEach(async () => {
	rig = await openTestStorage();
	swept = new EventEmitter();
	warnings = [];
	fails = false;
	const storage = Object.assign(Object.create(rig.storage) as typeof rig.storage, {
		async sweepAudit(p: { readonly cutoff: number; readonly limit: number }) {
			const deleted = fails ? null : await rig.storage.sweepAudit(p);
			// Called until nothing is left to delete.
			if (deleted === null || deleted < p.limit) setImmediate(() => swept.emit("swept"));
			if (deleted === null) throw new Error("away");
			return deleted;
		},
	});
	const logger = { ...silentLogger, warn: (_: object, message: string) => void warnings.push(message) };
	accounts = startAccounts({ ...rig, disk: systemClock, storage, logger });
});
afterEach(async () => {
	await accounts.close();
	await rig.close();
});

/** Advances to a time at or after the next sweep; resolves when it is done and has scheduled the next one. */
async function sweptOnTheWayTo(at: number): Promise<void> {
	const done = once(swept, "swept");
	rig.clock.advanceTo(at);
	await done;
}

test("deletes only expired rows, within the hour", async () => {
	const start = rig.clock.now();
	const person = { email: "ada@example.com", name: "Ada", password: "correct horse battery staple" };
	const made = await createAccount(rig.storage, accounts.people, person);
	if (made.kind !== "created") throw new Error("The address is taken.");
	const { id } = made.account;
	await accounts.sessions.begin(id, CLIENT, false);
	rig.clock.advance(HOUR_MS / 2);
	const token = await accounts.sessions.begin(id, CLIENT, false);
	// Queried as of the start, storage returns everything that it has.
	const kept = () => rig.storage.listSessions({ accountId: id, at: 0 });
	await sweptOnTheWayTo(start + SESSION_MS - 0.75 * HOUR_MS);
	expect(await kept()).toHaveLength(2);
	await sweptOnTheWayTo(start + SESSION_MS + 0.25 * HOUR_MS);
	expect(await kept()).toHaveLength(1);
	expect(await accounts.sessions.find(token!)).not.toBeNull();
});

// The audit log once only grew.
test("entries of the audit log are kept for 400 days, then deleted, however many there are", async () => {
	const start = rig.clock.now();
	const projectId = rig.ids.next("project");
	await rig.storage.createProject({ id: projectId, name: "p", apps: [], createdAt: start });
	const note = () => accounts.auditLog.record(ACTOR, { projectId, action: "webhook.changed" });
	await Promise.all(Array.from({ length: 1_234 }, note));
	rig.clock.advance(DAY_MS);
	await note();
	const kept = async () => (await rig.storage.listAudit({ projectId, limit: 2_000 })).length;
	await sweptOnTheWayTo(start + 400 * DAY_MS);
	expect(await kept()).toBe(1_235);
	await sweptOnTheWayTo(start + 400 * DAY_MS + HOUR_MS);
	expect(await kept()).toBe(1);
	await sweptOnTheWayTo(start + 402 * DAY_MS);
	expect(await kept()).toBe(0);
});

test("reports a failure, and retries an hour later", async () => {
	const start = rig.clock.now();
	fails = true;
	await sweptOnTheWayTo(start + HOUR_MS);
	expect(warnings).toEqual(["failed to delete expired sessions, links and invitations; retrying in an hour"]);
	fails = false;
	await sweptOnTheWayTo(start + 2 * HOUR_MS);
	expect(warnings).toHaveLength(1);
});

test("an entry of the audit log that storage couldn't take is written once it can, at the latest when closing", async () => {
	const projectId = rig.ids.next("project");
	await rig.storage.createProject({ id: projectId, name: "p", apps: [], createdAt: rig.clock.now() });
	const tries = new EventEmitter();
	let isFull = true;
	const storage = {
		async appendAudit(entry: AuditEntry) {
			if (isFull) throw new StorageError("full", "The disk is full.");
			await rig.storage.appendAudit(entry);
			tries.emit("written");
		},
	};
	const disk = new VirtualClock();
	const auditLog = new Audit({ ...rig, storage, disk, logger: silentLogger });
	const record = () => auditLog.record(ACTOR, { projectId, action: "webhook.changed" });
	const kept = async () => (await rig.storage.listAudit({ projectId, limit: 10 })).map(({ at }) => at);
	const at = rig.clock.now();
	await record();
	rig.clock.advance(1_000);
	expect(auditLog.isBehind(projectId)).toBe(true);
	await expect(auditLog.catchUp(projectId)).rejects.toThrow("The disk is full.");
	isFull = false;
	const written = once(tries, "written");
	disk.advance(5_000);
	await written;
	await auditLog.close();
	expect(await kept()).toEqual([at]);
	expect(auditLog.isBehind(projectId)).toBe(false);

	const next = new Audit({ ...rig, storage, disk, logger: silentLogger });
	isFull = true;
	await next.record(ACTOR, { projectId, action: "webhook.changed" });
	isFull = false;
	await next.close();
	expect(await kept()).toEqual([at + 1_000, at]);
	expect(disk.nextAt).toBeNull();
});

// It was tried again every five seconds for good, with storage that was closed.
test("an entry that storage can't take once the audit log is closed leaves no timer", async () => {
	const storage = { appendAudit: () => Promise.reject(new StorageError("lost", "Storage is closed.")) };
	const disk = new VirtualClock();
	const auditLog = new Audit({ ...rig, storage, disk, logger: silentLogger });
	await auditLog.close();
	await auditLog.record(ACTOR, { projectId: rig.ids.next("project"), action: "webhook.changed" });
	expect(disk.nextAt).toBeNull();
});

test("closing leaves no timer", async () => {
	expect(rig.clock.nextAt).not.toBeNull();
	await accounts.close();
	expect(rig.clock.nextAt).toBeNull();
});

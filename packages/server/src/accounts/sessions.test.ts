import { afterEach, beforeEach, expect, test } from "vitest";
import { silentLogger } from "../base/logger.ts";
import { createAccount, openTestStorage, type TestStorage } from "./accounts.fixture.ts";
import { Passwords, People } from "./index.ts";
import { Sessions } from "./sessions.ts";

const MINUTE_MS = 60_000;

let rig: TestStorage;
let sessions: Sessions;
let token: string;
let warnings: string[];
/** Each write of a last use, which the test lets pass or fail. */
let touches: PromiseWithResolvers<void>[];
beforeEach(async () => {
	rig = await openTestStorage();
	warnings = [];
	touches = [];
	const storage = Object.assign(Object.create(rig.storage) as typeof rig.storage, {
		async touchSession(p: Parameters<typeof rig.storage.touchSession>[0]) {
			const gate = Promise.withResolvers<void>();
			touches.push(gate);
			await gate.promise;
			await rig.storage.touchSession(p);
		},
	});
	const logger = { ...silentLogger, warn: (_: object, message: string) => void warnings.push(message) };
	sessions = new Sessions({ ...rig, storage, logger });
	const people = new People({ ...rig, logger: silentLogger, passwords: new Passwords() });
	const person = { email: "ada@example.com", name: "Ada", password: "correct horse battery staple" };
	const made = await createAccount(rig.storage, people, person);
	if (made.kind !== "created") throw new Error("The address is taken.");
	token = (await sessions.begin(made.account.id, { userAgent: "", address: "192.0.2.1" }, false))!;
	rig.clock.advance(MINUTE_MS);
});
afterEach(() => rig.close());

// With a full disk, signed-in users could read nothing.
test("a session works even if its last use can't be written, which is tried again a minute later", async () => {
	for (let i = 0; i < 3; i++) expect(await sessions.find(token)).not.toBeNull();
	expect(touches).toHaveLength(1);
	touches[0]!.reject(new Error("full"));
	await sessions.close();
	expect(warnings).toEqual(["failed to store when a session was last used"]);
	expect(await sessions.find(token)).not.toBeNull();
	expect(touches).toHaveLength(1);
	rig.clock.advance(MINUTE_MS);
	const at = rig.clock.now();
	await sessions.find(token);
	touches[1]!.resolve();
	await sessions.close();
	expect(await sessions.find(token)).toMatchObject({ session: { lastSeenAt: at } });
	expect([touches.length, warnings.length]).toEqual([2, 1]);
});

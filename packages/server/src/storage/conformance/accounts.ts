import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Account, Session } from "../port.ts";
import type { StorageHarness } from "./harness.ts";
import { START, World } from "./world.ts";

const HOUR = 3_600_000;

/** The hash of a token, as a view into the memory that small buffers share. */
export const hashOf = (token: string): Uint8Array => createHash("sha256").update(token).digest();

export function accountOf(world: World, email: string, about: Partial<Account> = {}): Account {
	return { id: world.id("account"), email, name: "Ada", operator: false, createdAt: START, ...about };
}

export async function makeAccount(world: World, email: string): Promise<Account> {
	const account = accountOf(world, email);
	expect(await world.storage.createAccount(account, email.toLowerCase(), "hash")).toBe("created");
	return account;
}

function sessionOf(world: World, accountId: string, about: Partial<Session> = {}): Session {
	const times = { createdAt: START, lastSeenAt: START, expiresAt: START + HOUR };
	const from = { byLink: false, userAgent: "Browser/1.0", address: "192.0.2.7" };
	return { id: world.id("session"), accountId, ...times, ...from, ...about };
}

export function describeAccounts(harness: StorageHarness): void {
	describe("accounts and sessions", () => {
		let world: World;
		beforeAll(async () => {
			world = await World.open(harness);
		});
		afterAll(() => world.dispose());

		test("the operator's account is made once, also after others joined, with a set-up link in its time", async () => {
			const { storage } = world;
			const first = accountOf(world, "First@Example.com", { operator: true });
			const make = (token: string, at: number, account = first) =>
				storage.createOperator(account, account.email.toLowerCase(), "hash", hashOf(token), at);
			expect(await storage.hasOperator()).toBe(false);
			expect(await make("none", START)).toBe("wrong_token");
			await storage.createLink({ kind: "setup", supersedes: START }, hashOf("older"), START + HOUR - 2);
			await storage.createLink({ kind: "setup", supersedes: START + HOUR - 2 }, hashOf("other"), START + HOUR - 1);
			expect(await storage.holdsSetupLink(hashOf("older"), START)).toBe(true);
			await storage.createLink({ kind: "setup", supersedes: START + HOUR - 1 }, hashOf("newer"), START + HOUR);
			// Those that expire early are over with the newest; what was made at about the same time holds.
			expect(await storage.holdsSetupLink(hashOf("older"), START)).toBe(false);
			expect(await storage.holdsSetupLink(hashOf("other"), START)).toBe(true);
			expect(await storage.holdsSetupLink(hashOf("other"), START + HOUR - 1)).toBe(false);
			expect(await make("older", START)).toBe("wrong_token");
			expect(await make("other", START + HOUR - 1)).toBe("wrong_token");
			expect(await make("newer", START + HOUR)).toBe("wrong_token");
			// A set-up link signs nobody in.
			expect(await storage.useSignInLink(hashOf("newer"), START)).toBeNull();
			// Somebody was invited with the operator's key before there was an operator.
			const guest = accountOf(world, "guest@example.com");
			await storage.createAccount(guest, "guest@example.com", "hash");
			expect(await storage.hasOperator()).toBe(false);
			const twin = accountOf(world, "Guest@Example.com", { operator: true });
			expect(await make("newer", START, twin)).toBe("taken");
			expect(await make("none", START, twin), "tells nobody else who has an account").toBe("wrong_token");
			expect(await make("newer", START + HOUR - 1)).toBe("created");
			expect(await storage.hasOperator()).toBe(true);
			expect(await storage.getAccount(first.id)).toEqual(first);
			// Neither a link that was not used nor a new one makes a second one.
			await storage.createLink({ kind: "setup", supersedes: START }, hashOf("again"), START + HOUR);
			for (const token of ["other", "newer", "again"])
				expect(await make(token, START, accountOf(world, `${token}@example.com`))).toBe("over");
		});

		test("of several who come at once, each with a link of his own, one becomes the operator", async () => {
			const fresh = await World.open(harness);
			const tokens = ["a", "b", "c", "d"];
			for (const token of tokens)
				await fresh.storage.createLink({ kind: "setup", supersedes: START }, hashOf(token), START + HOUR);
			const made = await Promise.all(
				tokens.map((token) => {
					const account = accountOf(fresh, `${token}@example.com`, { operator: true });
					return fresh.storage.createOperator(account, account.email, "hash", hashOf(token), START);
				}),
			);
			expect(made.toSorted()).toEqual(["created", "over", "over", "over"]);
			await fresh.dispose();
		});

		test("an email has one account, whatever its case; credentials are found by it and by the account", async () => {
			const { storage } = world;
			const account = accountOf(world, "Ada@Example.com");
			expect(await storage.createAccount(account, "ada@example.com", "hash 1")).toBe("created");
			const twin = accountOf(world, "ADA@example.com");
			expect(await storage.createAccount(twin, "ada@example.com", "hash 2")).toBe("taken");
			expect(await storage.getAccount(twin.id)).toBeNull();
			const credentials = { account, passwordHash: "hash 1" };
			expect(await storage.findCredentials("ada@example.com")).toEqual(credentials);
			expect(await storage.getCredentials(account.id)).toEqual(credentials);
			expect(await storage.findCredentials("Ada@Example.com")).toBeNull();
			expect(await storage.getCredentials(twin.id)).toBeNull();
			expect(await storage.renameAccount(account.id, "Countess")).toEqual({ ...account, name: "Countess" });
			expect(await storage.getAccount(account.id)).toEqual({ ...account, name: "Countess" });
			expect(await storage.renameAccount(twin.id, "Nobody")).toBeNull();
		});

		test("a session is found by its token until it expires, and is prolonged by its use", async () => {
			const { storage } = world;
			const account = await makeAccount(world, "session@example.com");
			const session = sessionOf(world, account.id, { byLink: true });
			await storage.createSession(session, hashOf("token"));
			expect(await storage.findSession(hashOf("token"), START + HOUR - 1)).toEqual({ session, account });
			expect(await storage.findSession(hashOf("token"), START + HOUR)).toBeNull();
			expect(await storage.findSession(hashOf("other"), START)).toBeNull();
			await storage.touchSession(session.id, START + 5, START + 2 * HOUR);
			await storage.touchSession(session.id, START + 4, START + HOUR);
			const touched = { ...session, lastSeenAt: START + 5, expiresAt: START + 2 * HOUR };
			expect(await storage.findSession(hashOf("token"), START + HOUR)).toEqual({ session: touched, account });
		});

		test("sessions are listed newest first, and ended one by one, all, or all but one with a new password", async () => {
			const { storage } = world;
			const [account, other] = [
				await makeAccount(world, "one@example.com"),
				await makeAccount(world, "two@example.com"),
			];
			const sessions: Session[] = [];
			for (const i of [0, 1, 2, 3]) {
				sessions.push(sessionOf(world, account.id, { expiresAt: START + (i === 1 ? 1 : HOUR) }));
				await storage.createSession(sessions[i]!, hashOf(`one ${i}`));
			}
			const foreign = sessionOf(world, other.id);
			await storage.createSession(foreign, hashOf("two"));
			const open = async (at = START + 1) => (await storage.listSessions(account.id, at)).map(({ id }) => id);
			const [first, second, third, fourth] = sessions.map(({ id }) => id);
			expect(await open(START)).toEqual([fourth, third, second, first]);
			expect(await open()).toEqual([fourth, third, first]);
			expect(await storage.deleteSession(account.id, foreign.id)).toBe(false);
			expect(await storage.deleteSession(account.id, third!)).toBe(true);
			expect(await storage.deleteSession(account.id, third!)).toBe(false);
			await storage.setPassword(account.id, "hash 2", first!);
			expect(await open()).toEqual([first]);
			expect((await storage.getCredentials(account.id))?.passwordHash).toBe("hash 2");
			await storage.setPassword(account.id, "hash 3", null);
			expect(await open()).toEqual([]);
			await storage.createSession(sessionOf(world, account.id), hashOf("one more"));
			await storage.deleteSessions(account.id);
			expect(await open()).toEqual([]);
			expect(await storage.listSessions(other.id, START)).toEqual([foreign]);
			expect((await storage.getCredentials(other.id))?.passwordHash).toBe("hash");
		});

		test("a sign-in link works once and in its time", async () => {
			const { storage } = world;
			const account = await makeAccount(world, "link@example.com");
			for (const token of ["a", "b"])
				await storage.createLink({ kind: "sign_in", accountId: account.id }, hashOf(token), START + HOUR);
			expect(await storage.useSignInLink(hashOf("a"), START + HOUR)).toBeNull();
			expect(await storage.useSignInLink(hashOf("a"), START)).toBe(account.id);
			expect(await storage.useSignInLink(hashOf("a"), START)).toBeNull();
			expect(await storage.useSignInLink(hashOf("b"), START)).toBe(account.id);
		});

		test("the sweep takes what has expired and leaves the rest", async () => {
			const { storage } = world;
			const account = await makeAccount(world, "sweep@example.com");
			const project = await world.project();
			for (const [name, expiresAt] of [["old", START + 10] as const, ["young", START + HOUR] as const]) {
				await storage.createSession(sessionOf(world, account.id, { expiresAt }), hashOf(`${name} session`));
				await storage.createLink({ kind: "sign_in", accountId: account.id }, hashOf(`${name} link`), expiresAt);
				const invitedBy = { kind: "operator_key" as const, id: null, name: "Operator" };
				const about = { projectId: project, role: "viewer" as const, email: null, invitedBy, createdAt: START };
				await storage.createInvitation(
					{ id: world.id("invitation"), ...about, expiresAt },
					hashOf(`${name} invitation`),
				);
			}
			await storage.sweepExpired(START + 11);
			// Asked as of a time at which all of them were good.
			expect(await storage.findSession(hashOf("old session"), START)).toBeNull();
			expect(await storage.findInvitation(hashOf("old invitation"), START)).toBeNull();
			expect(await storage.useSignInLink(hashOf("old link"), START)).toBeNull();
			expect(await storage.findSession(hashOf("young session"), START)).not.toBeNull();
			expect(await storage.findInvitation(hashOf("young invitation"), START)).not.toBeNull();
			expect(await storage.useSignInLink(hashOf("young link"), START)).toBe(account.id);
		});
	});
}

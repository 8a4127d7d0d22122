import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Account, Session } from "../../../src/storage/port.ts";
import type { StorageHarness } from "./harness.ts";
import { START, World } from "./world.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The hash of a token, as a view into the memory that small buffers share. */
export const hashOf = (token: string): Uint8Array => createHash("sha256").update(token).digest();

export function accountOf(world: World, email: string, about: Partial<Account> = {}): Account {
	return { id: world.id("account"), email, name: "Ada", operator: false, createdAt: START, ...about };
}

export async function makeAccount(world: World, email: string): Promise<Account> {
	const account = accountOf(world, email);
	expect(await world.storage.createAccount({ account, normalEmail: email.toLowerCase(), passwordHash: "hash" })).toBe(
		"created",
	);
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

		test("the operator's account is created once, with a valid setup link, even after others joined", async () => {
			const { storage } = world;
			const first = accountOf(world, "First@Example.com", { operator: true });
			const make = (token: string, at: number, account = first) =>
				storage.createOperator({
					account,
					normalEmail: account.email.toLowerCase(),
					passwordHash: "hash",
					tokenHash: hashOf(token),
					at,
				});
			expect(await storage.hasOperator()).toBe(false);
			expect(await make("none", START)).toBe("wrong_token");
			await storage.createLink({
				kind: "setup",
				supersedes: START,
				tokenHash: hashOf("older"),
				expiresAt: START + HOUR - 2,
			});
			await storage.createLink({
				kind: "setup",
				supersedes: START + HOUR - 2,
				tokenHash: hashOf("other"),
				expiresAt: START + HOUR - 1,
			});
			expect(await storage.holdsSetupLink({ tokenHash: hashOf("older"), at: START })).toBe(true);
			await storage.createLink({
				kind: "setup",
				supersedes: START + HOUR - 1,
				tokenHash: hashOf("newer"),
				expiresAt: START + HOUR,
			});
			// Links that expire early end with the newest; one created at about the same time stays valid.
			expect(await storage.holdsSetupLink({ tokenHash: hashOf("older"), at: START })).toBe(false);
			expect(await storage.holdsSetupLink({ tokenHash: hashOf("other"), at: START })).toBe(true);
			expect(await storage.holdsSetupLink({ tokenHash: hashOf("other"), at: START + HOUR - 1 })).toBe(false);
			expect(await make("older", START)).toBe("wrong_token");
			expect(await make("other", START + HOUR - 1)).toBe("wrong_token");
			expect(await make("newer", START + HOUR)).toBe("wrong_token");
			// A set-up link can't be used to sign in.
			expect(await storage.useSignInLink({ tokenHash: hashOf("newer"), at: START })).toBeNull();
			// Someone was invited with the operator's key before the operator's account existed.
			const guest = accountOf(world, "guest@example.com");
			await storage.createAccount({ account: guest, normalEmail: "guest@example.com", passwordHash: "hash" });
			expect(await storage.hasOperator()).toBe(false);
			const twin = accountOf(world, "Guest@Example.com", { operator: true });
			expect(await make("newer", START, twin)).toBe("taken");
			expect(await make("none", START, twin), "doesn't reveal who has an account").toBe("wrong_token");
			expect(await make("newer", START + HOUR - 1)).toBe("created");
			expect(await storage.hasOperator()).toBe(true);
			expect((await storage.getCredentials({ accountId: first.id }))?.account).toEqual(first);
			// Neither an unused link nor a new one creates a second operator.
			await storage.createLink({
				kind: "setup",
				supersedes: START,
				tokenHash: hashOf("again"),
				expiresAt: START + HOUR,
			});
			for (const token of ["other", "newer", "again"])
				expect(await make(token, START, accountOf(world, `${token}@example.com`))).toBe("over");
		});

		test("only one of several concurrent setups creates the operator", async () => {
			const fresh = await World.open(harness);
			const tokens = ["a", "b", "c", "d"];
			for (const token of tokens)
				await fresh.storage.createLink({
					kind: "setup",
					supersedes: START,
					tokenHash: hashOf(token),
					expiresAt: START + HOUR,
				});
			const made = await Promise.all(
				tokens.map((token) => {
					const account = accountOf(fresh, `${token}@example.com`, { operator: true });
					return fresh.storage.createOperator({
						account,
						normalEmail: account.email,
						passwordHash: "hash",
						tokenHash: hashOf(token),
						at: START,
					});
				}),
			);
			expect(made.toSorted()).toEqual(["created", "over", "over", "over"]);
			await fresh.dispose();
		});

		test("an email in any case has one account; credentials are found by email and by account", async () => {
			const { storage } = world;
			const account = accountOf(world, "Ada@Example.com");
			expect(
				await storage.createAccount({ account: account, normalEmail: "ada@example.com", passwordHash: "hash 1" }),
			).toBe("created");
			const twin = accountOf(world, "ADA@example.com");
			expect(
				await storage.createAccount({ account: twin, normalEmail: "ada@example.com", passwordHash: "hash 2" }),
			).toBe("taken");
			expect(await storage.getCredentials({ accountId: twin.id })).toBeNull();
			const credentials = { account, passwordHash: "hash 1" };
			expect(await storage.findCredentials({ normalEmail: "ada@example.com" })).toEqual(credentials);
			expect(await storage.getCredentials({ accountId: account.id })).toEqual(credentials);
			expect(await storage.findCredentials({ normalEmail: "Ada@Example.com" })).toBeNull();
			expect(await storage.getCredentials({ accountId: twin.id })).toBeNull();
			expect(await storage.renameAccount({ accountId: account.id, name: "Countess" })).toEqual({
				...account,
				name: "Countess",
			});
			expect((await storage.getCredentials({ accountId: account.id }))?.account).toEqual({
				...account,
				name: "Countess",
			});
			expect(await storage.renameAccount({ accountId: twin.id, name: "Nobody" })).toBeNull();
		});

		test("a session is found by its token until it expires, and is extended by use", async () => {
			const { storage } = world;
			const account = await makeAccount(world, "session@example.com");
			const session = sessionOf(world, account.id, { byLink: true });
			await storage.createSession({ ...session, tokenHash: hashOf("token"), maxPerAccount: 100 });
			expect(await storage.findSession({ tokenHash: hashOf("token"), at: START + HOUR - 1 })).toEqual({
				session,
				account,
			});
			expect(await storage.findSession({ tokenHash: hashOf("token"), at: START + HOUR })).toBeNull();
			expect(await storage.findSession({ tokenHash: hashOf("other"), at: START })).toBeNull();
			await storage.touchSession({ sessionId: session.id, lastSeenAt: START + 5, expiresAt: START + 2 * HOUR });
			await storage.touchSession({ sessionId: session.id, lastSeenAt: START + 4, expiresAt: START + HOUR });
			const touched = { ...session, lastSeenAt: START + 5, expiresAt: START + 2 * HOUR };
			expect(await storage.findSession({ tokenHash: hashOf("token"), at: START + HOUR })).toEqual({
				session: touched,
				account,
			});
		});

		test("sessions are listed newest first, and ended one by one, all, or all but one with a new password", async () => {
			const { storage } = world;
			const [account, other] = [
				await makeAccount(world, "one@example.com"),
				await makeAccount(world, "two@example.com"),
			];
			const sessions: Session[] = [];
			for (const i of [0, 1, 2, 3]) {
				sessions.push(sessionOf(world, account.id, { byLink: true, expiresAt: START + (i === 1 ? 1 : HOUR) }));
				await storage.createSession({ ...sessions[i]!, tokenHash: hashOf(`one ${i}`), maxPerAccount: 100 });
			}
			const foreign = sessionOf(world, other.id);
			await storage.createSession({ ...foreign, tokenHash: hashOf("two"), maxPerAccount: 100 });
			const open = async (at = START + 1) =>
				(await storage.listSessions({ accountId: account.id, at: at })).map(({ id }) => id);
			const [first, second, third, fourth] = sessions.map(({ id }) => id);
			expect(await open(START)).toEqual([fourth, third, second, first]);
			expect(await open()).toEqual([fourth, third, first]);
			expect(await storage.deleteSession({ accountId: account.id, sessionId: foreign.id })).toBe(false);
			expect(await storage.deleteSession({ accountId: account.id, sessionId: third! })).toBe(true);
			expect(await storage.deleteSession({ accountId: account.id, sessionId: third! })).toBe(false);
			await storage.setPassword({ accountId: account.id, passwordHash: "hash 2", keepSessionId: first! });
			expect(await open()).toEqual([first]);
			expect((await storage.listSessions({ accountId: account.id, at: START + 1 }))[0]!.byLink).toBe(false);
			const again = { accountId: account.id, passwordHash: "again", keepSessionId: first!, byLink: true };
			expect(await storage.setPassword(again)).toBe("current_needed");
			expect((await storage.getCredentials({ accountId: account.id }))?.passwordHash).toBe("hash 2");
			await storage.setPassword({ accountId: account.id, passwordHash: "hash 3", keepSessionId: null });
			expect(await open()).toEqual([]);
			for (const keepSessionId of [first!, foreign.id])
				expect(await storage.setPassword({ accountId: account.id, passwordHash: "late", keepSessionId })).toBe("ended");
			expect((await storage.getCredentials({ accountId: account.id }))?.passwordHash).toBe("hash 3");
			const withPassword = (passwordHash: string) =>
				storage.createSession({
					...sessionOf(world, account.id),
					...{ tokenHash: hashOf(passwordHash), maxPerAccount: 100, passwordHash },
				});
			expect(await withPassword("hash 2")).toBe(false);
			expect(await open()).toEqual([]);
			expect(await withPassword("hash 3")).toBe(true);
			expect(await open()).toHaveLength(1);
			await storage.createSession({
				...sessionOf(world, account.id),
				tokenHash: hashOf("one more"),
				maxPerAccount: 100,
			});
			await storage.deleteSessions({ accountId: account.id });
			expect(await open()).toEqual([]);
			expect(await storage.listSessions({ accountId: other.id, at: START })).toEqual([foreign]);
			expect((await storage.getCredentials({ accountId: other.id }))?.passwordHash).toBe("hash");
		});

		test("a sign-in link works once before it expires", async () => {
			const { storage } = world;
			const account = await makeAccount(world, "link@example.com");
			for (const token of ["a", "b"])
				await storage.createLink({
					kind: "sign_in",
					accountId: account.id,
					tokenHash: hashOf(token),
					expiresAt: START + HOUR,
				});
			expect(await storage.useSignInLink({ tokenHash: hashOf("a"), at: START + HOUR })).toBeNull();
			expect(await storage.useSignInLink({ tokenHash: hashOf("a"), at: START })).toMatchObject({ account: account });
			expect(await storage.useSignInLink({ tokenHash: hashOf("a"), at: START })).toBeNull();
			expect(await storage.useSignInLink({ tokenHash: hashOf("b"), at: START })).toMatchObject({ account: account });
		});

		// It was valid for a year after a clock that was a year ahead had been set right.
		test("a sign-in link from a clock that was ahead doesn't work", async () => {
			const { storage } = world;
			const { id } = await makeAccount(world, "ahead-link@example.com");
			const tokenHash = hashOf("link from a year ahead");
			await storage.createLink({ kind: "sign_in", accountId: id, tokenHash, expiresAt: START + 365 * DAY });
			expect(await storage.useSignInLink({ tokenHash, at: START })).toBeNull();
			expect(await storage.useSignInLink({ tokenHash, at: START + 365 * DAY - 1 })).toMatchObject({ account: { id } });
		});

		test("a new password ends the account's sign-in links, and no others", async () => {
			const { storage } = world;
			const [account, other] = [
				await makeAccount(world, "new-password@example.com"),
				await makeAccount(world, "old-password@example.com"),
			];
			for (const { id } of [account, other])
				await storage.createLink({ kind: "sign_in", accountId: id, tokenHash: hashOf(id), expiresAt: START + HOUR });
			await storage.setPassword({ accountId: account.id, passwordHash: "hash 2", keepSessionId: null });
			expect(await storage.useSignInLink({ tokenHash: hashOf(account.id), at: START })).toBeNull();
			expect(await storage.useSignInLink({ tokenHash: hashOf(other.id), at: START })).toMatchObject({ account: other });
		});

		test("a session beyond the most of an account ends the oldest", async () => {
			const { storage } = world;
			const [account, other] = [
				await makeAccount(world, "many@example.com"),
				await makeAccount(world, "few@example.com"),
			];
			const begin = async ({ id }: Account) => {
				const session = sessionOf(world, id);
				await storage.createSession({ ...session, tokenHash: hashOf(session.id), maxPerAccount: 2 });
				return session.id;
			};
			const open = async ({ id }: Account) =>
				(await storage.listSessions({ accountId: id, at: START })).map((session) => session.id);
			const first = await begin(account);
			const foreign = await begin(other);
			const second = await begin(account);
			expect(await open(account)).toEqual([second, first]);
			const third = await begin(account);
			expect(await open(account)).toEqual([third, second]);
			expect(await open(other)).toEqual([foreign]);
		});

		// The new session was the oldest, and ended as it began: no one could sign in until the time that the clock had shown.
		test("sessions from a clock that was ahead make room first", async () => {
			const { storage } = world;
			const account = await makeAccount(world, "ahead@example.com");
			const begin = (session: Session) =>
				storage.createSession({ ...session, tokenHash: hashOf(session.id), maxPerAccount: 2 });
			const right = sessionOf(world, account.id);
			const later = { createdAt: START + 2 * DAY, lastSeenAt: START + 2 * DAY, expiresAt: START + 2 * DAY + HOUR };
			for (let n = 0; n < 2; n++) await begin(sessionOf(world, account.id, later));
			await begin(right);
			expect(await storage.listSessions({ accountId: account.id, at: START })).toEqual([right]);
		});

		// Signing in through a node whose clock was two hours behind ended all other sessions.
		test("a session ends no others of a clock that is a few hours apart, unless they are too many", async () => {
			const { storage } = world;
			const account = await makeAccount(world, "apart@example.com");
			const begin = (session: Session) =>
				storage.createSession({ ...session, tokenHash: hashOf(session.id), maxPerAccount: 2 });
			const behind = sessionOf(world, account.id);
			const [earlier, later] = [1, 2].map((hours) => {
				const at = START + hours * HOUR;
				return sessionOf(world, account.id, { createdAt: at, lastSeenAt: at, expiresAt: at + HOUR });
			}) as [Session, Session];
			for (const session of [earlier, later, behind]) await begin(session);
			// The new one stays, even if its id isn't the latest.
			expect(await storage.listSessions({ accountId: account.id, at: START })).toEqual([later, behind]);
		});

		test("the sweep only deletes expired rows", async () => {
			const { storage } = world;
			const account = await makeAccount(world, "sweep@example.com");
			const project = await world.project();
			for (const [name, expiresAt] of [["old", START + 10] as const, ["young", START + HOUR] as const]) {
				await storage.createSession({
					...sessionOf(world, account.id, { expiresAt }),
					tokenHash: hashOf(`${name} session`),
					maxPerAccount: 100,
				});
				await storage.createLink({
					kind: "sign_in",
					accountId: account.id,
					tokenHash: hashOf(`${name} link`),
					expiresAt: expiresAt,
				});
				const invitedBy = { kind: "operator_key" as const, id: null, name: "Operator" };
				const about = { projectId: project, role: "viewer" as const, email: null, invitedBy, createdAt: START };
				await storage.createInvitation({
					id: world.id("invitation"),
					...about,
					expiresAt,
					tokenHash: hashOf(`${name} invitation`),
				});
			}
			await storage.sweepExpired({ at: START + 11 });
			// Queried as of a time at which all of them were valid.
			expect(await storage.findSession({ tokenHash: hashOf("old session"), at: START })).toBeNull();
			expect(await storage.findInvitation({ tokenHash: hashOf("old invitation"), at: START })).toBeNull();
			expect(await storage.useSignInLink({ tokenHash: hashOf("old link"), at: START })).toBeNull();
			expect(await storage.findSession({ tokenHash: hashOf("young session"), at: START })).not.toBeNull();
			expect(await storage.findInvitation({ tokenHash: hashOf("young invitation"), at: START })).not.toBeNull();
			expect(await storage.useSignInLink({ tokenHash: hashOf("young link"), at: START })).toMatchObject({
				account: account,
			});
		});
	});
}

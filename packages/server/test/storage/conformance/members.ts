import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Account, Invitation, Role, StillAllowed } from "../../../src/storage/port.ts";
import { accountOf, hashOf, makeAccount } from "./accounts.ts";
import type { StorageHarness } from "./harness.ts";
import { START, World } from "./world.ts";

const DAY = 86_400_000;

export function describeMembers(harness: StorageHarness): void {
	describe("members and invitations", () => {
		let world: World;
		beforeAll(async () => {
			world = await World.open(harness);
		});
		afterAll(() => world.dispose());

		function invitationTo(project: string, role: Role, about: Partial<Invitation> = {}): Invitation {
			const invitedBy = { kind: "account" as const, id: world.id("account"), name: "Grace" };
			const base = { id: world.id("invitation"), projectId: project, role, email: null, invitedBy };
			return { ...base, createdAt: START, expiresAt: START + DAY, ...about };
		}

		async function join(project: string, account: Account, role: Role, at = START) {
			const invitation = invitationTo(project, role);
			await world.storage.createInvitation({ ...invitation, tokenHash: hashOf(invitation.id) });
			return world.storage.acceptInvitation({
				projectId: project,
				tokenHash: hashOf(invitation.id),
				by: { accountId: account.id },
				at,
			});
		}

		test("an invitation is found, listed and accepted once before it expires, or revoked", async () => {
			const { storage } = world;
			const [project, other] = [await world.project(), await world.project()];
			const account = await makeAccount(world, "guest@example.com");
			const [first, second, late] = [
				invitationTo(project, "developer"),
				invitationTo(project, "viewer", { email: "Guest@Example.com" }),
				invitationTo(project, "viewer", { expiresAt: START + 5 }),
			];
			for (const each of [first, second, late]) await storage.createInvitation({ ...each, tokenHash: hashOf(each.id) });
			expect(await storage.listInvitations({ projectId: project, at: START })).toEqual([first, second, late]);
			expect(await storage.listInvitations({ projectId: project, at: START + 5 })).toEqual([first, second]);
			expect(await storage.listInvitations({ projectId: other, at: START })).toEqual([]);
			expect(await storage.findInvitation({ tokenHash: hashOf(second.id), at: START })).toEqual(second);
			expect(await storage.findInvitation({ tokenHash: hashOf(late.id), at: START + 5 })).toBeNull();
			expect(
				await storage.acceptInvitation({
					projectId: project,
					tokenHash: hashOf(late.id),
					by: { accountId: account.id },
					at: START + 5,
				}),
			).toBeNull();
			expect(
				await storage.acceptInvitation({
					projectId: project,
					tokenHash: hashOf("unknown"),
					by: { accountId: account.id },
					at: START,
				}),
			).toBeNull();
			expect(await storage.getRole({ projectId: project, accountId: account.id })).toBeNull();

			const joined = { projectId: project, accountId: account.id, role: "developer", addedAt: START + 3 };
			expect(
				await storage.acceptInvitation({
					projectId: project,
					tokenHash: hashOf(first.id),
					by: { accountId: account.id },
					at: START + 3,
				}),
			).toEqual(joined);
			expect(
				await storage.acceptInvitation({
					projectId: project,
					tokenHash: hashOf(first.id),
					by: { accountId: account.id },
					at: START + 3,
				}),
			).toBeNull();
			expect(await storage.findInvitation({ tokenHash: hashOf(first.id), at: START })).toBeNull();
			expect(await storage.deleteInvitation({ projectId: other, invitationId: second.id })).toBe(false);
			expect(await storage.deleteInvitation({ projectId: project, invitationId: second.id })).toBe(true);
			expect(await storage.deleteInvitation({ projectId: project, invitationId: second.id })).toBe(false);
			expect(await storage.findInvitation({ tokenHash: hashOf(second.id), at: START })).toBeNull();
		});

		test("an acceptance creates a new account along with the membership, once", async () => {
			const { storage } = world;
			const project = await world.project();
			const invitation = invitationTo(project, "developer");
			await storage.createInvitation({ ...invitation, tokenHash: hashOf(invitation.id) });
			const taken = await makeAccount(world, "taken@example.com");
			const accept = (account: Account) =>
				storage.acceptInvitation({
					projectId: project,
					tokenHash: hashOf(invitation.id),
					by: { newAccount: { account, normalEmail: account.email, passwordHash: "hash" } },
					at: START + 3,
				});
			expect(await accept({ ...taken, id: world.id("account") })).toBe("taken");
			expect(await storage.listInvitations({ projectId: project, at: START })).toEqual([invitation]);
			const fresh = ["a", "b", "c"].map((name) => accountOf(world, `fresh-${name}@example.com`));
			const accepted = await Promise.all(fresh.map(accept));
			const winner = accepted.findIndex((membership) => membership !== null);
			const { id: accountId } = fresh[winner]!;
			expect(accepted[winner]).toEqual({ projectId: project, accountId, role: "developer", addedAt: START + 3 });
			const accounts = await Promise.all(fresh.map(({ id }) => storage.getCredentials({ accountId: id })));
			expect(accounts.map((found) => found?.account ?? null)).toEqual(
				fresh.map((account, i) => (i === winner ? account : null)),
			);
		});

		test("an invitation or a key is only stored while its creator has the role, and no more are open than may be", async () => {
			const { storage } = world;
			const project = await world.project();
			const { id: accountId } = await makeAccount(world, "former@example.com");
			const by = { accountId, role: "developer" } as const;
			const invite = (most?: number) => {
				const invitation = invitationTo(project, "viewer");
				return storage.createInvitation({ ...invitation, tokenHash: hashOf(invitation.id), by, most });
			};
			const createKey = () => {
				const id = world.id("apiKey");
				const about = { name: "key", prefix: "phk_", scopes: [], expiresAt: null, createdBy: null, createdAt: START };
				return storage.createApiKey({ ...about, id, projectId: project, hash: hashOf(id), by });
			};
			expect(await invite()).toBe("not_member");
			expect(await createKey()).toBe("not_member");
			await join(project, await makeAccount(world, "owner@example.com"), "owner");
			await join(project, { ...accountOf(world, "former@example.com"), id: accountId }, "owner");
			expect(await invite(2)).toBe("created");
			expect(await invite(2)).toBe("created");
			expect(await invite(2)).toBe("too_many");
			expect(await createKey()).toBe("created");
			await storage.setRole({ projectId: project, accountId, role: "viewer" });
			expect(await invite()).toBe("not_member");
			expect(await createKey()).toBe("not_member");
			await storage.removeMember({ projectId: project, accountId });
			expect(await invite()).toBe("not_member");
		});

		test("webhooks are stored and changed only for members and keys that still have the right", async () => {
			const { storage } = world;
			const project = await world.project();
			const other = await world.project();
			const webhookId = await world.webhook(project, ["a"]);
			const ada = await makeAccount(world, "late@example.com");
			await join(project, await makeAccount(world, "keeps@example.com"), "owner");
			const keyId = world.id("apiKey");
			const about = { name: "key", prefix: "phk_", scopes: [], expiresAt: null, createdBy: null, createdAt: START };
			await storage.createApiKey({ ...about, id: keyId, projectId: project, hash: hashOf(keyId) });
			const sealedDigest = Buffer.from("x");
			const change = async (by: StillAllowed, projectId = project) => {
				const id = world.id("webhook");
				const fields = { url: "https://a.example/", description: "", events: ["a"], maxInFlight: 1 };
				const fresh = { ...fields, id, projectId, createdAt: START, sealedDigest, maxPerProject: 10, by };
				const created = await storage.createWebhook(fresh);
				const updated = await storage.updateWebhook({ projectId, webhookId, patch: { description: "x" }, by });
				const rotated = await storage.rotateSecret({ projectId, webhookId, sealedDigest, by });
				return [created, updated !== null, rotated, await storage.deleteWebhook({ projectId, webhookId: id, by })];
			};
			const made = ["created", true, true, true];
			const refused = ["no_project", false, false, false];
			const developer = { accountId: ada.id, role: "developer" } as const;
			expect(await change(developer)).toEqual(refused);
			await join(project, ada, "developer");
			for (const by of [developer, { keyId }]) expect(await change(by)).toEqual(made);
			expect(await change({ keyId }, other)).toEqual(refused);
			await storage.setRole({ projectId: project, accountId: ada.id, role: "viewer" });
			await storage.deleteApiKey({ projectId: project, keyId });
			for (const by of [developer, { keyId }]) expect(await change(by)).toEqual(refused);
			expect(await storage.listWebhooks({ projectId: project, limit: 10 })).toHaveLength(1);
		});

		test("deliveries are replayed, retried and dismissed only for members and keys that still have the right", async () => {
			const { storage } = world;
			const project = await world.project();
			const webhookId = await world.webhook(project, ["a"]);
			const [dead, waiting] = await world.publish(project, "a", "a");
			const lease = await world.lease(project);
			await world.settle(lease, {
				attempts: [
					world.attempt(webhookId, dead!, { status: "failed" }),
					world.attempt(webhookId, waiting!, { status: "retrying" }),
				],
				schedule: [{ webhookId, seq: waiting!.seq, queue: "retry", replay: 0, attempt: 2, dueAt: START + 3_600_000 }],
				lanes: [{ webhookId, position: 2, open: [] }],
			});
			const { createdAtGiven: _, ...test } = world.event(project, "a");
			const of = { projectId: project, webhookId };
			await storage.appendTestEvent({ ...of, event: test });
			const ada = await makeAccount(world, "no-more@example.com");
			await join(project, await makeAccount(world, "remains@example.com"), "owner");
			const attempt = async (by: StillAllowed) => {
				const all = [dead, waiting].map((event) => ({ webhookId, eventId: event!.id }));
				const many = { projectId: project, deliveries: all, at: START, by };
				const matching = { projectId: project, selection: {}, at: START + 86_400_000, limit: 10, by };
				const { createdAtGiven: _, ...event } = world.event(project, "a");
				return [
					(await storage.replayDelivery({ ...of, eventId: dead!.id, at: START, by })).kind,
					(await storage.replayMatching(matching)).count,
					(await storage.retryDeliveries(many)).map(({ kind }) => kind),
					(await storage.retryWaiting({ ...of, at: START, limit: 10, by })).seqs,
					await storage.dismissDeliveries(many),
					await storage.cancelTest({ ...of, eventId: test.id, by }),
					await storage.appendTestEvent({ ...of, event, by }),
				];
			};
			const none = ["nothing_waits", "nothing_waits"];
			const refused = ["no_delivery", 0, none, [], [null, null], "nothing_waits", "no_webhook"];
			const developer = { accountId: ada.id, role: "developer" } as const;
			for (const by of [developer, { keyId: world.id("apiKey") }]) expect(await attempt(by)).toEqual(refused);
			await join(project, ada, "viewer");
			expect(await attempt(developer)).toEqual(refused);
			await join(project, ada, "developer");
			const made = ["queued", 0, ["queued", "queued"], [], [null, null], "cancelled", "queued"];
			expect(await attempt(developer)).toEqual(made);
		});

		test("accepting raises a role and never lowers it; the time of joining stays", async () => {
			const project = await world.project();
			const account = await makeAccount(world, "riser@example.com");
			const steps = [
				["developer", "developer"],
				["viewer", "developer"],
				["owner", "owner"],
				["developer", "owner"],
			] as const;
			for (const [i, [invited, role]] of steps.entries()) {
				const joined = { projectId: project, accountId: account.id, role, addedAt: START };
				expect(await join(project, account, invited, START + i)).toEqual(joined);
				expect(await world.storage.getRole({ projectId: project, accountId: account.id })).toBe(role);
			}
		});

		test("memberships are listed with their projects' names and apps", async () => {
			const { storage } = world;
			const [first, second] = [await world.project("First"), await world.project("Second")];
			await world.project("Third");
			const createdAt = async (projectId: string) => (await storage.getProject({ projectId }))!.createdAt;
			const ofFirst = { projectId: first, projectName: "First", projectCreatedAt: await createdAt(first) };
			const ofSecond = { projectId: second, projectName: "Renamed", projectCreatedAt: await createdAt(second) };
			const account = await makeAccount(world, "many@example.com");
			await join(second, account, "viewer");
			await join(first, account, "owner", START + 1);
			await storage.setDeveloperApp({ projectId: second, installed: false });
			await storage.renameProject({ projectId: second, name: "Renamed" });
			const of = { accountId: account.id };
			expect(await storage.listMemberships({ accountId: account.id })).toEqual([
				{ ...of, ...ofFirst, role: "owner", addedAt: START + 1, apps: ["developer"] },
				{ ...of, ...ofSecond, role: "viewer", addedAt: START, apps: [] },
			]);
			expect(await storage.listMemberships({ accountId: world.id("account") })).toEqual([]);
			expect(await storage.renameProject({ projectId: world.id("project"), name: "None" })).toBeNull();
		});

		test("members are listed in pages, by account", async () => {
			const { storage } = world;
			const [project, other] = [await world.project(), await world.project()];
			const accounts: Account[] = [];
			for (const i of [0, 1, 2, 3, 4]) accounts.push(await makeAccount(world, `member${i}@example.com`));
			for (const account of [...accounts].reverse()) await join(project, account, "viewer");
			await join(other, accounts[0]!, "owner");
			const page = await storage.listMembers({ projectId: project, limit: 3 });
			expect(page).toEqual(accounts.slice(0, 3).map((account) => ({ account, role: "viewer", addedAt: START })));
			const rest = await storage.listMembers({ projectId: project, limit: 3, after: page.at(-1)!.account.id });
			expect(rest.map(({ account }) => account)).toEqual(accounts.slice(3));
			expect(await storage.listMembers({ projectId: world.id("project"), limit: 3 })).toEqual([]);
			for (const member of [...page, ...rest])
				expect(await storage.getMember({ projectId: project, accountId: member.account.id })).toEqual(member);
			expect(await storage.getMember({ projectId: world.id("project"), accountId: page[0]!.account.id })).toBeNull();
			expect(await storage.getMember({ projectId: project, accountId: world.id("account") })).toBeNull();
		});

		test("the invitations of an owner who is removed or demoted end, in this project only", async () => {
			const { storage } = world;
			const [project, other] = [await world.project(), await world.project()];
			const [ada, grace] = [await makeAccount(world, "ada@a.example"), await makeAccount(world, "grace@a.example")];
			const open = async (of: string) =>
				(await storage.listInvitations({ projectId: of, at: START })).map(({ id }) => id);
			const invite = async (of: string, id: string) => {
				const invitation = invitationTo(of, "owner", { invitedBy: { kind: "account", id, name: "Ada" } });
				await storage.createInvitation({ ...invitation, tokenHash: hashOf(invitation.id) });
				return invitation.id;
			};
			await join(project, grace, "owner");
			await join(project, ada, "owner");
			const [elsewhere, of, first] = [
				await invite(other, ada.id),
				await invite(project, grace.id),
				await invite(project, ada.id),
			];
			expect(await storage.setRole({ projectId: project, accountId: ada.id, role: "owner" })).toBe("changed");
			expect(await open(project)).toEqual([of, first]);
			expect(await storage.setRole({ projectId: project, accountId: ada.id, role: "developer" })).toBe("changed");
			expect(await open(project)).toEqual([of]);
			await invite(project, ada.id);
			expect(await storage.removeMember({ projectId: project, accountId: ada.id })).toBe("removed");
			expect(await open(project)).toEqual([of]);
			expect(await open(other)).toEqual([elsewhere]);
		});

		test("members are changed only by members who still have the right", async () => {
			const { storage } = world;
			const project = await world.project();
			const [ada, grace] = [await makeAccount(world, "ada@b.example"), await makeAccount(world, "grace@b.example")];
			await join(project, grace, "owner");
			await join(project, ada, "developer");
			const by = { accountId: ada.id, role: "owner" } as const;
			const raise = () => storage.setRole({ projectId: project, accountId: ada.id, role: "owner", by });
			const remove = () => storage.removeMember({ projectId: project, accountId: grace.id, by });
			expect([await raise(), await remove()]).toEqual(["not_allowed", "not_allowed"]);
			expect(await storage.getRole({ projectId: project, accountId: ada.id })).toBe("developer");
			await storage.setRole({ projectId: project, accountId: ada.id, role: "owner", by: null });
			expect([await raise(), await remove()]).toEqual(["changed", "removed"]);
			// An owner of another project isn't one here.
			const other = await world.project();
			await join(other, grace, "viewer");
			expect(await storage.setRole({ projectId: other, accountId: grace.id, role: "owner", by })).toBe("not_allowed");
		});

		test("projects are renamed and invitations revoked only by owners who still have the right", async () => {
			const { storage } = world;
			const project = await world.project("Shop");
			const [ada, grace] = [await makeAccount(world, "ada@c.example"), await makeAccount(world, "grace@c.example")];
			await join(project, grace, "owner");
			await join(project, ada, "developer");
			const by = { accountId: ada.id, role: "owner" } as const;
			const invitation = invitationTo(project, "viewer");
			await storage.createInvitation({ ...invitation, tokenHash: hashOf(invitation.id) });
			const rename = async () => (await storage.renameProject({ projectId: project, name: "Mine", by }))?.name ?? null;
			const revoke = () => storage.deleteInvitation({ projectId: project, invitationId: invitation.id, by });
			expect([await rename(), await revoke()]).toEqual([null, false]);
			expect((await storage.getProject({ projectId: project }))?.name).toBe("Shop");
			await storage.setRole({ projectId: project, accountId: ada.id, role: "owner" });
			expect([await rename(), await revoke()]).toEqual(["Mine", true]);
		});

		test("a project keeps its last owner", async () => {
			const { storage } = world;
			const project = await world.project();
			const [ada, grace] = [await makeAccount(world, "ada@example.com"), await makeAccount(world, "grace@example.com")];
			const stranger = world.id("account");
			expect(await storage.setRole({ projectId: project, accountId: stranger, role: "owner" })).toBe("no_member");
			expect(await storage.removeMember({ projectId: project, accountId: stranger })).toBe("no_member");
			// A project that had no owner doesn't need one.
			await join(project, grace, "developer");
			expect(await storage.setRole({ projectId: project, accountId: grace.id, role: "viewer" })).toBe("changed");
			await join(project, ada, "owner");
			expect(await storage.setRole({ projectId: project, accountId: ada.id, role: "owner" })).toBe("changed");
			expect(await storage.setRole({ projectId: project, accountId: ada.id, role: "viewer" })).toBe("last_owner");
			expect(await storage.removeMember({ projectId: project, accountId: ada.id })).toBe("last_owner");
			expect(await storage.getRole({ projectId: project, accountId: ada.id })).toBe("owner");
			expect(await storage.setRole({ projectId: project, accountId: grace.id, role: "owner" })).toBe("changed");
			expect(await storage.setRole({ projectId: project, accountId: ada.id, role: "developer" })).toBe("changed");
			expect(await storage.removeMember({ projectId: project, accountId: grace.id })).toBe("last_owner");
			expect(await storage.removeMember({ projectId: project, accountId: ada.id })).toBe("removed");
			expect(await storage.getRole({ projectId: project, accountId: ada.id })).toBeNull();
			// An owner of another project isn't an owner here.
			await join(await world.project(), ada, "owner");
			expect(await storage.removeMember({ projectId: project, accountId: grace.id })).toBe("last_owner");
		});
	});
}

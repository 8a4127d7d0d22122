import { expect, test } from "vitest";
import { hashOf, makeAccount } from "../conformance/accounts.ts";
import { START } from "../conformance/world.ts";
import { MemoryWorld } from "./world.ts";

/** Makes an account a member of the project. */
async function join({ world, storage }: MemoryWorld, projectId: string): Promise<string> {
	const { id: accountId } = await makeAccount(world, `${world.id("account")}@example.com`);
	const invitedBy = { kind: "operator_key", id: null, name: "Operator" } as const;
	const [id, tokenHash] = [world.id("invitation"), hashOf(accountId)];
	const about = { projectId, role: "owner" as const, email: null, invitedBy, createdAt: START, expiresAt: START + 9 };
	await storage.createInvitation({ id, ...about, tokenHash });
	await storage.acceptInvitation({ projectId, tokenHash, by: { accountId }, at: START });
	return accountId;
}

test("members see their projects' current names and apps", async () => {
	const memory = await MemoryWorld.open();
	const { world, storage } = memory;
	const [before, renamed] = [await world.project("Before"), await world.project("Renamed before")];
	await storage.renameProject({ projectId: renamed, name: "Renamed" });
	const accountId = await join(memory, before);
	const after = await world.project("After");
	for (const projectId of [renamed, after]) {
		const invitedBy = { kind: "operator_key", id: null, name: "Operator" } as const;
		const about = {
			projectId,
			role: "viewer" as const,
			email: null,
			invitedBy,
			createdAt: START,
			expiresAt: START + 9,
		};
		await storage.createInvitation({ id: world.id("invitation"), ...about, tokenHash: hashOf(projectId) });
		await storage.acceptInvitation({ projectId, tokenHash: hashOf(projectId), by: { accountId }, at: START });
	}
	await storage.setDeveloperApp({ projectId: before, installed: false });
	await storage.renameProject({ projectId: after, name: "Renamed after" });
	const seen = (await storage.listMemberships({ accountId })).map(({ projectName, apps }) => [projectName, apps]);
	expect(seen).toEqual([
		["Before", []],
		["Renamed", ["developer"]],
		["Renamed after", ["developer"]],
	]);
	await world.dispose();
});

test("restoring a snapshot from before the first sign-up leaves no accounts", async () => {
	const memory = await MemoryWorld.open();
	const { database, storage, world } = memory;
	const project = await world.project();
	const snapshot = database.snapshot();
	const accountId = await join(memory, project);
	database.restore(snapshot);
	await expect(storage.ping()).rejects.toMatchObject({ code: "lost" });
	expect(await storage.getCredentials({ accountId })).toBeNull();
	expect(await storage.getRole({ projectId: project, accountId })).toBeNull();
	// The project still exists and can be joined.
	await join(memory, project);
	await world.dispose();
});

test("a snapshot keeps the settings made by then, and snapshots of lost history can't be restored", async () => {
	const memory = await MemoryWorld.open();
	const { database, storage, world } = memory;
	const project = await world.project();
	const accountId = await join(memory, project);
	const early = database.snapshot();
	await storage.renameAccount({ accountId, name: "Renamed" });
	// Nothing else changed between the two.
	const late = database.snapshot();
	const joined = await join(memory, project);
	for (let restored = 0; restored < 2; restored++) {
		database.restore(early);
		await expect(storage.ping()).rejects.toMatchObject({ code: "lost" });
		expect((await storage.getCredentials({ accountId }))?.account.name).toBe("Ada");
		expect(await storage.getRole({ projectId: project, accountId })).toBe("owner");
		expect(await storage.getCredentials({ accountId: joined })).toBeNull();
		expect(() => database.restore(late)).toThrow("belongs to lost history");
		await storage.setRole({ projectId: project, accountId: await join(memory, project), role: "viewer" });
	}
	await world.dispose();
});

import { expect, it } from "vitest";
import { isRole, mayAct, ROLE_WORDS, ROLES } from "./roles.ts";

it("gives each role the permissions of lower roles, but not of higher ones", () => {
	for (const [rank, role] of ROLES.entries()) {
		for (const [neededRank, needed] of ROLES.entries()) expect(mayAct(role, needed)).toBe(rank >= neededRank);
	}
});

it("knows the roles", () => {
	expect(isRole("owner")).toBe(true);
	expect(isRole("admin")).toBe(false);
	expect(isRole(null)).toBe(false);
});

it("tells someone who is invited what they can do, without comparing it with other roles", () => {
	// The invitation said "Can also …" about a role that it was the only one to name.
	for (const role of ROLES) expect(ROLE_WORDS[role].you).toMatch(/^You can (?!also\b)/);
});

import { expect, it } from "vitest";
import { isRole, mayAct, ROLES } from "./roles.ts";

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

import { expect, it } from "vitest";
import { isRole, mayAct, ROLES } from "./roles.ts";

it("lets each role do what the roles below it may, and no more", () => {
	for (const [rank, role] of ROLES.entries()) {
		for (const [neededRank, needed] of ROLES.entries()) expect(mayAct(role, needed)).toBe(rank >= neededRank);
	}
});

it("knows the roles", () => {
	expect(isRole("owner")).toBe(true);
	expect(isRole("admin")).toBe(false);
	expect(isRole(null)).toBe(false);
});

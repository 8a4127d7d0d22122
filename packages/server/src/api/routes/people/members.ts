import { isoTime } from "@posthorn/protocol";
import type { Static } from "typebox";
import { stillMember } from "../../../accounts/index.ts";
import type * as port from "../../../storage/port.ts";
import { ROLES } from "../../../storage/port.ts";
import { found, notFound, Problem } from "../../http/problem.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import { component, id, list, Name, PageQuerySchema, pageById, request, Time, Type } from "../../schema.ts";

const route = routeIn("Members", "project");

export const RoleName = Type.Enum([...ROLES], {
	title: "Role",
	description:
		"`viewer` may read everything except secrets. `developer` may also change webhooks and keys, and replay. `owner` may do everything, including apps and members.",
});

const Member = component("Member")({
	account_id: id("account"),
	email: Type.String(),
	name: Name,
	role: RoleName,
	operator: Type.Boolean(),
	added_at: Time,
});

function presentMember({ account, role, addedAt }: port.Member): Static<typeof Member> {
	const { id, email, name, operator } = account;
	return { account_id: id, email, name, role, operator, added_at: isoTime(addedAt) };
}

const OWNERS_REMOVE = "Only an owner may remove others.";
const LAST_OWNER = "A project needs an owner. Make someone else an owner first.";

export function memberRoutes({ members, storage }: ApiParts): Route[] {
	const path = "/v1/projects/{project_id}/members";
	const one = `${path}/{account_id}`;

	return [
		route("GET", path, "listMembers", {
			summary: "List members",
			description: "People who joined by invitation. The operator has access anyway, and is only listed after joining.",
			peopleOnly: true,
			query: PageQuerySchema,
			success: { status: 200, description: "A page of members.", schema: list(Member) },
			handler: ({ params, query }) =>
				pageById(
					"account",
					query,
					(page) => storage.listMembers({ projectId: params.projectId, ...page }),
					presentMember,
					({ account_id }) => account_id,
				),
		}),
		route("PATCH", one, "updateMember", {
			summary: "Change a member's role",
			description:
				"It applies from the next request on. Open invitations that the member created end, unless they remain an owner.",
			role: "owner",
			body: request("MemberPatch")({ role: RoleName }),
			success: { status: 200, description: "The member as changed.", schema: Member },
			problems: { conflict: LAST_OWNER },
			async handler({ params: { projectId, accountId }, body, byMember: by, audit, gone }) {
				const member = found("member", await storage.getMember({ projectId, accountId }));
				const result = await storage.setRole({ projectId, accountId, role: body.role, by });
				if (result === "not_allowed") return gone("project");
				if (result === "no_member") throw notFound("member");
				if (result === "last_owner") throw new Problem("conflict", LAST_OWNER);
				const detail = { from: member.role, to: body.role };
				audit({ projectId, action: "member.role_changed", target: targetOf(member), detail });
				return presentMember({ ...member, role: body.role });
			},
		}),
		route("DELETE", one, "removeMember", {
			summary: "Remove a member",
			description:
				"Owners may remove anyone, and members may leave. It applies from the next request on. Open invitations that the member created end.",
			role: "viewer",
			peopleOnly: true,
			success: { status: 204, description: "The member was removed." },
			problems: { conflict: LAST_OWNER, forbidden: OWNERS_REMOVE },
			async handler({ params: { projectId, accountId }, principal, audit, authorizeAgain }) {
				const isSelf = principal.kind === "person" && principal.account.id === accountId;
				const role = principal.kind === "person" ? await members.roleOf(projectId, principal.account) : "owner";
				if (!isSelf && role !== "owner") throw new Problem("forbidden", OWNERS_REMOVE);
				const member = found("member", await storage.getMember({ projectId, accountId }));
				const by = stillMember(principal, isSelf ? "viewer" : "owner");
				const result = await storage.removeMember({ projectId, accountId, by });
				if (result === "not_allowed") {
					await authorizeAgain();
					throw new Problem("forbidden", OWNERS_REMOVE);
				}
				if (result === "no_member") throw notFound("member");
				if (result === "last_owner") throw new Problem("conflict", LAST_OWNER);
				audit({ projectId, action: "member.removed", target: targetOf(member) });
			},
		}),
	];
}

const targetOf = ({ account }: port.Member) => ({ kind: "account", id: account.id, name: account.name });

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type ApiKey, apiKeysByQuery, revokeApiKey } from "../../api/api-keys.ts";
import { queryClient } from "../../api/client/query-client.ts";
import { changeRole, type Member, membersQuery, removeMember } from "../../api/members.ts";
import { useProject, useRole, useSession } from "../../api/session.ts";
import type { Role } from "../../lib/account/roles.ts";

/** The role with which members create keys. */
export const CREATES_KEYS = "developer";

interface AccessChange {
	member: Member;
	/** The role that they get, with which they can't create keys; null to remove them. */
	role: Role | null;
	/** Whether members do this to themselves. */
	self: boolean;
	/** The ids of their keys to revoke. */
	chosen: readonly string[];
}

/** The remaining steps once the member has changed. */
interface Left {
	readonly keys: readonly ApiKey[];
	/** Whether there may be others that were created too late to be shown. */
	readonly mayBeMore: boolean;
	/** The ids of the keys that were shown. */
	readonly shown: ReadonlySet<string>;
}

/**
 * Changes a member's access and revokes keys that they created: the chosen ones, and unless it is their own decision,
 * those created too late to be shown.
 *
 * The member comes first, because the API may refuse the change. If a key then can't be revoked, `left` has the
 * remaining ones, and `run` continues there. Members who give up their own right to revoke keys do that last, unless the
 * API is going to refuse it.
 */
export function useAccessChange({ member, role, self, chosen }: AccessChange) {
	const { id: projectId, apps } = useProject();
	const { account } = useSession();
	const { may } = useRole();
	// Without the app there are no pages or calls for keys.
	const offersKeys = apps.includes("developer") && may(CREATES_KEYS);
	const query = apiKeysByQuery(projectId, member.account_id);
	const keys = useQuery({ ...query, enabled: offersKeys });
	const [left, setLeft] = useState<Left | null>(null);
	const [revoked, setRevoked] = useState(0);

	const change = () =>
		role === null ? removeMember(projectId, member.account_id) : changeRole(projectId, member.account_id, role);
	const listKeys = () => queryClient.fetchQuery({ ...query, staleTime: 0 });
	const isChosen = ({ id }: ApiKey) => chosen.includes(id);
	/** Whether the API would refuse that the member isn't an owner any longer. */
	const isLastOwner = async () => {
		if (member.role !== "owner") return false;
		const members = await queryClient.fetchQuery({ ...membersQuery(projectId), staleTime: 0 });
		return !members.some((other) => other.role === "owner" && other.account_id !== member.account_id);
	};
	/** Resolves with the number of keys that were revoked. */
	const run = async (): Promise<number> => {
		let count = revoked;
		const revoke = async ({ id }: ApiKey) => {
			await revokeApiKey(projectId, id);
			setRevoked(++count);
		};
		const revokeLeft = async ({ keys: old, shown }: Omit<Left, "mayBeMore">) => {
			let rest: readonly ApiKey[] | null = null;
			try {
				// Someone else may have revoked some by now.
				rest = (await listKeys()).filter(({ id }) => old.some((key) => key.id === id) || !(self || shown.has(id)));
				for (const key of rest) {
					await revoke(key);
					rest = rest.filter((each) => each !== key);
				}
			} catch (error) {
				setLeft({ keys: rest ?? old, mayBeMore: rest === null && !self, shown });
				throw error;
			}
		};
		if (left !== null) {
			await revokeLeft(left);
		} else if (self && !account.operator && chosen.length > 0 && !(await isLastOwner())) {
			for (const key of (await listKeys()).filter(isChosen)) await revoke(key);
			await change();
		} else {
			await change();
			const shown = keys.data ?? [];
			// Members decide about their own keys.
			if (keys.data !== undefined && !(self && chosen.length === 0))
				await revokeLeft({ keys: shown.filter(isChosen), shown: new Set(shown.map(({ id }) => id)) });
		}
		return count;
	};
	return { keys, offersKeys, left, run, revoked };
}

import { Checkbox, Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type ApiKey, apiKeysByQuery, revokeApiKey } from "../../api/api-keys.ts";
import { queryClient } from "../../api/client/query-client.ts";
import { changeRole, type Member, removeMember } from "../../api/members.ts";
import { useProject, useRole } from "../../api/session.ts";
import { aRole, mayAct, ROLE_WORDS, type Role } from "../../lib/account/roles.ts";
import { lowerFirst } from "../../lib/text/case.ts";
import { isolated } from "../../lib/text/names.ts";
import { plural } from "../../lib/text/numbers.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { notifyProblem } from "../../ui/notify.tsx";
import { ErrorState } from "../../ui/page/states.tsx";
import { When } from "../../ui/when.tsx";

/** The role with which members create keys. */
const CREATES_KEYS = "developer";

/** Whether members lose the right to create keys with another role. */
export const losesKeys = (from: Role, to: Role) => mayAct(from, CREATES_KEYS) && !mayAct(to, CREATES_KEYS);

interface AccessDialogProps {
	member: Member;
	/** The role that they get, with which they can't create keys; null to remove them. */
	role: Role | null;
	/** Whether members do this to themselves. */
	self: boolean;
	onClose: () => void;
	/** Called once it is done, with the number of keys that were revoked. */
	onDone: (revoked: number) => unknown;
}

/**
 * Removes a member or their right to create keys, along with the keys they created that are chosen: keys outlive the
 * access of their creator. Keys that couldn't be chosen, because they were created too late to be shown, are revoked as
 * well.
 */
export function AccessDialog({ member, role, self, onClose, onDone }: AccessDialogProps) {
	const { id: projectId, name: projectName, apps } = useProject();
	const { may } = useRole();
	// Without the app there are no pages or calls for keys.
	const offersKeys = apps.includes("developer") && may(CREATES_KEYS);
	const keys = useQuery({ ...apiKeysByQuery(projectId, member.account_id), enabled: offersKeys });
	const [chosen, setChosen] = useState<string[]>([]);
	const run = async () => {
		const shown = new Set(keys.data?.map(({ id }) => id));
		// Keys first: if one of them fails, the dialog can be confirmed again.
		for (const id of chosen) {
			await revokeApiKey(projectId, id);
			setChosen((ids) => ids.filter((each) => each !== id));
		}
		await (role === null ? removeMember(projectId, member.account_id) : changeRole(projectId, member.account_id, role));
		const late = offersKeys && !self && keys.data !== undefined ? await revokeOthers(shown) : 0;
		await onDone(chosen.length + late);
	};
	/** Revokes keys that the member created while this was open, or shortly before. Returns how many. */
	const revokeOthers = async (shown: ReadonlySet<string>): Promise<number> => {
		try {
			const query = apiKeysByQuery(projectId, member.account_id);
			const others = (await queryClient.fetchQuery({ ...query, staleTime: 0 })).filter(({ id }) => !shown.has(id));
			for (const { id } of others) await revokeApiKey(projectId, id);
			return others.length;
		} catch (error) {
			notifyProblem(error);
			return 0;
		}
	};
	const name = isolated(member.name);
	const { title, verb, effect } =
		role !== null
			? {
					title: `Make ${self ? "yourself" : name} ${aRole(role)}?`,
					verb: `Make ${aRole(role)}`,
					effect: `${self ? "You" : name} ${lowerFirst(ROLE_WORDS[role].may)}`,
				}
			: self
				? {
						title: `Leave ${isolated(projectName)}?`,
						verb: "Leave",
						effect: "You lose access immediately. An owner can invite you again.",
					}
				: { title: `Remove ${name}?`, verb: "Remove", effect: `${name} loses access immediately.` };
	return (
		<Confirm
			opened
			onClose={onClose}
			title={title}
			action={chosen.length > 0 ? `${verb} and revoke ${plural(chosen.length, "key")}` : verb}
			danger
			ready={!offersKeys || !keys.isPending}
			onConfirm={run}
		>
			<Stack gap="sm">
				<div>{effect}</div>
				{offersKeys ? (
					<Keys of={self ? "you" : name} query={keys} chosen={chosen} onChoose={setChosen} />
				) : (
					<div>API keys keep working. {self ? "An owner" : "You"} can revoke them under API Keys.</div>
				)}
			</Stack>
		</Confirm>
	);
}

interface KeysProps {
	/** Who created them. */
	of: string;
	query: { readonly data: ApiKey[] | undefined; readonly error: unknown; readonly refetch: () => unknown };
	chosen: string[];
	onChoose: (ids: string[]) => void;
}

function Keys({ of, query: { data, error, refetch }, chosen, onChoose }: KeysProps) {
	if (error !== null && data === undefined) return <ErrorState error={error} onRetry={refetch} />;
	if (data === undefined) return <Skeleton height={60} />;
	if (data.length === 0)
		return <div>No API keys here were created by {of}. Keys that others created keep working.</div>;
	return (
		<Checkbox.Group
			label={`API keys that ${of} created`}
			description="They keep working unless you revoke them. Programs that use them are refused from then on."
			value={chosen}
			onChange={onChoose}
		>
			<Stack gap="xs" mt="xs">
				{data.map(({ id, name, prefix, last_used_at }) => (
					<Checkbox
						key={id}
						value={id}
						label={`Revoke ${isolated(name)}`}
						description={
							<Text span inherit>
								{prefix}…, {last_used_at === null ? "never used" : "last used "}
								{last_used_at === null ? null : <When at={last_used_at} />}
							</Text>
						}
					/>
				))}
			</Stack>
		</Checkbox.Group>
	);
}

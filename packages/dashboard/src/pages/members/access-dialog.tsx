import { Checkbox, List, Skeleton, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { ApiKey } from "../../api/api-keys.ts";
import type { Member } from "../../api/members.ts";
import { useProject } from "../../api/session.ts";
import { aRole, mayAct, ROLE_WORDS, type Role } from "../../lib/account/roles.ts";
import { lowerFirst } from "../../lib/text/case.ts";
import { isolated } from "../../lib/text/names.ts";
import { plural } from "../../lib/text/numbers.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { ErrorState } from "../../ui/page/states.tsx";
import { When } from "../../ui/when.tsx";
import { CREATES_KEYS, useAccessChange } from "./use-access-change.ts";

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
 * access of their creator. If keys can't be revoked, it stays open to try again.
 */
export function AccessDialog({ member, role, self, onClose, onDone }: AccessDialogProps) {
	const { name: projectName } = useProject();
	const [checked, setChecked] = useState<string[]>([]);
	const { keys, offersKeys, left, run, revoked } = useAccessChange({ member, role, self, chosen: checked });
	// Without those that are revoked by now.
	const chosen = checked.filter((id) => keys.data?.some((key) => key.id === id));
	const runAndTell = async () => onDone(await run());
	const name = isolated(member.name);
	if (left !== null) {
		const close = () => {
			onClose();
			void onDone(revoked);
		};
		const who = self ? "You" : name;
		const change =
			role === null
				? `${who} no longer ${self ? "have" : "has"} access`
				: `${who} ${self ? "are" : "is"} now ${aRole(role)}`;
		return (
			<Confirm
				opened
				onClose={close}
				title="Some API keys still work"
				action="Try again"
				cancel="Close"
				danger
				onConfirm={runAndTell}
			>
				<Left keys={left.keys} of={self ? "you" : "they"} change={change} mayBeMore={left.mayBeMore} />
			</Confirm>
		);
	}
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
			onConfirm={runAndTell}
		>
			<Stack gap="sm">
				<div>{effect}</div>
				{revoked === 0 ? null : <div>{plural(revoked, "key is", "keys are")} revoked already.</div>}
				{offersKeys ? (
					<Keys of={self ? "you" : name} query={keys} chosen={chosen} onChoose={setChecked} />
				) : (
					<div>API keys keep working. {self ? "An owner" : "You"} can revoke them under API Keys.</div>
				)}
			</Stack>
		</Confirm>
	);
}

interface LeftProps {
	keys: readonly ApiKey[];
	/** Who created them. */
	of: string;
	/** What was changed. */
	change: string;
	/** Whether there may be others that were created too late to be shown. */
	mayBeMore: boolean;
}

/** Says which keys still work after the change. */
function Left({ keys, of, change, mayBeMore }: LeftProps) {
	if (keys.length === 0)
		return (
			<div>
				{change}. API keys that {of} created moments ago may still work.
			</div>
		);
	return (
		<Stack gap="sm">
			<div>
				{change}, but {keys.length === 1 ? "an API key" : "API keys"} that {of} created still{" "}
				{keys.length === 1 ? "works" : "work"}:
			</div>
			<List size="sm">
				{keys.map(({ id, name, prefix }) => (
					<List.Item key={id}>
						{isolated(name)} ({prefix}…)
					</List.Item>
				))}
			</List>
			{mayBeMore ? <div>Others that {of} created moments ago may still work, too.</div> : null}
		</Stack>
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
			description="They keep working unless you revoke them here. Once a key is revoked, programs that use it are refused."
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

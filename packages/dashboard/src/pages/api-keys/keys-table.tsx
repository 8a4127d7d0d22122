import { Badge, Button, Group, Text } from "@mantine/core";
import { useState } from "react";
import { type ApiKey, revokeApiKey } from "../../api/api-keys.ts";
import { useProjectId, useRole } from "../../api/session.ts";
import { hasExpired, SCOPE_WORDS } from "../../lib/account/key-scopes.ts";
import { isolated } from "../../lib/text/names.ts";
import { timeUntilInWords } from "../../lib/text/time.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { useNow } from "../../ui/hooks/use-now.ts";
import { Code } from "../../ui/ident.tsx";
import { notifyDone, notifyUndone } from "../../ui/notify.tsx";
import { type Column, DataTable } from "../../ui/page/data-table.tsx";
import { When } from "../../ui/when.tsx";
import classes from "./keys-table.module.css";

const Never = () => (
	<Text span size="sm" c="dimmed">
		Never
	</Text>
);

function Expiry({ at }: { at: string }) {
	const now = useNow(Date.parse(at));
	return (
		<Group gap={6}>
			<When at={at} words={timeUntilInWords} />
			{hasExpired(at, now) ? <Badge color="red">Expired</Badge> : null}
		</Group>
	);
}

export function KeysTable({ keys }: { keys: readonly ApiKey[] | undefined }) {
	const projectId = useProjectId();
	const { may } = useRole();
	const [revoking, setRevoking] = useState<ApiKey | null>(null);
	const columns: readonly Column<ApiKey>[] = [
		{
			key: "name",
			header: "Name",
			render: ({ name, prefix }) => (
				<div>
					<Text size="sm" fw={600} className={classes.name}>
						{name}
					</Text>
					<span className={classes.prefix} title="How the key starts">
						<Code>{`${prefix}…`}</Code>
					</span>
				</div>
			),
		},
		{
			key: "scopes",
			header: "Scopes",
			render: ({ scopes }) => (
				<Group gap={4}>
					{scopes.map((scope) => (
						<Badge key={scope} color="gray" miw="max-content">
							{SCOPE_WORDS[scope].label}
						</Badge>
					))}
				</Group>
			),
		},
		{
			key: "created",
			header: "Created",
			render: ({ created_at, created_by }) => (
				<div>
					<When at={created_at} />
					{created_by === null ? null : (
						<Text size="xs" c="dimmed" className={classes.name}>
							by {created_by.kind === "operator_key" ? "the operator's key" : isolated(created_by.name)}
						</Text>
					)}
				</div>
			),
		},
		{
			key: "expires",
			header: "Expires",
			render: ({ expires_at: at }) => (at === null ? <Never /> : <Expiry at={at} />),
		},
		{
			key: "used",
			header: "Last used",
			render: ({ last_used_at: at }) => (at === null ? <Never /> : <When at={at} />),
		},
		{
			key: "actions",
			header: "",
			align: "right",
			width: 100,
			render: (key) => (
				<Button variant="default" size="compact-sm" aria-label={`Revoke ${key.name}`} onClick={() => setRevoking(key)}>
					Revoke
				</Button>
			),
		},
	];
	return (
		<>
			<DataTable
				label="API keys"
				columns={may("developer") ? columns : columns.filter(({ key }) => key !== "actions")}
				rows={keys}
				rowKey={({ id }) => id}
				skeletonRows={3}
				cards
			/>
			{revoking === null ? null : (
				<Confirm
					opened
					onClose={() => setRevoking(null)}
					title={`Revoke ${isolated(revoking.name)}?`}
					action="Revoke key"
					danger
					onConfirm={async () => {
						const name = isolated(revoking.name);
						if (await revokeApiKey(projectId, revoking.id)) notifyDone(`${name} is revoked.`);
						else notifyUndone(`${name} was already revoked.`);
					}}
				>
					Programs that use the key <Code>{`${revoking.prefix}…`}</Code> are refused immediately. This can't be undone.
				</Confirm>
			)}
		</>
	);
}

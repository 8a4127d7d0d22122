import { Button, Text } from "@mantine/core";
import { useState } from "react";
import { type ApiKey, revokeApiKey } from "../../api/api-keys.ts";
import { useProjectId } from "../../api/session.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { ForRole } from "../../ui/for-role.tsx";
import { Code } from "../../ui/ident.tsx";
import { notifyDone } from "../../ui/notify.tsx";
import { When } from "../../ui/when.tsx";

export function KeysTable({ keys }: { keys: readonly ApiKey[] | undefined }) {
	const projectId = useProjectId();
	const [revoking, setRevoking] = useState<ApiKey | null>(null);
	const columns: readonly Column<ApiKey>[] = [
		{
			key: "name",
			header: "Name",
			render: ({ name }) => (
				<Text span size="sm" fw={600}>
					{name}
				</Text>
			),
		},
		{ key: "prefix", header: "Starts with", render: ({ prefix }) => <Code>{`${prefix}…`}</Code> },
		{ key: "created", header: "Created", from: "sm", render: ({ created_at }) => <When at={created_at} /> },
		{
			key: "used",
			header: "Last used",
			render: ({ last_used_at }) =>
				last_used_at === null ? (
					<Text span size="sm" c="dimmed">
						Never
					</Text>
				) : (
					<When at={last_used_at} />
				),
		},
		{
			key: "actions",
			header: "",
			align: "right",
			width: 100,
			render: (key) => (
				<ForRole needs="developer">
					{(disabled) => (
						<Button
							variant="default"
							size="compact-sm"
							disabled={disabled}
							aria-label={`Revoke ${key.name}`}
							onClick={() => setRevoking(key)}
						>
							Revoke
						</Button>
					)}
				</ForRole>
			),
		},
	];
	return (
		<>
			<DataTable label="API keys" columns={columns} rows={keys} rowKey={({ id }) => id} skeletonRows={3} cards />
			{revoking === null ? null : (
				<Confirm
					opened
					onClose={() => setRevoking(null)}
					title={`Revoke ${revoking.name}?`}
					action="Revoke key"
					danger
					onConfirm={async () => {
						await revokeApiKey(projectId, revoking.id);
						notifyDone(`${revoking.name} is revoked.`);
					}}
				>
					Programs that use the key <Code>{`${revoking.prefix}…`}</Code> are refused immediately. This can't be undone.
				</Confirm>
			)}
		</>
	);
}

import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconKey, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { apiKeysQuery } from "../../api/api-keys.ts";
import { useProjectId } from "../../api/session.ts";
import { hasExpired } from "../../lib/account/key-scopes.ts";
import { plural } from "../../lib/text/numbers.ts";
import { ForRole, RoleNote } from "../../ui/account/for-role.tsx";
import { useNow } from "../../ui/hooks/use-now.ts";
import { Page, PageHeader, Section } from "../../ui/page/page.tsx";
import { EmptyState, ErrorState } from "../../ui/page/states.tsx";
import { KeysTable } from "./keys-table.tsx";
import { NewKeyDialog } from "./new-key-dialog.tsx";

/** The keys with which programs use the API. */
export function ApiKeysPage() {
	const projectId = useProjectId();
	const { data: keys, error, refetch } = useQuery(apiKeysQuery(projectId));
	const [creating, create] = useDisclosure(false);
	const now = useNow(0);
	const newKey = (
		<ForRole needs="developer">
			<Button leftSection={<IconPlus size={16} aria-hidden />} onClick={create.open}>
				New key
			</Button>
		</ForRole>
	);
	const valid = keys?.filter(({ expires_at }) => expires_at === null || !hasExpired(expires_at, now)).length ?? 0;
	return (
		<Page>
			<PageHeader title="API Keys" actions={keys?.length === 0 ? null : newKey}>
				{valid > 0 ? `${plural(valid, "key")} can use the API. ` : ""}A key works in this project only, within its
				scopes.
				<RoleNote needs="developer">create and revoke keys</RoleNote>
			</PageHeader>
			{error !== null && keys === undefined ? <ErrorState error={error} onRetry={refetch} /> : null}
			{keys?.length === 0 ? (
				<EmptyState title="No keys yet" icon={<IconKey size={26} />} action={newKey}>
					Your store's server needs one to publish events. Create a key for each program, so that you can revoke each
					one separately.
				</EmptyState>
			) : error === null || keys !== undefined ? (
				<Section flush>
					<KeysTable keys={keys} />
				</Section>
			) : null}
			<NewKeyDialog opened={creating} onClose={create.close} />
		</Page>
	);
}

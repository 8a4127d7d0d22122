import { Text } from "@mantine/core";
import type { ReactNode } from "react";
import { useRole } from "../../api/session.ts";
import type { Role } from "../../lib/account/roles.ts";

interface ForRoleProps {
	needs: Role;
	children: ReactNode;
}

/** Only for users with this role. A `RoleNote` on the page tells others who may. */
export function ForRole({ needs, children }: ForRoleProps) {
	const { may } = useRole();
	return may(needs) ? children : null;
}

const WHO: Readonly<Record<Role, string>> = {
	viewer: "members",
	developer: "developers and owners",
	owner: "owners",
};

/** For users without this role: who can do what the page would otherwise offer, such as "create webhooks". */
export function RoleNote({ needs, children }: ForRoleProps) {
	const { may } = useRole();
	if (may(needs)) return null;
	return (
		<Text size="sm" c="dimmed" mt={2}>
			Only the project's {WHO[needs]} can {children}.
		</Text>
	);
}

import { Tooltip } from "@mantine/core";
import type { ReactElement } from "react";
import { useRole } from "../../api/session.ts";
import { ROLE_WORDS, type Role } from "../../lib/account/roles.ts";

interface ForRoleProps {
	needs: Role;
	/** Renders the control; disabled for users who may not use it. */
	children: (disabled: boolean) => ReactElement;
}

/** A control that needs a role: for users without it, it is disabled, with the reason on hover and focus. */
export function ForRole({ needs, children }: ForRoleProps) {
	const { may } = useRole();
	if (may(needs)) return children(false);
	return (
		<Tooltip
			label={`Only for ${ROLE_WORDS[needs].label.toLowerCase()}s${needs === "owner" ? "" : " and owners"} of the project`}
		>
			<span>{children(true)}</span>
		</Tooltip>
	);
}

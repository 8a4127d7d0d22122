import { IconApps } from "@tabler/icons-react";
import { Outlet } from "@tanstack/react-router";
import { useProject } from "../api/session.ts";
import { ButtonLink } from "../ui/links.tsx";
import { Page, PageHeader } from "../ui/page/page.tsx";
import { EmptyState } from "../ui/page/states.tsx";

/** The pages of the Developer app; without it, a page that says what it is and where to install it. */
export function DeveloperGate() {
	const { id, apps } = useProject();
	if (apps.includes("developer")) return <Outlet />;
	return (
		<Page>
			<PageHeader title="Developer" />
			<EmptyState
				title="The Developer app is not installed"
				icon={<IconApps size={26} />}
				action={
					<ButtonLink to="/p/$projectId/apps" params={{ projectId: id }}>
						Go to Apps
					</ButtonLink>
				}
			>
				It adds webhooks, API keys and logs. An owner of the project can install it.
			</EmptyState>
		</Page>
	);
}

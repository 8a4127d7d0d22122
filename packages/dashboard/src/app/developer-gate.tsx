import { Button } from "@mantine/core";
import { IconApps } from "@tabler/icons-react";
import { Link, Outlet } from "@tanstack/react-router";
import { useProject } from "../api/session.ts";
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
					<Button component={Link} to={`/p/${id}/apps`}>
						Go to Apps
					</Button>
				}
			>
				It adds webhooks, API keys and logs. An owner of the project can install it.
			</EmptyState>
		</Page>
	);
}

import { useProject } from "../../api/session.ts";
import { isolated } from "../../lib/text/names.ts";
import { RoleNote } from "../../ui/account/for-role.tsx";
import { Page, PageHeader } from "../../ui/page/page.tsx";
import { FirstHour } from "./first-hour.tsx";
import { ProjectOverview } from "./project-overview.tsx";

const NOTHING = { install: false, webhook: false, event: false, delivery: false };

/** Whether the project's webhooks work; without the Developer app, how to get some. */
export function OverviewPage() {
	const { id, name, apps } = useProject();
	if (apps.includes("developer")) return <ProjectOverview projectId={id} name={name} />;
	return (
		<Page>
			<PageHeader title={name}>
				{isolated(name)} can send its events to other systems, such as orders to accounting or refunds to a chat. The
				Developer app has everything you need for that.
				<RoleNote needs="owner">install it</RoleNote>
			</PageHeader>
			<FirstHour projectId={id} done={NOTHING} firstWebhookId={null} />
		</Page>
	);
}

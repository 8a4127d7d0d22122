import { useProject } from "../../api/session.ts";
import { RoleNote } from "../../ui/account/for-role.tsx";
import { Page, PageHeader } from "../../ui/page/page.tsx";
import { DeveloperCard } from "./developer-card.tsx";

/** What can be added to the project. */
export function AppsPage() {
	const installed = useProject().apps.includes("developer");
	return (
		<Page narrow>
			<PageHeader title="Apps">
				{installed
					? "Developer is installed. Its pages are in the menu."
					: "An app adds pages and features to the project. Nothing is sent until Developer is installed."}
				<RoleNote needs="owner">install and remove apps</RoleNote>
			</PageHeader>
			<DeveloperCard />
		</Page>
	);
}

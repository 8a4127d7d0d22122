import { useSession } from "../../api/session.ts";
import { Section } from "../../ui/page/page.tsx";
import { ProjectsTable } from "./projects-table.tsx";

/** The projects that the user is a member of. */
export function OwnProjects() {
	const { projects } = useSession();
	return (
		<Section flush>
			<ProjectsTable rows={projects} />
		</Section>
	);
}

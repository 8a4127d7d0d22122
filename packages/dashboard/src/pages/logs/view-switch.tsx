import { SegmentedControl } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useProjectId } from "../../api/session.ts";
import { type LogsSearch, sharedFilters, viewOf } from "./search.ts";

const VIEWS = [
	{ value: "deliveries", label: "Deliveries" },
	{ value: "attempts", label: "Attempts" },
];

/** Switches between deliveries and attempts. Filters that both have stay. */
export function ViewSwitch({ search }: { search: LogsSearch }) {
	const projectId = useProjectId();
	const navigate = useNavigate();
	return (
		<SegmentedControl
			aria-label="Show"
			size="xs"
			data={VIEWS}
			value={viewOf(search)}
			onChange={(next) => {
				const shared = sharedFilters(search);
				void navigate({
					to: "/p/$projectId/logs",
					params: { projectId },
					search: next === "attempts" ? { ...shared, view: "attempts" } : shared,
					resetScroll: false,
				});
			}}
		/>
	);
}

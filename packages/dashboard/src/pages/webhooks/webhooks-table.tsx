import { useNavigate, useRouter } from "@tanstack/react-router";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { HealthState } from "../../ui/outcome.tsx";
import { OutcomeBars } from "../../ui/outcome-bars.tsx";
import { DayCell, NameCell, ResponseCell, WaitingCell, type WebhookRow } from "./webhook-cells.tsx";

interface WebhooksTableProps {
	projectId: string;
	/** Undefined while they load. */
	rows: readonly WebhookRow[] | undefined;
}

const columns = (projectId: string): readonly Column<WebhookRow>[] => [
	{
		key: "state",
		header: "State",
		render: ({ webhook, health }) => (
			<HealthState state={webhook.status === "paused" ? "paused" : (health?.state ?? "idle")} />
		),
		width: 120,
	},
	{ key: "webhook", header: "Webhook", render: ({ webhook }) => <NameCell webhook={webhook} projectId={projectId} /> },
	{
		key: "day",
		header: "Last 24 hours",
		render: ({ health }) => (health === undefined ? null : <OutcomeBars hours={health.hours} />),
		width: 170,
	},
	{
		key: "success",
		header: "Success",
		render: ({ health }) => <DayCell health={health} />,
		align: "right",
		width: 110,
	},
	{ key: "waiting", header: "Waiting", render: (row) => <WaitingCell {...row} />, width: 120 },
	{ key: "answer", header: "Last response", render: ({ health }) => <ResponseCell health={health} />, width: 140 },
];

/** Webhooks as a table, for wide screens. */
export function WebhooksTable({ projectId, rows }: WebhooksTableProps) {
	const navigate = useNavigate();
	const router = useRouter();
	const placeOf = ({ webhook }: WebhookRow) => ({
		to: "/p/$projectId/webhooks/$webhookId" as const,
		params: { projectId, webhookId: webhook.id },
		search: {},
	});
	return (
		<DataTable
			label="Webhooks"
			columns={columns(projectId)}
			rows={rows}
			rowKey={({ webhook }) => webhook.id}
			skeletonRows={3}
			minWidth={860}
			onOpen={(row) => void navigate(placeOf(row))}
			hrefOf={(row) => router.buildLocation(placeOf(row)).href}
		/>
	);
}

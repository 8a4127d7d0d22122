import { useNavigate, useRouter } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { lacksSecret } from "../../lib/health/health-facts.ts";
import { HealthState } from "../../ui/deliveries/outcome.tsx";
import { type Column, DataTable } from "../../ui/page/data-table.tsx";
import { stateOf } from "./find-webhooks.ts";
import { HoursContext, type Sight, useHours } from "./use-hours.ts";
import {
	DayCell,
	EventsCell,
	HoursCell,
	NameCell,
	ResponseCell,
	WaitingCell,
	type WebhookRow,
} from "./webhook-cells.tsx";

interface WebhooksTableProps {
	projectId: string;
	/** Undefined while they load. */
	rows: readonly WebhookRow[] | undefined;
}

const columnsOf = (projectId: string): readonly Column<WebhookRow>[] => [
	{
		key: "state",
		header: "State",
		render: (row) => <HealthState state={stateOf(row)} lacksSecret={lacksSecret(row.webhook)} />,
		width: 148,
	},
	{
		key: "webhook",
		header: "Webhook",
		render: ({ webhook }) => <NameCell webhook={webhook} projectId={projectId} inRow />,
	},
	{ key: "events", header: "Events", render: ({ webhook }) => <EventsCell webhook={webhook} />, width: 78 },
	{
		key: "day",
		header: "Last 24 hours",
		render: (row) => <HoursCell {...row} />,
		width: 158,
		from: "lg",
	},
	{
		key: "success",
		header: "Success",
		render: ({ health }) => <DayCell health={health} />,
		align: "right",
		width: 112,
	},
	{ key: "waiting", header: "Waiting", render: (row) => <WaitingCell {...row} />, width: 108 },
	{ key: "response", header: "Last response", render: ({ health }) => <ResponseCell health={health} />, width: 138 },
];

/** In pixels; a row has two lines. */
const ROW_HEIGHT = 62;
const keyOf = ({ webhook }: WebhookRow) => webhook.id;

/** Webhooks as a table, for wide screens. */
export function WebhooksTable({ projectId, rows }: WebhooksTableProps) {
	const navigate = useNavigate();
	const router = useRouter();
	const columns = useMemo(() => columnsOf(projectId), [projectId]);
	const placeOf = ({ webhook }: WebhookRow) => ({
		to: "/p/$projectId/webhooks/$webhookId" as const,
		params: { projectId, webhookId: webhook.id },
		search: {},
	});
	const [sight, setSight] = useState<Sight>({ first: 0, last: 0 });
	const hours = useHours(projectId, rows, sight);
	return (
		<HoursContext value={hours}>
			<DataTable
				label="Webhooks"
				columns={columns}
				rows={rows}
				rowKey={keyOf}
				skeletonRows={3}
				uniform
				rowHeight={ROW_HEIGHT}
				dense
				minWidth={700}
				onOpen={(row) => void navigate(placeOf(row))}
				hrefOf={(row) => router.buildLocation(placeOf(row)).href}
				onSight={setSight}
			/>
		</HoursContext>
	);
}

import { Box, Text } from "@mantine/core";
import { DEFAULT_BRAND } from "@posthorn/protocol";
import { useQuery } from "@tanstack/react-query";
import { brandQuery, eventTypesQuery } from "../../api/event-types.ts";
import { useProjectId, useSession } from "../../api/session.ts";
import { retryRule } from "../../lib/attempts/track.ts";
import { serverNow } from "../../lib/text/server-time.ts";
import { usableUrl } from "./fields/webhook-faults.ts";
import classes from "./request-preview.module.css";

/** What a receiver gets: a sample request with the sample of an event type. */
export function RequestPreview({ url, type, standard }: { url: string; type: string; standard: boolean }) {
	const projectId = useProjectId();
	const { data: entries } = useQuery(eventTypesQuery);
	const { data: brand = DEFAULT_BRAND } = useQuery(brandQuery);
	const sample = entries?.find((entry) => entry.type === type)?.sample ?? {};
	const now = serverNow();
	const event = { id: "evt_…", type, created_at: new Date(now).toISOString(), project_id: projectId, data: sample };
	const timestamp = String(Math.floor(now / 1_000));
	const headers = [
		["Content-Type", "application/json"],
		["User-Agent", `${brand}-Webhooks/1.0`],
		[`X-${brand}-Event`, type],
		[`X-${brand}-Event-Id`, "evt_…"],
		[`X-${brand}-Signature`, "64 hexadecimal digits"],
		[`X-${brand}-Timestamp`, timestamp],
		...(standard
			? [
					["webhook-id", "evt_…"],
					["webhook-timestamp", timestamp],
					["webhook-signature", "v1,44 characters of base64"],
				]
			: []),
	];
	return (
		<div className={classes.frame}>
			<div className={classes.line}>
				<span className={classes.method}>POST</span>
				<span>{usableUrl(url)?.href ?? "https://…"}</span>
			</div>
			<Box component="pre" className={classes.text} tabIndex={0} aria-label={`Sample request of ${type}`}>
				{headers.map(([name, value]) => (
					<span key={name}>
						<span className={classes.header}>{name}: </span>
						{value}
						{"\n"}
					</span>
				))}
				{"\n"}
				{JSON.stringify(event, null, 2)}
			</Box>
		</div>
	);
}

/** What the receiver has to do. */
export function ResponseRules() {
	const plan = useSession();
	return (
		<Text size="sm" c="dimmed">
			Respond with 2xx once the event is handled, or stored for later. Anything else is {retryRule(plan)}. The same
			event may arrive twice; its id is the same.
		</Text>
	);
}

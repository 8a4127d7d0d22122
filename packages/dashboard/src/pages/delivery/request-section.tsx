import { Group, Text, Title } from "@mantine/core";
import { IconTerminal2 } from "@tabler/icons-react";
import type { Attempt } from "../../api/attempts.ts";
import { wasSent } from "../../lib/attempts/attempt-words.ts";
import { curlCommand, signatureWords } from "../../lib/attempts/curl.ts";
import { inertText } from "../../lib/text/inert-text.ts";
import { Copy, CopyButton } from "../../ui/copy.tsx";
import { useNow } from "../../ui/hooks/use-now.ts";
import { requestOf } from "../logs/actions/copy-curl.ts";
import { BodyView } from "./body-view.tsx";
import classes from "./delivery.module.css";
import { HeadersTable } from "./headers-table.tsx";

/** The exact request. */
export function RequestSection({ attempt }: { attempt: Attempt }) {
	const request = requestOf(attempt);
	const now = useNow(Date.parse(attempt.started_at));
	return (
		<section aria-labelledby="request">
			<Group justify="space-between" gap="xs" mb="sm">
				<Title order={3} size="h5" id="request">
					Request
				</Title>
				{request === null ? null : (
					<CopyButton size="compact-sm" text={() => curlCommand(request)} label="Copy as curl" Icon={IconTerminal2} />
				)}
			</Group>
			{request === null ? (
				<Text size="sm" c="dimmed" mb="sm">
					Nothing was sent: {wasSent(attempt) ? "no connection was established" : "the delivery was closed first"}. This
					would have gone to <span className={classes.url}>{inertText(attempt.url)}</span>.
				</Text>
			) : (
				<>
					<p className={classes.line}>
						<strong>{request.method}</strong> <span className={classes.url}>{inertText(request.url)}</span>
						<Copy text={request.url} label="Copy URL" size="xs" />
					</p>
					<Text size="xs" c="dimmed" mb="sm">
						The curl command is the complete request, including its signature. {signatureWords(request, now)} A replay
						has a new signature.
					</Text>
					<HeadersTable headers={request.headers} label="Request headers" />
				</>
			)}
			<BodyView body={attempt.request_body} label="request body" />
		</section>
	);
}

import { Text, Title } from "@mantine/core";
import { certificateFields, dnsText } from "@posthorn/protocol";
import type { Attempt } from "../../api/attempts.ts";
import { explanation, statusText } from "../../lib/attempts/attempt-words.ts";
import { formatMs } from "../../lib/text/numbers.ts";
import { BodyView } from "./body-view.tsx";
import classes from "./delivery.module.css";
import { HeadersTable } from "./headers-table.tsx";

/** The response, or why there was none. A receiver's bytes are untrusted, so they are only shown as text. */
export function ResponseSection({ attempt }: { attempt: Attempt }) {
	return (
		<section aria-labelledby="response">
			<Title order={3} size="h5" id="response" mb="sm">
				Response
			</Title>
			{attempt.status_code === null ? (
				<NoResponse attempt={attempt} />
			) : (
				<Received attempt={attempt} status={attempt.status_code} />
			)}
		</section>
	);
}

function NoResponse({ attempt }: { attempt: Attempt }) {
	const { dns, certificate } = attempt;
	return (
		<>
			<Text size="sm">{explanation(attempt)}</Text>
			{dns === null ? null : (
				<Text size="sm" mt={6}>
					{dnsText(dns)}
				</Text>
			)}
			{certificate === null ? null : (
				<>
					<Text size="sm" mt={10} mb={6}>
						The certificate that the receiver presented:
					</Text>
					<HeadersTable headers={certificateFields(certificate)} label="Certificate" />
				</>
			)}
		</>
	);
}

function Received({ attempt, status }: { attempt: Attempt; status: number }) {
	const { response_ms, response_body, response_headers, response_truncated } = attempt;
	const isAccepted = status >= 200 && status < 300;
	return (
		<>
			<p className={classes.line}>
				<strong>{statusText(status)}</strong> after {formatMs(response_ms)}
			</p>
			{Object.keys(response_headers).length === 0 ? null : (
				<HeadersTable headers={response_headers} label="Response headers" />
			)}
			{response_body === "" ? (
				<Text size="sm" c="dimmed">
					{response_truncated ? "None of its body arrived in time." : "It had no body."}
				</Text>
			) : (
				<BodyView body={response_body} label="response body" />
			)}
			<Text size="xs" c="dimmed" mt={8}>
				{response_truncated && response_body !== ""
					? "The rest of the body was beyond the first 1,024 bytes, or didn't arrive. "
					: ""}
				{isAccepted
					? "Headers of accepted requests aren't stored."
					: "Only headers that help to explain a failure are stored."}
			</Text>
		</>
	);
}

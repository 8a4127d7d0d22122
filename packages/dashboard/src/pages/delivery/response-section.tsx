import { Text, Title } from "@mantine/core";
import type { Attempt } from "../../api/attempts.ts";
import { statusText } from "../../lib/attempt-words.ts";
import { formatMs } from "../../lib/numbers.ts";
import { BodyView } from "./body-view.tsx";
import classes from "./delivery.module.css";

/** The response. Its body is untrusted, so it is only shown as text. */
export function ResponseSection({ attempt }: { attempt: Attempt }) {
	const { status_code, error, response_ms, response_body, response_truncated } = attempt;
	return (
		<section aria-labelledby="response">
			<Title order={3} size="h5" id="response" mb="sm">
				Response
			</Title>
			{status_code === null ? (
				<Text size="sm">{error ?? "There was no response."}</Text>
			) : (
				<>
					<p className={classes.line}>
						<strong>{statusText(status_code)}</strong> after {formatMs(response_ms)}
					</p>
					{response_body === "" ? (
						<Text size="sm" c="dimmed">
							{response_truncated ? "None of its body arrived in time." : "It had no body."}
						</Text>
					) : (
						<BodyView body={response_body} label="response body" />
					)}
					<Text size="xs" c="dimmed" mt={8}>
						{response_truncated && response_body !== "" ? "Only the first 1,024 bytes of the body are stored. " : ""}
						Response headers aren't stored.
					</Text>
				</>
			)}
		</section>
	);
}

/** `posthorn logs get`: an attempt in full. */
import { type Certificate, certificateFields, dnsText } from "@posthorn/protocol";
import { colors } from "../../colors.ts";
import { CommandError, UsageError } from "../../command-error.ts";
import { type ConnectionOptions, connect } from "../connection.ts";
import { checkArgument, checkIds } from "../ids.ts";
import { ago, clean, cleanLines, colored, note, printFields, printJson } from "../output.ts";
import { type Attempt, attempts, type Reading } from "./attempts.ts";
import { MARKS, seriesOf } from "./rows.ts";

/** One attempt in full, or an event's newest one: the request, the response, and what follows. */
export async function getLog(id: string, options: ConnectionOptions & { readonly webhook?: string }): Promise<void> {
	const { webhook } = options;
	checkArgument(id, "attempt", "event");
	checkIds({ webhook });
	if (webhook !== undefined && !id.startsWith("evt_"))
		throw new UsageError(["--webhook needs an event, evt_…: an attempt belongs to one webhook anyway."]);
	const connection = await connect(options);
	const { client, project } = connection;
	const attemptId = id.startsWith("evt_") ? await newestOf(connection, id, webhook) : id;
	const { data } = await client.api.GET("/v1/projects/{project_id}/attempts/{attempt_id}", {
		params: { path: { project_id: project, attempt_id: attemptId } },
	});
	const attempt = data!;
	if (options.json) return printJson(attempt);
	const { status, status_code, error, response_ms, request_headers, response_body } = attempt;
	const result = status === "retrying" ? await retryOf(connection, attempt) : status;
	printFields([
		["Attempt", `${attempt.id}  ${colors.dim(seriesOf(attempt))}`],
		["Result", `${MARKS[status]} ${result}`],
		["Event", `${clean(attempt.event_id)}  ${attempt.event_type}${attempt.test ? "  (test event)" : ""}`],
		["Webhook", attempt.webhook_id],
		["Started", `${attempt.started_at}  ${colors.dim(ago(attempt.started_at))}`],
		["URL", clean(attempt.url)],
		["Response", `${status_code === null ? colors.red("none") : colored(status_code)}  ${response_ms} ms`],
		...(error === null ? [] : [["Error", `${clean(error)}  ${colors.dim(attempt.error_code ?? "")}`] as const]),
		...(attempt.dns === null ? [] : [["DNS", dnsText(attempt.dns)] as const]),
	]);
	if (attempt.certificate !== null) showCertificate(attempt.certificate);
	const isUnsent = Object.keys(request_headers).length === 0;
	console.log(`\n${colors.bold("Request")}${isUnsent ? colors.dim("  nothing was sent") : ""}`);
	showHeaders(request_headers);
	console.log(`\n${cleanLines(attempt.request_body)}`);
	if (status_code === null) return;
	if (Object.keys(attempt.response_headers).length > 0) {
		console.log(`\n${colors.bold("Response headers")}${colors.dim("  those that help to explain a failure")}`);
		showHeaders(attempt.response_headers);
	}
	const cut = attempt.response_truncated
		? colors.dim("  incomplete: the rest was beyond the first 1,024 bytes, or didn't arrive")
		: "";
	console.log(`\n${colors.bold("Response body")}${cut}`);
	console.log(response_body === "" ? colors.dim("empty") : cleanLines(response_body));
}

/** The result of an attempt with a retry: the newest attempt since, or when the retry is due. */
async function retryOf(
	reading: Reading,
	{ id, event_id, webhook_id, next_retry_at }: Pick<Attempt, "id" | "event_id" | "webhook_id" | "next_retry_at">,
): Promise<string> {
	const [last] = (await attempts(reading, { event_id, webhook_id: [webhook_id], limit: 1 })).data;
	if (last !== undefined && last.id !== id)
		return `retried; the newest attempt is ${last.id} (${seriesOf(last)}, ${last.status})`;
	if (next_retry_at === null) return "retrying";
	return `retrying, next attempt ${Date.parse(next_retry_at) > Date.now() ? "" : "due "}${ago(next_retry_at)}`;
}

function showHeaders(headers: Readonly<Record<string, string>>): void {
	for (const [name, value] of Object.entries(headers)) console.log(`${colors.dim(`${clean(name)}:`)} ${clean(value)}`);
}

function showCertificate(certificate: Certificate): void {
	console.log(`\n${colors.bold("Certificate")}${colors.dim("  rejected")}`);
	printFields(Object.entries(certificateFields(certificate)).map(([name, value]) => [name, clean(value)]));
}

async function newestOf(reading: Reading, eventId: string, webhook?: string): Promise<string> {
	const filter = { event_id: eventId, ...(webhook !== undefined && { webhook_id: [webhook] }) };
	const [attempt] = (await attempts(reading, { ...filter, limit: 1 })).data;
	const where = webhook === undefined ? "" : ` for ${webhook}`;
	if (attempt === undefined)
		throw new CommandError([`There is no attempt of ${eventId}${where} in the delivery log.`], 1);
	const { id } = attempt;
	note(`This is its newest attempt${where}. All of them: posthorn logs list --event ${eventId}`);
	return id;
}

/** `posthorn replay`: sends finished deliveries again, after showing what it would send. */
import { UsageError } from "../command-error.ts";
import { confirm } from "./confirm.ts";
import { type ConnectionOptions, connect } from "./connection.ts";
import { parseSpan, spanStart } from "./listen/listen-position.ts";
import { deliveries, printJson } from "./output.ts";
import { type SelectionOptions, selectionOf } from "./selection.ts";

export interface ReplayOptions extends ConnectionOptions, SelectionOptions {
	readonly until?: string;
	readonly dryRun?: boolean;
	readonly yes?: boolean;
	/** A receiver on this machine, instead of the webhooks. */
	readonly to?: string;
	readonly allowRemote?: boolean;
}

type Status = "delivered" | "failed";

export async function replay(options: ReplayOptions): Promise<void> {
	if (options.to !== undefined) return (await import("./listen/replay-here.ts")).replayHere(options.to, options);
	if (options.allowRemote)
		throw new UsageError(["--allow-remote is for --to: without it, the service sends to the project's webhooks."]);
	const { webhook, status = "failed", event, since, until } = options;
	if (since !== undefined && until !== undefined && parseSpan(since) <= parseSpan(until, "--until"))
		throw new UsageError([`--since ${since} must be longer ago than --until ${until}.`]);
	if (status !== "failed" && status !== "delivered" && status !== "any")
		throw new UsageError([`--status is "${status}"; it must be failed (the default), delivered or any.`]);
	const selection = selectionOf(options);
	const filter = {
		...selection,
		...(status !== "any" && { status: status as Status }),
		...(until !== undefined && { until: spanStart(until, "--until") }),
	};
	const { client, project } = await connect(options);
	const path = { project_id: project };

	/** All steps of a replay, or of counting it. */
	async function run(dryRun: boolean): Promise<number> {
		let count = 0;
		let step: { cursor?: string; before?: string } = {};
		for (;;) {
			const { data } = await client.api.POST("/v1/projects/{project_id}/replays", {
				params: { path },
				body: { filter, ...step, ...(dryRun && { dry_run: true }) },
			});
			const {
				count: some,
				next_cursor,
				before,
			} = data as { count: number; next_cursor?: string | null; before?: string };
			count += some;
			if (!next_cursor) return count;
			step = { cursor: next_cursor, ...(before !== undefined && { before }) };
		}
	}

	const count = await run(true);
	if (count === 0 || options.dryRun) return tell(count, false);
	const which = [webhook, selection.type?.join(", "), event, since && `since ${since} ago`].filter(Boolean).join(", ");
	const kind = status === "any" ? "finished" : status;
	const question = `Send ${deliveries(count)} again (${kind}${which && `; ${which}`})? Receivers get the same event ids; those that skip duplicates won't handle an event twice.`;
	await confirm(question, options.yes, "sent");
	tell(await run(false), true);

	function tell(matching: number, isReplayed: boolean): void {
		if (options.json) printJson({ count: matching, replayed: isReplayed });
		else if (matching === 0) console.log(noneText(status));
		else if (isReplayed) console.log(`Sending ${deliveries(matching)} again. posthorn logs tail shows the attempts.`);
		else console.log(`${deliveries(matching)} would be sent again.`);
	}
}

/** A delivery that someone looks for may be of another state. */
function noneText(status: string): string {
	const kind = status === "any" ? "finished" : status;
	const others = status === "failed" ? " --status delivered replays those that arrived." : "";
	const dismissed = status === "delivered" ? "" : " The dashboard replays dismissed ones, one by one.";
	return `No ${kind} delivery matches. Those that wait for a retry are sent without a replay; posthorn retry sends them now.${others}${dismissed}`;
}

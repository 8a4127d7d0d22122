/** `posthorn events`: reads a project's log. */
import type { LogEvent } from "@posthorn/client";
import { colors } from "../colors.ts";
import { type ConnectionOptions, connect } from "./connection.ts";
import { parseTypes } from "./event-types.ts";
import { parseExactly } from "./exact-json.ts";
import { checkArgument } from "./ids.ts";
import { parseLimit } from "./limit.ts";
import { parseSpan, positionSince } from "./listen/listen-position.ts";
import {
	ago,
	clean,
	cleanLines,
	cut,
	jsonLine,
	note,
	printFields,
	printTable,
	terminalWidth,
	widthsOf,
} from "./output.ts";

export interface EventListOptions extends ConnectionOptions {
	readonly type?: readonly string[];
	readonly since?: string;
	readonly limit?: string;
}

const PAGE = 200;
/** Characters of an event's data: as many as fit into the terminal. */
const SUMMARY_WIDTH = { least: 10, most: 60 };

/** The newest events, oldest of them first. */
export async function listEvents(options: EventListOptions): Promise<void> {
	const limit = parseLimit(options.limit ?? "20");
	const types = options.type && parseTypes(options.type);
	const since = options.since === undefined ? null : Date.now() - parseSpan(options.since);
	const { client } = await connect(options);
	const end = await client.end();
	let position = since === null ? null : await positionSince(client, since);
	// Without a filter, the numbers of the newest events are known.
	position ??= { ...end, after: types ? 0 : Math.max(0, end.after - limit) };
	const events: LogEvent[] = [];
	for (;;) {
		const page = await client.read(position, { limit: PAGE, ...(types && { types }) });
		events.push(...page.events);
		if (events.length > limit) events.splice(0, events.length - limit);
		if (page.events.length === 0 || page.position.after >= end.after) break;
		({ position } = page);
	}
	if (options.json) {
		for (const event of events) console.log(jsonLine(event.raw));
		return;
	}
	if (events.length === 0) return note("There are no such events.");
	const headings = ["WHEN", "TYPE", "ID"];
	const rows = events.map(({ created_at, type, id }) => [ago(created_at), clean(type), clean(id)]);
	const before = widthsOf(headings, rows).reduce((sum, width) => sum + width + 2, 0);
	const left = terminalWidth() - before;
	const width = Math.min(SUMMARY_WIDTH.most, Math.max(SUMMARY_WIDTH.least, left));
	printTable(
		[...headings, "DATA"],
		rows.map((row, i) => [...row, colors.dim(cut(clean(JSON.stringify(dataOf(events[i]!))), width))]),
	);
}

export async function getEvent(id: string, options: ConnectionOptions): Promise<void> {
	checkArgument(id, "event");
	const { client } = await connect(options);
	const { event, seq } = await client.get(id);
	// The bytes that were sent, for another program.
	if (options.json) return void process.stdout.write(`${process.stdout.isTTY ? jsonLine(event.raw) : event.raw}\n`);
	printFields([
		["Id", event.id],
		["Type", event.type],
		["Created", `${event.created_at}  ${colors.dim(ago(event.created_at))}`],
		["Number", seq > 0 ? `${seq} in the log` : "none: a test event"],
	]);
	// JSON escapes what could drive the terminal, apart from C1 controls and marks of direction.
	console.log(cleanLines(JSON.stringify(dataOf(event), null, 2)));
}

/** An event's data, with numbers as they were published. */
const dataOf = ({ raw }: LogEvent): unknown => (parseExactly(raw) as Pick<LogEvent, "data">).data;

import { Readable } from "node:stream";
import type { Static, TSchema } from "typebox";
import { Budget } from "../../../base/budget.ts";
import { EXPORTS } from "../../../base/budgets.ts";
import { grouped } from "../../../base/text.ts";
import { listDeliveries } from "../../../search/deliveries.ts";
import { principalName } from "../../auth/callers.ts";
import { found, Problem, retryLater } from "../../http/problem.ts";
import { givenMs } from "../../http/validate.ts";
import { type ApiParts, type Call, RawResponse, type Route, routeIn } from "../../route.ts";
import { Type } from "../../schema.ts";
import { AttemptCountQuery, attemptFilter, presentAttemptSummary } from "./attempts.ts";
import { DeliveryFilterQuery, deliveryFilterOf, presentDelivery } from "./deliveries.ts";
import { auditedFilter, type GivenFilter, type Searched } from "./log-filters.ts";

const route = routeIn("Delivery log", "developer");

/** CSV (RFC 4180) for spreadsheets, and JSON lines for programs. */
const EXPORT_FORMATS = {
	csv: "text/csv",
	jsonl: "application/jsonl",
} as const;
type ExportFormat = keyof typeof EXPORT_FORMATS;

type Cell = string | number | boolean | null;
export type Row = Readonly<Record<string, Cell>>;

/**
 * Spreadsheets take a cell that begins like this for a formula, which could read or send other cells. Some also accept
 * full-width signs.
 */
const FORMULA = /^[\s"]*[=+\-@＝＋－＠\t\r]/;

/**
 * So is the rest of a cell after what some of them take for a separator. Where that is a semicolon, a row's quotes
 * don't begin a field and mean nothing: a line break ends the row, and further quotes may begin a field. It matches a
 * whole run of separators even if no sign follows, so that a long one takes linear time.
 */
const AFTER_SEPARATOR = /([;\t\r\n][\s";]*)([=+\-@＝＋－＠]?)/g;

/** A text that is an identifier or came from a receiver must not become a formula: an apostrophe before it makes it text. */
function csvCell(cell: Cell): string {
	if (cell === null) return "";
	if (typeof cell !== "string") return String(cell);
	const text = (FORMULA.test(cell) ? `'${cell}` : cell).replaceAll(
		AFTER_SEPARATOR,
		(run, before: string, sign: string) => (sign === "" ? run : `${before}'${sign}`),
	);
	return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}

const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(",")}\r\n`;

interface ExportOptions {
	readonly format: ExportFormat;
	readonly columns: readonly string[];
	readonly pages: AsyncIterable<readonly Row[]>;
	readonly maxRows: number;
	/** Whether to end it early: its time is up. */
	readonly isOver: () => boolean;
	/** Why rows may be missing although it reached the end; null if none are. */
	readonly gap: string | null;
}

/** The file in pieces. If it ends early, its last line says so. */
export async function* exportedFile({
	format,
	columns,
	pages,
	maxRows,
	isOver,
	gap,
}: ExportOptions): AsyncGenerator<string> {
	const note = (why: string) => (format === "csv" ? csvLine([why]) : `${JSON.stringify({ incomplete: why })}\n`);
	if (format === "csv") yield csvLine(columns);
	let left = maxRows;
	for await (const rows of pages) {
		const these = rows.slice(0, left);
		left -= these.length;
		if (these.length > 0)
			yield these
				.map((row) => (format === "csv" ? csvLine(columns.map((name) => row[name]!)) : `${JSON.stringify(row)}\n`))
				.join("");
		const isCut = these.length < rows.length;
		if (!isCut && !isOver()) continue;
		const why = isCut ? `an export has at most ${grouped(maxRows)} rows` : "the export took too long";
		yield note(`Not complete: ${why}. Narrow the filters.`);
		return;
	}
	if (gap !== null) yield note(gap);
}

interface FileName {
	readonly project: string;
	readonly what: string;
	/** Whether it is filtered by anything but time. */
	readonly filtered: boolean;
	/** Milliseconds since the Unix epoch; undefined if unbounded. */
	readonly since: number | undefined;
	readonly until: number;
	readonly format: ExportFormat;
}

/**
 * `acme-shop_deliveries_2026-11-23T10-00_2026-11-24T10-00.csv`, in ASCII, with times in UTC; `deliveries_filtered` with
 * other filters, and `deliveries_all` without any.
 */
export function fileNameOf({ project, what, filtered, since, until, format }: FileName): string {
	const slug = project
		.normalize("NFKD")
		.replaceAll(/[^A-Za-z0-9]+/g, "-")
		.replaceAll(/^-|-$/g, "")
		.slice(0, 60)
		.toLowerCase();
	const time = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replaceAll(":", "-");
	const which = filtered ? ["filtered"] : since === undefined ? ["all"] : [];
	const times = [...(since === undefined ? [] : [time(since)]), time(until)];
	return `${[...(slug === "" ? [] : [slug]), what, ...which, ...times].join("_")}.${format}`;
}

interface Page {
	readonly rows: readonly Row[];
	/** The attempt id to continue before, or null at the end. */
	readonly next: string | null;
}

interface Exported<Q extends TSchema> {
	readonly what: "attempts" | "deliveries";
	readonly query: Q;
	readonly columns: readonly string[];
	/** Resolves the filters once for the whole export. */
	readonly open: (projectId: string, query: Static<Q>) => Promise<OpenList>;
}

interface OpenList {
	readonly read: (before: string | undefined) => Promise<Page>;
	/** Why some matching rows may not be found; null if all are. */
	readonly gap: string | null;
}

const ATTEMPT_COLUMNS: readonly (keyof ReturnType<typeof presentAttemptSummary>)[] = [
	"started_at",
	"status",
	"event_type",
	"event_id",
	"webhook_id",
	"url",
	"attempt",
	"replay",
	"test",
	"status_code",
	"error_code",
	"error",
	"response_ms",
	"next_retry_at",
	"id",
];
const DELIVERY_COLUMNS: readonly (keyof ReturnType<typeof deliveryRow>)[] = [
	"last_attempt_at",
	"state",
	"handled",
	"event_type",
	"event_id",
	"order_id",
	"webhook_id",
	"url",
	"attempts",
	"replay",
	"test",
	"status_code",
	"error_code",
	"error",
	"response_ms",
	"next_retry_at",
	"last_attempt_id",
];

/** What the log's filters match, as a file that is written while it is read. */
export function exportRoutes({ storage, references, clock, logger }: ApiParts): Route[] {
	const byPrincipal = new Budget({ name: "exports", limit: EXPORTS.node, perOwner: EXPORTS.perPrincipal });
	const byProject = new Budget({ name: "exports", limit: EXPORTS.node, perOwner: EXPORTS.perProject });

	/** Reserves an export slot. @throws Problem 429 or 503 if all are taken */
	function begin(principal: string, project: string): () => void {
		const refused = byPrincipal.refusal(principal, 1) ?? byProject.refusal(project, 1);
		if (refused === "node") throw retryLater("node", "This node is exporting as much as it can.", EXPORTS.retryS);
		if (refused !== null) {
			const why = `You may run ${EXPORTS.perPrincipal} export at a time, and a project ${EXPORTS.perProject}.`;
			throw retryLater("own", why, EXPORTS.retryS);
		}
		byPrincipal.hold(principal, 1);
		byProject.hold(project, 1);
		return () => {
			byPrincipal.give(principal, 1);
			byProject.give(project, 1);
		};
	}

	async function respond<Q extends TSchema>(
		{ what, columns, open }: Exported<Q>,
		format: ExportFormat,
		{ params, query, principal, request, reply, audit, heavy, isStillAllowed }: Call<Static<Q>, unknown>,
	): Promise<RawResponse> {
		const { projectId } = params;
		// A link on another site could start it, with the reader's cookie.
		if (request.headers["sec-fetch-site"] === "cross-site")
			throw new Problem("forbidden", "Exports can't be started from another site.");
		const project = found("project", await storage.getProject({ projectId }));
		const given = query as GivenFilter;
		const now = clock.now();
		const since = givenMs(given.since);
		const until = Math.min(givenMs(given.until) ?? now, now);
		const filtered = Object.keys(given).some((name) => name !== "since" && name !== "until");
		const fileName = fileNameOf({ project: project.name, what, filtered, since, until, format });
		const headers = { "Content-Disposition": `attachment; filename="${fileName}"` };
		const contentType = `${EXPORT_FORMATS[format]}; charset=utf-8`;
		if (request.method === "HEAD") return new RawResponse("", contentType, headers);
		const end = begin(principalName(principal), projectId);
		try {
			const began = clock.elapsed();
			const { read, gap } = await heavy(() => open(projectId, query));
			// Before the response begins, so that errors become an error response.
			let page = await heavy(() => read(undefined));
			const readPages = async function* (): AsyncGenerator<readonly Row[]> {
				let checkedAt = began;
				yield page.rows;
				while (page.next !== null) {
					if (clock.elapsed() - checkedAt >= EXPORTS.recheckMs) {
						checkedAt = clock.elapsed();
						if (!(await isStillAllowed())) throw new Error("The right to read ended during the export.");
					}
					const before = page.next;
					page = await heavy(() => read(before));
					yield page.rows;
				}
			};
			const isOver = () => page.next !== null && clock.elapsed() - began >= EXPORTS.ms;
			const file = exportedFile({ format, columns, pages: readPages(), maxRows: EXPORTS.rows, isOver, gap });
			const stream = Readable.from(file, { objectMode: false, highWaterMark: 1 });
			stream.once("error", (error) => logger.warn({ err: error, projectId, what }, "an export ended early"));
			reply.raw.once("close", end);
			if (reply.raw.closed) end();
			audit({ projectId, action: "log.exported", detail: { what, format, filter: auditedFilter(given) } });
			return new RawResponse(stream, contentType, headers);
		} catch (error) {
			end();
			throw error;
		}
	}

	const routesOf = <Q extends TSchema>(list: Exported<Q>, names: Readonly<Record<ExportFormat, string>>) =>
		(Object.keys(EXPORT_FORMATS) as ExportFormat[]).map((format) =>
			route("GET", `/v1/projects/{project_id}/${list.what}/export.${format}`, names[format], {
				summary: `Export ${list.what} as ${format === "csv" ? "CSV" : "JSON lines"}`,
				description: `Newest first, with the filters of the list, without headers and bodies. At most ${grouped(EXPORTS.rows)} rows; a file that isn't complete says so in its last line.${format === "csv" ? " Cells that spreadsheets would take for formulas begin with an apostrophe." : ""} An export is recorded in the audit log.`,
				query: list.query,
				rate: "recordedReads",
				success: {
					...{ status: 200, description: "The file.", schema: Type.String() },
					contentType: EXPORT_FORMATS[format],
					headers: { "Content-Disposition": "A file name with the project and the range of time." },
				},
				problems: {
					"too-many-requests": `${EXPORTS.perPrincipal} export at a time, ${EXPORTS.perProject} of a project.`,
				},
				handler: (call) => respond(list, format, call as Call<Static<Q>, unknown>),
			}),
		);

	const attempts: Exported<typeof AttemptCountQuery> = {
		what: "attempts",
		query: AttemptCountQuery,
		columns: ATTEMPT_COLUMNS,
		async open(projectId, query) {
			const { filter, searched } = await attemptFilter(references, projectId, query);
			return {
				gap: gapOf(await searched()),
				async read(before) {
					const page = { limit: EXPORTS.page, before };
					const { rows, next } = await storage.listAttemptSummaries({ projectId, filter, page });
					return { rows: rows.map((row): Row => ({ ...presentAttemptSummary(row) })), next };
				},
			};
		},
	};
	const deliveries: Exported<typeof DeliveryFilterQuery> = {
		what: "deliveries",
		query: DeliveryFilterQuery,
		columns: DELIVERY_COLUMNS,
		async open(projectId, query) {
			const { filter, searched } = await deliveryFilterOf(references, projectId, query);
			return {
				gap: gapOf(await searched()),
				async read(before) {
					const { rows, next } = await listDeliveries(storage, projectId, filter, { limit: EXPORTS.page, before });
					return { rows: rows.map((row) => deliveryRow(presentDelivery(row))), next };
				},
			};
		},
	};
	return [
		...routesOf(attempts, { csv: "exportAttemptsCsv", jsonl: "exportAttemptsJsonl" }),
		...routesOf(deliveries, { csv: "exportDeliveriesCsv", jsonl: "exportDeliveriesJsonl" }),
	];
}

/** What a search by order id or customer e-mail leaves out of an export. */
function gapOf({ searched }: Searched): string | null {
	if (searched?.capped) return `Not complete: only the newest events of each order id or customer are searched.`;
	const isIndexed = searched?.complete !== false;
	return isIndexed ? null : "Not complete: some events aren't indexed yet. Export again in a moment.";
}

function deliveryRow({ last_attempt: last, ...delivery }: ReturnType<typeof presentDelivery>) {
	return {
		last_attempt_at: last?.started_at ?? null,
		...delivery,
		url: last?.url ?? null,
		status_code: last?.status_code ?? null,
		error_code: last?.error_code ?? null,
		error: last?.error ?? null,
		response_ms: last?.response_ms ?? null,
		last_attempt_id: last?.id ?? null,
	};
}

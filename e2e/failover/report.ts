/** Progress lines and the summary table. */
import { FAULTS } from "./faults.ts";
import type { Round } from "./round.ts";
import type { Verdict } from "./verdict.ts";

/** Publishing must resume within this time, milliseconds. */
export const LIMIT_MS = 30_000;
const ERASE_LINE = "\r\x1b[2K";

/** Lines on standard output; at a terminal the last one is updated in place. */
export class Lines {
	#live = false;

	/** Updates the current line. Without a terminal, only {@link done} prints. */
	live(text: string): void {
		if (!process.stdout.isTTY) return;
		process.stdout.write(`${ERASE_LINE}${text.slice(0, process.stdout.columns - 1)}`);
		this.#live = true;
	}

	done(text: string): void {
		process.stdout.write(`${this.#live ? ERASE_LINE : ""}${text}\n`);
		this.#live = false;
	}
}

export const seconds = (ms: number | null): string =>
	ms === null || ms === Number.POSITIVE_INFINITY ? "never" : `${(ms / 1_000).toFixed(1)} s`;
const count = (n: number): string => n.toLocaleString("en");

/** The progress of a failure. */
export function roundLine(n: number, of: number, round: Partial<Round>, events: number): string {
	const {
		fault,
		before,
		after,
		promotedMs = null,
		publishingMs = null,
		deliveringMs = null,
		rejoinedMs = null,
	} = round;
	const parts = [`${before} (primary): ${fault && FAULTS[fault].text}`];
	if (promotedMs !== null) parts.push(`${after} is primary after ${seconds(promotedMs)}`);
	if (publishingMs !== null) parts.push(`publishing after ${seconds(publishingMs)}`);
	if (deliveringMs !== null) parts.push(`delivering after ${seconds(deliveringMs)}`);
	if (rejoinedMs !== null) parts.push(`${before} is back after ${seconds(rejoinedMs)}`);
	return `${String(n).padStart(3)}/${of}  ${parts.join(", ")}; ${count(events)} events so far`;
}

/** What went wrong after a failure, in a sentence; null if nothing did. */
export function faultOf(round: Round, n: number): string | null {
	const { publishingMs, deliveringMs, rejoinedMs, promotedMs } = round;
	const failure = `failure ${n}`;
	if (promotedMs === null) return `${failure}: no other server became the primary`;
	if (publishingMs === null || publishingMs > LIMIT_MS)
		return `${failure}: publishing resumed after ${seconds(publishingMs)}, not within ${seconds(LIMIT_MS)}`;
	if (deliveringMs === null) return `${failure}: not every webhook received events again`;
	if (rejoinedMs === null) return `${failure}: ${round.before} did not join again`;
	return null;
}

const COLUMNS = ["", "failure", "primary", "promoted", "publishing", "delivering", "rejoined"];

export function summary(rounds: readonly Round[], verdict: Verdict, refused: number): string {
	const rows = rounds.map((round, i) => [
		String(i + 1),
		FAULTS[round.fault].text,
		`${round.before} → ${round.after ?? "none"}`,
		...[round.promotedMs, round.publishingMs, round.deliveringMs, round.rejoinedMs].map(seconds),
	]);
	for (const [name, pick] of [
		["median", median],
		["max", max],
	] as const) {
		const column = (key: "promotedMs" | "publishingMs" | "deliveringMs" | "rejoinedMs") =>
			seconds(pick(rounds.map((round) => round[key] ?? Number.POSITIVE_INFINITY)));
		rows.push([
			"",
			name,
			"",
			column("promotedMs"),
			column("publishingMs"),
			column("deliveringMs"),
			column("rejoinedMs"),
		]);
	}
	const { acknowledged, inLog, received, repeated, lost, outOfOrder } = verdict;
	return [
		"",
		table([COLUMNS, ...rows]),
		"",
		"Times since the failure. Publishing: every node acknowledges events. Delivering: every webhook receives new events.",
		`${count(acknowledged)} events acknowledged, ${count(inLog)} in the log; ${count(refused)} calls failed and were retried.`,
		`${count(received)} requests received, all correctly signed; ${count(repeated)} repeated an event.`,
		`${count(lost)} lost, ${count(outOfOrder)} out of order.`,
		"",
	].join("\n");
}

function table(rows: readonly (readonly string[])[]): string {
	const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
	// Text is left-aligned, numbers right-aligned.
	const cell = (text: string, i: number) => (i === 1 || i === 2 ? text.padEnd(widths[i]!) : text.padStart(widths[i]!));
	return rows.map((row) => row.map(cell).join("  ").trimEnd()).join("\n");
}

const max = (values: readonly number[]): number => Math.max(...values);

function median(values: readonly number[]): number {
	const sorted = [...values].sort((a, b) => a - b);
	const middle = Math.floor(sorted.length / 2);
	return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

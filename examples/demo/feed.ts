import picocolors from "picocolors";
import type { Attempt, Published } from "./api.ts";
import type { Verdict } from "./receiver.ts";
import { isComplete, type Totals } from "./totals.ts";

export interface Feed {
	/** Prints one or more lines unchanged. */
	say(text: string): void;
	/** Prints this now and again after every 25 lines of events and attempts, so that it doesn't scroll away. */
	keepInView(text: string): void;
	published(event: Published, summary: string): void;
	attempted(attempt: Attempt, about: AttemptContext): void;
	totals(totals: Totals): void;
	summary(totals: Totals): void;
	/** Removes the status line. */
	close(): void;
}

export interface AttemptContext {
	readonly webhookName: string;
	readonly seq: number | null;
	readonly maxAttempts: number;
	/** The result of the receiver's own check; null if it received no complete request. */
	readonly verdict: Verdict | null;
}

interface Screen {
	readonly isTTY?: boolean;
	readonly columns?: number;
	write(text: string): unknown;
}

const CLEAR_LINE = "\r\u001b[2K";
/** Some terminals report no width, or 0. */
const FALLBACK_COLUMNS = 80;
const TYPE_WIDTH = "subscription.canceled".length;
const KEEP_IN_VIEW_EVERY = 25;
/** How often to print totals where no status line is possible. */
const TOTALS_EVERY_MS = 10_000;

/** Prints to `screen`: on a terminal in color with the totals in the last line, elsewhere as plain lines. */
export function openFeed(screen: Screen, useColour: boolean): Feed {
	const colour = picocolors.createColors(useColour);
	const isTerminal = screen.isTTY === true;
	const looks = {
		delivered: { paint: colour.green, symbol: "✔" },
		retrying: { paint: colour.yellow, symbol: "↻" },
		failed: { paint: colour.red, symbol: "✖" },
	};
	let status = "";
	let inView = "";
	let lines = 0;
	let totalsPrintedAt = Date.now();

	return {
		say: print,
		keepInView(text) {
			inView = text;
			print(`${text}\n`);
		},
		published(event, summary) {
			const number = `#${event.seq}`.padStart(5);
			const label = colour.cyan("● published".padEnd(12));
			printLine(`${now()}  ${label}${number}  ${colour.bold(event.type.padEnd(TYPE_WIDTH))}  ${summary}`);
		},
		attempted(attempt, { webhookName, seq, maxAttempts, verdict }) {
			const { paint, symbol } = looks[attempt.status];
			const number = (seq === null ? "" : `#${seq}`).padStart(5);
			const which = `${attempt.replay === 0 ? "" : `replay ${attempt.replay}, `}attempt ${attempt.attempt} of ${maxAttempts}`;
			const parts = [
				`${paint(`${symbol} ${attempt.status}`.padEnd(12))}${number}`,
				attempt.event_type.padEnd(TYPE_WIDTH),
				`→ ${webhookName.padEnd(12)}`,
				which,
				`${paint(answer(attempt).padEnd(3))} ${`${Math.round(attempt.response_ms)} ms`.padStart(7)}`,
				sayVerdict(verdict),
			];
			if (attempt.status === "retrying" && attempt.next_retry_at !== null) {
				parts.push(colour.yellow(`retry at ${clockTime(new Date(attempt.next_retry_at))}`));
			}
			if (attempt.status === "failed") parts.push(colour.red("dead-lettered: can be replayed"));
			printLine(`${now()}  ${parts.join("  ")}`);
		},
		totals(totals) {
			const line = inOneLine(totals);
			if (isTerminal) {
				status = line.slice(0, Math.max(0, (screen.columns || FALLBACK_COLUMNS) - 1));
				screen.write(`${CLEAR_LINE}${colour.inverse(status)}`);
			} else if (Date.now() - totalsPrintedAt >= TOTALS_EVERY_MS) {
				totalsPrintedAt = Date.now();
				print(`${now()}  ${line}`);
			}
		},
		summary(totals) {
			takeStatusAway();
			print(`\n${colour.bold("Summary")}\n${inLines(totals)}\n\n${conclusion(totals)}`);
		},
		close: takeStatusAway,
	};

	function print(text: string): void {
		if (status === "") screen.write(`${text}\n`);
		else screen.write(`${CLEAR_LINE}${text}\n${colour.inverse(status)}`);
	}

	function printLine(text: string): void {
		print(text);
		lines++;
		if (inView !== "" && lines % KEEP_IN_VIEW_EVERY === 0) print(`\n${inView}\n`);
	}

	function takeStatusAway(): void {
		if (status !== "") screen.write(CLEAR_LINE);
		status = "";
	}

	function now(): string {
		return colour.dim(clockTime(new Date()));
	}

	function sayVerdict(verdict: Verdict | null): string {
		if (verdict === null) return colour.dim("not seen by the receiver");
		if (!verdict.verified) return colour.red("NOT VERIFIED ✗");
		return colour.green("verified ✓") + (verdict.duplicate ? colour.dim(" (duplicate, ignored)") : "");
	}

	function conclusion(totals: Totals): string {
		if (totals.published === 0) return "Nothing was published.";
		if (isComplete(totals)) return colour.green("✔ Everything published was delivered and verified.");
		const { retrying, waiting, failed, delivered, verified, signatureFailures } = totals;
		const rest = [
			waiting > 0 ? `${waiting} not attempted yet` : "",
			retrying > 0 ? `${retrying} waiting for a retry` : "",
			failed > 0 ? `${failed} dead-lettered after the last attempt` : "",
			delivered > verified ? `${delivered - verified} delivered, but not accepted by the receiver` : "",
			signatureFailures > 0 ? `${signatureFailures} requests with a wrong signature` : "",
		].filter((part) => part !== "");
		return colour.yellow(`! Not everything published was delivered and verified: ${rest.join(", ")}.`);
	}
}

/** Local time as hours, minutes and seconds. */
function clockTime(time: Date): string {
	return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

function answer({ status_code, error }: Attempt): string {
	if (status_code !== null) return String(status_code);
	// The API also says what to do about it; the line only has room for what happened.
	const [what = ""] = (error ?? "no reason given").split(/[:.] /);
	return `no response (${what.charAt(0).toLowerCase()}${what.slice(1)})`;
}

const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`;

/** Most important first, because a terminal may cut off the end. */
function inOneLine(totals: Totals): string {
	return [
		`${totals.published} published`,
		`${totals.delivered} of ${totals.deliveries} delivered`,
		`${totals.retrying} retrying`,
		`${totals.failed} failed`,
		counted(totals.signatureFailures, "bad signature"),
		counted(totals.duplicates, "duplicate"),
		`median ${inMilliseconds(totals.medianMs)}`,
	].join(" · ");
}

function inLines(totals: Totals): string {
	const rows: readonly (readonly [string, string])[] = [
		["published", counted(totals.published, "event")],
		["delivered", `${totals.delivered} of ${totals.deliveries} deliveries, ${totals.deliveredByRetry} by a retry`],
		["verified", `${totals.verified} of ${totals.deliveries}, by the receivers' own check`],
		["retrying", `${totals.retrying}`],
		["failed", `${totals.failed}`],
		["duplicates", `${totals.duplicates}`],
		["signature failures", `${totals.signatureFailures}`],
		["median time", `${inMilliseconds(totals.medianMs)} from publish to receipt`],
	];
	return rows.map(([name, value]) => `  ${name.padEnd(20)}${value}`).join("\n");
}

function inMilliseconds(value: number | null): string {
	return value === null ? "–" : `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}

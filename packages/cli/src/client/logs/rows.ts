/** Attempts as rows of a table. */
import { colors } from "../../colors.ts";
import { atTerminal, clean, colored, cut, GAP, printJson, terminalWidth, widthOf } from "../output.ts";
import { allWebhooks } from "../webhooks.ts";
import type { Attempt, Reading } from "./attempts.ts";

/** As wide as what precedes the event's type. */
const INDENT = " ".repeat(12);
/** The widest name of an event type, and of an event id that the service made. */
const [TYPE_WIDTH, ID_WIDTH] = [21, 30];
/** The series, and a count of milliseconds. */
const [SERIES_WIDTH, MS_WIDTH] = [4, 5];
/** The longest code of an error, and what is shown of it in any case. */
const ERROR_WIDTH = { most: 19, least: 7 };
/** An order with its id, which may have hundreds of characters. */
const ORDER_WIDTH = { most: 30, least: 14 };
/** Where less is left for the description and the URL, they are left out, unless the description alone fits. */
const LEAST_NAME = 16;

export const MARKS = { delivered: colors.green("✔"), retrying: colors.yellow("↻"), failed: colors.red("✘") };

/**
 * Prints attempts, each with its webhook's description and URL. If several webhooks among those printed so far have the
 * same URL, their ids tell them apart. A line with its date begins each day, unless the list starts today. Where a narrow
 * terminal has no room to tell several webhooks apart, an attempt that wasn't delivered gets another line that does.
 */
export function printer({ client, project, signal }: Reading, json: boolean) {
	if (json) return async (attempts: readonly Attempt[]) => attempts.forEach(printJson);
	const descriptions = new Map<string, string>();
	const webhooks = new Map<string, Set<string>>();
	let day = new Date().toDateString();
	return async (attempts: readonly Attempt[]) => {
		if (attempts.some(({ webhook_id }) => !descriptions.has(webhook_id))) {
			const known = await allWebhooks(client, project, signal);
			// Deleted webhooks have none, and aren't looked up again.
			for (const { webhook_id } of attempts) descriptions.set(webhook_id, "");
			for (const { id, description } of known) descriptions.set(id, description);
		}
		for (const { url, webhook_id } of attempts) webhooks.set(url, (webhooks.get(url) ?? new Set()).add(webhook_id));
		const isOne = webhooks.size === 1 && [...webhooks.values()][0]!.size === 1;
		for (const attempt of attempts) {
			const begun = new Date(attempt.started_at).toDateString();
			if (begun !== day) console.log(colors.dim(begun));
			day = begun;
			const description = clean(descriptions.get(attempt.webhook_id)!);
			const { row, isNamed } = rowOf(attempt, description, { isOne, withId: webhooks.get(attempt.url)!.size > 1 });
			console.log(row);
			if (isOne || isNamed || attempt.status === "delivered") continue;
			const name = `${INDENT}${attempt.webhook_id}${GAP}${description || clean(attempt.url)}`;
			console.log(colors.dim(cut(name, terminalWidth())));
		}
	};
}

interface Naming {
	/** Whether all attempts are for one webhook. */
	readonly isOne: boolean;
	/** Whether another webhook has the same URL, so that only the id tells them apart. */
	readonly withId: boolean;
}

/**
 * At a terminal, one line: what doesn't fit is cut or left out, the least informative first.
 *
 * @returns the line, and whether it names the webhook
 */
function rowOf(attempt: Attempt, description: string, { isOne, withId }: Naming) {
	const { started_at, event_type, event_id, order_id, status, status_code, error_code, response_ms } = attempt;
	const head = [
		colors.dim(new Date(started_at).toTimeString().slice(0, 8)),
		`${MARKS[status]} ${event_type.padEnd(TYPE_WIDTH)}`,
		colors.dim(clean(event_id).padEnd(ID_WIDTH)),
		seriesOf(attempt).padEnd(SERIES_WIDTH),
	].join(GAP);
	let room = terminalWidth() - widthOf(head) - GAP.length;
	/** The text, or as much of it as fits. Nothing if that is less than `least`, or if less than `reserved` would be left. */
	const fit = (text: string, { least = widthOf(text), reserved = 0 } = {}): string => {
		if (room - reserved < Math.min(least, widthOf(text))) return "";
		const shown = cut(text, room - reserved);
		room -= widthOf(shown) + GAP.length;
		return shown;
	};
	const { most, least } = ERROR_WIDTH;
	const webhook = withId ? fit(attempt.webhook_id, { reserved: GAP.length + least }) : "";
	const ms = fit(`${String(response_ms).padStart(MS_WIDTH)} ms`, { reserved: GAP.length + most });
	const result = cut(String(status_code ?? error_code ?? "no response"), Math.max(room, least));
	room -= result.length + GAP.length;
	const orderText = cut(`order ${clean(order_id ?? "")}`, atTerminal(ORDER_WIDTH.most));
	const leastName = Math.min(LEAST_NAME, widthOf(description) || LEAST_NAME);
	// The order doesn't tell an event's attempts for several webhooks apart, so it leaves room for the name.
	const reserved = isOne || withId ? 0 : GAP.length + leastName;
	const order = order_id === null ? "" : fit(orderText, { least: ORDER_WIDTH.least, reserved });
	const name = fit(`${description && `${description}${GAP}`}${clean(attempt.url)}`, { least: leastName });
	const coloredResult = status_code === null ? colors.red(result) : colored(status_code, result);
	const row = [head, ms, coloredResult, order, webhook, name].filter((cell) => cell !== "").join(GAP);
	return { row, isNamed: (withId ? webhook : name) !== "" };
}

/** `#2`, or `#1r3` for the first attempt of the third replay. */
export const seriesOf = ({ attempt, replay }: Pick<Attempt, "attempt" | "replay">): string =>
	`#${attempt}${replay > 0 ? `r${replay}` : ""}`;

import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Client, Position } from "@posthorn/client";
import { UsageError } from "../../command-error.ts";
import { configFolder, readStored, store } from "../stored.ts";

/** How far a target has got. */
export interface Progress {
	readonly position: Position;
	/** The last event after `position` that the receiver got. */
	readonly delivered?: string;
	/** When it was stored, milliseconds since the Unix epoch. */
	readonly at: number;
}

/** A position that is older than this isn't continued from: no one expects last week's events. */
const RESUME_MS = 24 * 3_600_000;
const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The file for the progress of a target with its event types, private to the user. */
export class ProgressFile {
	readonly path: string;

	/** @param types null for all */
	constructor(url: string, project: string, target: URL, types: readonly string[] | null) {
		const parts = [url, project, target, ...(types === null ? [] : new Set(types.toSorted()))];
		const name = createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 16);
		this.path = join(configFolder(), "listen", `${name}.json`);
	}

	/** Null if there is none, or it is too old. */
	read(): Progress | null {
		const stored = readStored<Progress>(this.path, isWhole);
		return stored !== null && Date.now() - stored.at <= RESUME_MS ? stored : null;
	}

	write(position: Position, delivered?: string): void {
		store(this.path, { position, ...(delivered !== undefined && { delivered }), at: Date.now() } satisfies Progress);
	}
}

function isWhole({ position, delivered, at }: Partial<Record<keyof Progress, unknown>>): boolean {
	const { after, epoch } = (position ?? {}) as Partial<Record<keyof Position, unknown>>;
	const areTexts = [delivered, epoch].every((one) => one === undefined || typeof one === "string");
	return typeof at === "number" && typeof after === "number" && areTexts;
}

/** The milliseconds of `90s`, `10m`, `2h` or `1d`. @throws UsageError */
export function parseSpan(text: string, option = "--since"): number {
	const [, count, unit] = /^(\d{1,6})\s*([smhd])$/.exec(text.trim()) ?? [];
	if (count === undefined) throw new UsageError([`${option} is "${text}"; give a span such as 90s, 10m, 2h or 1d.`]);
	return Number(count) * UNITS[unit!]!;
}

/** When a span that ends now began, but not before 1970. @throws UsageError */
export const spanStart = (span: string, option?: string): string =>
	new Date(Math.max(0, Date.now() - parseSpan(span, option))).toISOString();

/** The position just before an event. @throws UsageError for a test event, which isn't in the log */
export async function positionBefore(client: Client, eventId: string): Promise<Position> {
	const { seq } = await client.get(eventId);
	if (seq <= 0) throw new UsageError([`${eventId} is a test event, which isn't part of the log.`]);
	const { position } = await client.read({ after: seq - 1 }, { limit: 1 });
	return { after: seq - 1, ...(position.epoch !== undefined && { epoch: position.epoch }) };
}

/**
 * The position after which events are at least as new as `since`, found by bisection over sequence numbers. Publishers
 * may backdate events, so it is exact only if times and the log have the same order.
 *
 * @param since milliseconds since the Unix epoch
 */
export async function positionSince(client: Client, since: number): Promise<Position> {
	const end = await client.end();
	let [low, high] = [0, end.after];
	while (low < high) {
		const middle = Math.floor((low + high) / 2);
		const { events, position } = await client.read({ after: middle }, { limit: 1 });
		const [event] = events;
		if (event === undefined || Date.parse(event.created_at) >= since) high = middle;
		else low = Math.max(middle + 1, position.after);
	}
	return { ...end, after: low };
}

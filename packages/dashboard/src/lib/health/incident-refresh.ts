import type { HealthFacts } from "./health-facts.ts";
import type { IncidentFacts } from "./incident-words.ts";

/** The fields of a webhook's health that incidents depend on. */
type Facts = Pick<HealthFacts, "webhook_id" | "state" | "failing_since" | "waiting" | "dead_letters">;

type Incident = Pick<IncidentFacts, "state" | "deliveries"> & { readonly webhook_id: string };

/** What health says about incidents, as texts to compare. */
export interface Marks {
	/** What an incident's words depend on: its webhook's state, and whether it delivers again, has retries or failures. */
	readonly words: string;
	/** What the numbers of open incidents depend on. */
	readonly numbers: string;
}

/** Incidents are requested again for their numbers only once they are this old, milliseconds. */
const NUMBERS_MS = 5_000;

/**
 * @param healths undefined until they are known
 * @returns null until then
 */
export function marksOf(healths: readonly Facts[] | undefined, incidents: readonly Incident[]): Marks | null {
	if (healths === undefined) return null;
	const idsOf = (matches: (incident: Incident) => boolean) =>
		new Set(incidents.filter(matches).map(({ webhook_id }) => webhook_id));
	const ongoing = idsOf(({ state }) => state === "ongoing");
	const open = idsOf(({ state, deliveries }) => state === "ongoing" || deliveries.waiting + deliveries.failed > 0);
	const words = healths.map(({ webhook_id, state, failing_since, waiting, dead_letters }) => {
		const hasRecovered = failing_since === null && ongoing.has(webhook_id);
		return [webhook_id, state, hasRecovered, waiting.count === 0, dead_letters === 0];
	});
	const numbers = healths
		.filter(({ webhook_id }) => open.has(webhook_id))
		.map(({ webhook_id, waiting, dead_letters }) => [webhook_id, waiting.count, dead_letters]);
	return { words: words.join(), numbers: numbers.join() };
}

/** What the shown incidents are known to agree with, and in how many milliseconds to request them again, if at all. */
interface Refresh {
	readonly marks: Marks | null;
	readonly wait: number | null;
}

/**
 * So that incidents agree with the health next to them.
 *
 * @param age since they were last loaded, or failed to load, in milliseconds
 * @param isLoading whether they are being requested. Changes don't start that over, since with constant ones it would
 * never end: they are compared once it has ended.
 */
export function refreshOf(before: Marks | null, after: Marks | null, age: number, isLoading: boolean): Refresh {
	const over = { marks: after, wait: null };
	if (before === null || after === null) return over;
	if (isLoading) return { marks: before, wait: null };
	if (before.words !== after.words) return { marks: after, wait: 0 };
	return before.numbers === after.numbers ? over : { marks: after, wait: Math.max(0, NUMBERS_MS - age) };
}

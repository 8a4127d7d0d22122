import { HOLDS, type Hold } from "../text/hold.ts";
import { aboutSpan, otherDay, timeOfDay } from "../text/time.ts";
import { type AttemptStatus, attemptSentence, type ResponseFacts, responseWords, wasSent } from "./attempt-words.ts";

/** The fields of an attempt that the track needs; a row of the log has all of them. */
export interface TrackAttempt extends ResponseFacts {
	readonly id: string;
	readonly attempt: number;
	readonly replay: number;
	readonly status: AttemptStatus;
	readonly next_retry_at: string | null;
	readonly started_at: string;
	readonly response_ms: number;
}

/** The fields of a delivery that the track needs in addition to its attempts. */
export interface TrackDelivery {
	readonly state: "attempting" | "delivered" | "dead_lettered";
	/** The attempt that is due or in progress, or the last one made. */
	readonly attempt: number;
	readonly replay: number;
	readonly next_retry_at: string | null;
}

export type StationState = "delivered" | "passed" | "failed" | "current" | "coming";

export interface Station {
	/** 1, 2, 3 … within its line. */
	readonly number: number;
	readonly state: StationState;
	/** The attempt's response, or what it waits for instead of its time, such as `paused`; null if there is none yet. */
	readonly response: string | null;
	/** When the attempt started or is due, milliseconds since 1970; null if unknown or in flight. */
	readonly at: number | null;
	/** The day of `at`, such as `1 Dec`; null if it is that of the line's first time. */
	readonly day: string | null;
	/** Whether `at` is derived from the service's delays, assuming that the attempts before it fail immediately. */
	readonly estimated: boolean;
	/** The delay before it, in milliseconds; null for the first one, or if unknown. */
	readonly wait: number | null;
	readonly attemptId: string | null;
	/** The station as a screen reader reads it. */
	readonly spoken: string;
}

/** A series of attempts. */
export interface Line {
	/** 0 for the first series, then 1, 2 … for each replay. */
	readonly replay: number;
	readonly stations: readonly Station[];
	/** How many attempts it has at most. */
	readonly total: number;
	/** How it ended; null while in progress. */
	readonly end: "delivered" | "failed" | null;
}

/** How the service retries. */
export interface RetryPlan {
	/** The delays between the attempts of a series, in seconds. */
	readonly retry_delays: readonly number[];
}

/** The maximum number of attempts in a series under that plan. */
const attemptsOf = ({ retry_delays }: RetryPlan) => retry_delays.length + 1;

/** What a new series gets, within a sentence: `up to 8 attempts`. */
export const newSeriesWords = (plan: RetryPlan) =>
	attemptsOf(plan) === 1 ? "1 attempt" : `up to ${attemptsOf(plan)} attempts`;

/** How long the delays of a series take together: `about 1 hour 50 minutes`. */
export const retrySpan = ({ retry_delays }: RetryPlan) =>
	aboutSpan(retry_delays.reduce((sum, seconds) => sum + seconds, 0) * 1_000);

/** What follows a failed attempt, within a sentence: `retried, for a total of 8 attempts over about 1 hour 50 minutes`. */
export const retryRule = (plan: RetryPlan) =>
	attemptsOf(plan) === 1
		? "not retried"
		: `retried, for a total of ${attemptsOf(plan)} attempts over ${retrySpan(plan)}`;

/** The planned delay after an attempt, in milliseconds; undefined after the last. */
function waitAfter({ retry_delays }: RetryPlan, attempt: number): number | undefined {
	const seconds = retry_delays[attempt - 1];
	return seconds === undefined ? undefined : seconds * 1_000;
}

/** How far, in milliseconds, a delay may differ from the planned one and still match. */
const TOLERANCE_MS = 2_000;

type SeriesPosition = Pick<TrackAttempt, "attempt" | "status" | "error_code">;

/** Whether the attempt was the last one that its series could have. */
const exhausted = (attempt: SeriesPosition) => attempt.status === "failed" && wasSent(attempt);

/**
 * How many attempts a series has in total: as configured, unless one of its attempts, made under another configuration,
 * shows otherwise.
 */
export function seriesLength(last: SeriesPosition, plan: RetryPlan): number {
	if (exhausted(last)) return last.attempt;
	return Math.max(attemptsOf(plan), last.status === "retrying" ? last.attempt + 1 : last.attempt);
}

const endOf = ({ started_at, response_ms }: TrackAttempt) => Date.parse(started_at) + response_ms;

const plannedWait = (attempt: TrackAttempt) =>
	attempt.next_retry_at === null ? null : Date.parse(attempt.next_retry_at) - endOf(attempt);

/** The planned delay between two attempts, unless the actual one was another: retried early, or late. */
function waitBetween(before: TrackAttempt, attempt: TrackAttempt): number {
	const actual = Date.parse(attempt.started_at) - endOf(before);
	const planned = plannedWait(before);
	return planned === null || Math.abs(actual - planned) > TOLERANCE_MS ? actual : planned;
}

/** Whether the series has used the currently configured delays: only then can its remaining attempts be predicted. */
function waitsByPlan(attempts: readonly TrackAttempt[], plan: RetryPlan): boolean {
	return attempts.every((attempt) => {
		const wait = plannedWait(attempt);
		const planned = waitAfter(plan, attempt.attempt);
		return wait === null || (planned !== undefined && Math.abs(wait - planned) <= TOLERANCE_MS);
	});
}

/**
 * The lines of a delivery, one per series, oldest first.
 *
 * @param delivery null if only the attempts are known: then nothing is predicted
 * @param hold why the next attempt waits although it may be due: then no time is known
 */
export function buildTrack(
	attempts: readonly TrackAttempt[],
	delivery: TrackDelivery | null,
	plan: RetryPlan,
	hold: Hold | null = null,
): readonly Line[] {
	const series = Map.groupBy(attempts, ({ replay }) => replay);
	if (delivery?.state === "attempting" && !series.has(delivery.replay)) series.set(delivery.replay, []);
	return [...series]
		.sort(([one], [other]) => one - other)
		.map(([replay, made]) => {
			const ordered = made.toSorted((one, other) => one.attempt - other.attempt);
			return buildLine(replay, ordered, delivery?.replay === replay ? delivery : null, plan, hold);
		});
}

function buildLine(
	replay: number,
	made: readonly TrackAttempt[],
	delivery: TrackDelivery | null,
	plan: RetryPlan,
	hold: Hold | null,
): Line {
	const last = made.at(-1);
	const over = last !== undefined && last.status !== "retrying";
	const total = last === undefined ? attemptsOf(plan) : seriesLength(last, plan);
	const stations: Undated[] = [];
	const first = made[0]?.attempt ?? 1;
	// Attempts past the log's retention leave stations without a response.
	for (let number = 1; number < first; number++) stations.push(unknown(number, total));
	for (const attempt of made) stations.push(passed(attempt, made, total));
	if (!over && delivery !== null) {
		const predicted = waitsByPlan(made, plan) ? plan : null;
		stations.push(
			...ahead(last, total, delivery, predicted).map((station) =>
				hold === null ? station : held(station, total, hold),
			),
		);
	}
	return {
		replay,
		stations: dated(stations),
		total,
		end: over ? (last.status === "delivered" ? "delivered" : "failed") : null,
	};
}

type Undated = Omit<Station, "day">;

/** Adds the days. A line may take several: its delays may be long, or its webhook paused. */
function dated(stations: readonly Undated[]): readonly Station[] {
	const began = stations.find(({ at }) => at !== null)?.at ?? null;
	return stations.map((station) => {
		const day = station.at === null || began === null ? null : otherDay(station.at, began);
		return { ...station, day, spoken: day === null ? station.spoken : `${day}: ${station.spoken}` };
	});
}

const unknown = (number: number, total: number): Undated => ({
	number,
	state: "passed",
	response: null,
	at: null,
	estimated: false,
	wait: null,
	attemptId: null,
	spoken: `attempt ${number} of ${total}, no longer in the log`,
});

function passed(attempt: TrackAttempt, made: readonly TrackAttempt[], total: number): Undated {
	const before = made.find(({ attempt: number }) => number === attempt.attempt - 1);
	return {
		number: attempt.attempt,
		state: attempt.status === "retrying" ? "passed" : attempt.status,
		response: responseWords(attempt).station,
		at: Date.parse(attempt.started_at),
		estimated: false,
		wait: before === undefined ? null : waitBetween(before, attempt),
		attemptId: attempt.id,
		spoken: attemptSentence(attempt, total),
	};
}

/** Future stations: the next one as scheduled, later ones as planned. */
function ahead(
	last: TrackAttempt | undefined,
	total: number,
	delivery: TrackDelivery,
	plan: RetryPlan | null,
): readonly Undated[] {
	const next = (last?.attempt ?? 0) + 1;
	const scheduled = delivery.next_retry_at ?? last?.next_retry_at ?? null;
	const stations: Undated[] = [];
	let at = scheduled === null ? null : Date.parse(scheduled);
	for (let number = next; number <= total; number++) {
		const wait = plan === null ? null : (waitAfter(plan, number - 1) ?? null);
		const isNext = number === next;
		if (!isNext) at = at === null || wait === null ? null : at + wait;
		stations.push({
			number,
			state: isNext ? "current" : "coming",
			response: null,
			at,
			estimated: !isNext && at !== null,
			wait: isNext && last !== undefined ? (plannedWait(last) ?? wait) : wait,
			attemptId: null,
			spoken: `attempt ${number} of ${total}${isNext ? nextInWords(at) : laterInWords(at)}`,
		});
	}
	return stations;
}

/** A future station while nothing is sent to its webhook. */
function held(station: Undated, total: number, hold: Hold): Undated {
	const isNext = station.state === "current";
	return {
		...station,
		response: isNext ? HOLDS[hold].station : null,
		at: null,
		estimated: false,
		spoken: `attempt ${station.number} of ${total}${isNext ? `, ${HOLDS[hold].until}` : ""}`,
	};
}

const nextInWords = (at: number | null) =>
	at === null ? ", in progress" : `, next at ${timeOfDay(at, { seconds: true })}`;

const laterInWords = (at: number | null) => (at === null ? "" : `, about ${timeOfDay(at)} if needed`);

/** The delay between two stations: `<1 s`, `30 s`, `2 min`, `1 h`, `1.5 d`. */
export function waitWord(ms: number): string {
	const seconds = Math.max(0, Math.round(ms / 1_000));
	if (seconds < 60) return seconds === 0 ? "<1 s" : `${seconds} s`;
	const minutes = Math.floor(seconds / 60);
	const rest = seconds % 60;
	if (minutes < 10 && rest !== 0) return `${minutes} min ${rest} s`;
	if (minutes < 60) return `${minutes} min`;
	const hours = seconds / 3_600;
	return hours < 48 ? `${Number(hours.toFixed(1))} h` : `${Number((hours / 24).toFixed(1))} d`;
}

/** The stations of a series, as one log entry shows them. */
export function rowStations(attempt: SeriesPosition, plan: RetryPlan): readonly Pick<Station, "number" | "state">[] {
	const length = attempt.status === "retrying" ? seriesLength(attempt, plan) : attempt.attempt;
	return Array.from({ length }, (_, index) => ({ number: index + 1, state: rowState(index + 1, attempt) }));
}

function rowState(number: number, { attempt, status }: SeriesPosition): StationState {
	if (number < attempt) return "passed";
	if (number === attempt) return status === "retrying" ? "passed" : status;
	return number === attempt + 1 ? "current" : "coming";
}

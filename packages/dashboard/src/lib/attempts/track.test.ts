import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { timeOfDay } from "../text/time.ts";
import {
	buildTrack,
	newSeriesWords,
	type RetryPlan,
	retryRule,
	rowStations,
	seriesLength,
	type TrackAttempt,
	waitWord,
} from "./track.ts";

/** A service with the default configuration, and its delays in milliseconds. */
const PLAN: RetryPlan = { retry_delays: [30, 60, 120, 300, 600, 1_800, 3_600] };
const WAITS = PLAN.retry_delays.map((seconds) => seconds * 1_000);
/** A service with a different configuration. */
const SHORT_PLAN: RetryPlan = { retry_delays: [5, 5] };

const START = Date.parse("2026-11-21T14:00:00.000Z");
const TOOK_MS = 84;

const iso = (at: number) => new Date(at).toISOString();
const clock = (at: number) => timeOfDay(at, { seconds: true });

interface Series {
	replay?: number;
	/** How many attempts failed and are followed by another. */
	retried: number;
	/** How the last attempt ended. */
	end?: "delivered" | "failed";
	waits?: readonly number[];
}

/** The attempts of a series, as the service makes them: each delay counts from the end of the previous attempt. */
function series({ replay = 0, retried, end, waits = WAITS }: Series): TrackAttempt[] {
	const made: TrackAttempt[] = [];
	let at = START + replay * 86_400_000;
	for (let attempt = 1; attempt <= retried; attempt++) {
		const next = at + TOOK_MS + waits[attempt - 1]!;
		made.push({ ...entry(replay, attempt, at), status: "retrying", next_retry_at: iso(next) });
		at = next;
	}
	if (end !== undefined) {
		const response = end === "delivered" ? 200 : 500;
		made.push({ ...entry(replay, retried + 1, at), status: end, status_code: response });
	}
	return made;
}

const entry = (replay: number, attempt: number, at: number): TrackAttempt => ({
	id: `att_${replay}_${attempt}`,
	attempt,
	replay,
	status: "retrying",
	status_code: 500,
	error_code: null,
	next_retry_at: null,
	started_at: iso(at),
	response_ms: TOOK_MS,
});

const over = { state: "delivered", attempt: 1, replay: 0, next_retry_at: null } as const;

describe("a delivered series", () => {
	it("stops at the station that was accepted", () => {
		const [line] = buildTrack(series({ retried: 2, end: "delivered" }), over, PLAN);
		expect(line?.end).toBe("delivered");
		expect(line?.stations.map(({ state }) => state)).toEqual(["passed", "passed", "delivered"]);
		expect(line?.stations.map(({ response }) => response)).toEqual(["500", "500", "200"]);
	});

	it("is read aloud with each attempt's number, response and time", () => {
		const [line] = buildTrack(series({ retried: 1, end: "delivered" }), over, PLAN);
		const second = START + TOOK_MS + 30_000;
		expect(line?.stations.map(({ spoken }) => spoken)).toEqual([
			`attempt 1 of 8 at ${clock(START)} returned 500`,
			`attempt 2 of 8 at ${clock(second)} returned 200`,
		]);
	});
});

describe("a series in progress", () => {
	const made = series({ retried: 2 });
	const due = START + 2 * TOOK_MS + 90_000;
	const delivery = { state: "attempting", attempt: 3, replay: 0, next_retry_at: iso(due + 120_000) } as const;
	const waiting = { ...delivery, next_retry_at: made[1]!.next_retry_at };

	it("shows the planned time of the next station, and derives later ones from the delays", () => {
		const [line] = buildTrack(made, waiting, PLAN);
		expect(line?.end).toBeNull();
		expect(line?.stations.map(({ state }) => state)).toEqual([
			"passed",
			"passed",
			"current",
			...Array.from({ length: 5 }, () => "coming"),
		]);
		expect(line?.stations.map(({ wait }) => wait)).toEqual([null, ...WAITS]);
		const [third, fourth, fifth] = line?.stations.slice(2) ?? [];
		expect(third).toMatchObject({ at: due, estimated: false, spoken: `attempt 3 of 8, next at ${clock(due)}` });
		expect(fourth).toMatchObject({ at: due + 120_000, estimated: true });
		expect(fifth?.at).toBe(due + 420_000);
		expect(fourth?.spoken).toBe(`attempt 4 of 8, about ${timeOfDay(due + 120_000)} if needed`);
	});

	it("predicts no time while the webhook is paused", () => {
		const [line] = buildTrack(made, waiting, PLAN, "paused");
		const [second, third, ...later] = line?.stations.slice(1) ?? [];
		expect(second?.response).toBe("500");
		expect(third).toMatchObject({ state: "current", response: "paused", at: null });
		expect(third?.spoken).toBe("attempt 3 of 8, once the webhook is resumed");
		for (const one of later) expect(one).toMatchObject({ response: null, at: null, estimated: false });
		expect(later[0]?.spoken).toBe("attempt 4 of 8");
	});

	it("uses the service's time for the next attempt rather than the log", () => {
		const [line] = buildTrack(made, delivery, PLAN);
		expect(line?.stations[2]?.at).toBe(due + 120_000);
	});

	// It once mentioned eight attempts and their default delays for any configuration.
	it("has the stations and delays from the service's configuration", () => {
		const [first] = series({ retried: 1, waits: [5_000] });
		const due = START + TOOK_MS + 5_000;
		const [line] = buildTrack([first!], { ...delivery, attempt: 2, next_retry_at: iso(due) }, SHORT_PLAN);
		expect(line?.total).toBe(3);
		expect(line?.stations.map(({ state }) => state)).toEqual(["passed", "current", "coming"]);
		expect(line?.stations[0]?.spoken).toBe(`attempt 1 of 3 at ${clock(START)} returned 500`);
		expect(line?.stations[2]).toMatchObject({ at: due + 5_000, estimated: true, wait: 5_000 });
	});

	it("predicts nothing for a series that started with other delays", () => {
		const before = series({ retried: 2, waits: [5_000, 5_000] });
		const [line] = buildTrack(before, { ...waiting, next_retry_at: before[1]!.next_retry_at }, PLAN);
		expect(line?.stations[2]?.at).not.toBeNull();
		expect(line?.stations.slice(3).every(({ at, wait }) => at === null && wait === null)).toBe(true);
		expect(line?.stations[3]?.spoken).toBe("attempt 4 of 8");
	});

	it("predicts nothing if only the attempts are known", () => {
		const [line] = buildTrack(made, null, PLAN);
		expect(line?.stations).toHaveLength(2);
		expect(line?.end).toBeNull();
	});

	it("is at its first station before anything was sent", () => {
		const [line] = buildTrack([], { state: "attempting", attempt: 1, replay: 0, next_retry_at: null }, PLAN);
		expect(line?.stations).toHaveLength(8);
		expect(line?.stations[0]).toMatchObject({ state: "current", at: null, spoken: "attempt 1 of 8, in progress" });
	});
});

describe("a failed series", () => {
	it("ends at its last station", () => {
		const made = series({ retried: 7, end: "failed" });
		const [line] = buildTrack(made, { ...over, state: "dead_lettered", attempt: 8 }, PLAN);
		expect(line?.end).toBe("failed");
		expect(line?.stations.at(-1)).toMatchObject({ number: 8, state: "failed", response: "500" });
	});

	it("keeps its length if the configuration has changed since", () => {
		const first = series({ retried: 2, end: "failed", waits: [5_000, 5_000] });
		const again = series({ replay: 1, retried: 1 });
		const delivery = { state: "attempting", attempt: 2, replay: 1, next_retry_at: again[0]!.next_retry_at } as const;
		expect(buildTrack([...first, ...again], delivery, PLAN).map(({ total }) => total)).toEqual([3, 8]);
	});

	it("may be closed early without a request", () => {
		const closed = { ...entry(0, 1, START), status: "failed", status_code: null, error_code: "expired" } as const;
		const [line] = buildTrack([closed], { ...over, state: "dead_lettered" }, PLAN);
		expect(line).toMatchObject({ total: 8, end: "failed" });
		expect(line?.stations).toHaveLength(1);
	});
});

// The line to an attempt that was retried early once said "1 h".
it("has the actual delay before an attempt that was made early or late, and otherwise the planned one", () => {
	const made = series({ retried: 2, end: "delivered" });
	const waitsFor = (lateMs: number) => {
		const last = { ...made[2]!, started_at: iso(Date.parse(made[2]!.started_at) + lateMs) };
		return buildTrack([...made.slice(0, 2), last], over, PLAN)[0]?.stations.map(({ wait }) => wait);
	};
	expect(waitsFor(900)).toEqual([null, 30_000, 60_000]);
	expect(waitsFor(-45_000)).toEqual([null, 30_000, 15_000]);
	expect(waitsFor(600_000)).toEqual([null, 30_000, 660_000]);
});

describe("replays", () => {
	it("are additional lines, in order", () => {
		const made = [...series({ replay: 1, retried: 0, end: "delivered" }), ...series({ retried: 7, end: "failed" })];
		const lines = buildTrack(made, { ...over, replay: 1 }, PLAN);
		expect(lines.map(({ replay, end }) => [replay, end])).toEqual([
			[0, "failed"],
			[1, "delivered"],
		]);
	});

	it("have a line as soon as they are requested", () => {
		const delivery = { state: "attempting", attempt: 1, replay: 1, next_retry_at: iso(START) } as const;
		const lines = buildTrack(series({ retried: 7, end: "failed" }), delivery, PLAN);
		expect(lines).toHaveLength(2);
		expect(lines[1]?.stations[0]).toMatchObject({ state: "current", at: START });
		expect(lines[1]?.end).toBeNull();
	});
});

// With delays of days, each time of day could be on any day.
it("names the day of each time that isn't on the first day", () => {
	const plan = { retry_delays: [60, 2 * 86_400, 400 * 86_400] };
	const waits = plan.retry_delays.map((seconds) => seconds * 1_000);
	const [line] = buildTrack(series({ retried: 2, waits }), { ...over, state: "attempting" }, plan);
	expect(line?.stations.map(({ day }) => day)).toEqual([
		null,
		null,
		expect.stringMatching(/^\d+ Nov$/),
		expect.stringMatching(/^\d+ Dec 2027$/),
	]);
	expect(line?.stations[2]?.spoken).toMatch(/^\d+ Nov: attempt 3 of 4, next at \d\d:\d\d:\d\d$/);
});

it("keeps a station for attempts that are no longer in the log", () => {
	const [line] = buildTrack(series({ retried: 3, end: "delivered" }).slice(2), over, PLAN);
	expect(line?.stations.map(({ number, attemptId }) => [number, attemptId])).toEqual([
		[1, null],
		[2, null],
		[3, "att_0_3"],
		[4, "att_0_4"],
	]);
	expect(line?.stations[0]?.spoken).toBe("attempt 1 of 8, no longer in the log");
});

it("numbers the stations of every line without gaps, with at most one current station", () => {
	const anySeries = fc.record({
		retried: fc.integer({ min: 0, max: 7 }),
		end: fc.constantFrom<("delivered" | "failed")[]>("delivered", "failed"),
	});
	fc.assert(
		fc.property(fc.array(anySeries, { minLength: 1, maxLength: 4 }), fc.boolean(), (given, underWay) => {
			const made = given.flatMap((each, replay) => series({ ...each, replay }));
			const replay = underWay ? given.length : given.length - 1;
			const state = underWay ? "attempting" : "delivered";
			const lines = buildTrack(made, { ...over, state, replay }, PLAN);
			expect(lines.map((line) => line.replay)).toEqual(Array.from({ length: replay + 1 }, (_, index) => index));
			for (const { stations, end, total } of lines) {
				expect(stations.map(({ number }) => number)).toEqual(stations.map((_, index) => index + 1));
				expect(stations.length).toBeLessThanOrEqual(total);
				expect(stations.filter(({ state }) => state === "current")).toHaveLength(end === null ? 1 : 0);
			}
		}),
	);
});

describe("seriesLength", () => {
	const position = { attempt: 3, status: "retrying", error_code: null } as const;
	it.each([
		["what the service makes", position, PLAN, 8],
		["what the service makes, however few", { ...position, attempt: 1 }, SHORT_PLAN, 3],
		[
			"one, where nothing is retried",
			{ ...position, attempt: 1, status: "delivered" as const },
			{ retry_delays: [] },
			1,
		],
		["more than were made, while it is retried", { ...position, attempt: 9 }, PLAN, 10],
		["what was used up, once it failed", { ...position, status: "failed" as const }, PLAN, 3],
		[
			"what the service makes, where it was closed unsent",
			{ ...position, status: "failed" as const, error_code: "expired" },
			PLAN,
			8,
		],
	])("is %s", (_, given, plan, length) => {
		expect(seriesLength(given, plan)).toBe(length);
	});
});

it.each([
	["up to 8 attempts", PLAN],
	["up to 3 attempts", SHORT_PLAN],
	["1 attempt", { retry_delays: [] }],
])("says that a new series gets %s", (words, plan) => {
	expect(newSeriesWords(plan)).toBe(words);
});

it.each([
	["retried, for a total of 8 attempts over about 1 hour 50 minutes", PLAN],
	["retried, for a total of 3 attempts over about 10 seconds", SHORT_PLAN],
	["not retried", { retry_delays: [] }],
])("says that a failed attempt is %s", (words, plan) => {
	expect(retryRule(plan)).toBe(words);
});

describe("rowStations", () => {
	it("shows the planned retries of an attempt", () => {
		const stations = rowStations({ attempt: 2, status: "retrying", error_code: null }, PLAN);
		expect(stations.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
		expect(stations.map(({ state }) => state)).toEqual([
			"passed",
			"passed",
			"current",
			...Array.from({ length: 5 }, () => "coming"),
		]);
	});

	it.each(["delivered", "failed"] as const)("ends where it was %s", (status) => {
		const stations = rowStations({ attempt: 2, status, error_code: null }, PLAN);
		expect(stations.map(({ state }) => state)).toEqual(["passed", status]);
	});
});

it.each([
	[0, "<1 s"],
	// This was "0 s", as if there were no delay.
	[200, "<1 s"],
	[30_000, "30 s"],
	[59_600, "1 min"],
	[90_000, "1 min 30 s"],
	[120_000, "2 min"],
	[1_795_000, "29 min"],
	[3_600_000, "1 h"],
	[5_400_000, "1.5 h"],
	// A retry is a little late: this was "1.0 h".
	[3_603_000, "1 h"],
	[48 * 3_600_000, "2 d"],
	[60 * 3_600_000, "2.5 d"],
])("writes a delay of %i ms as %s", (ms, words) => {
	expect(waitWord(ms)).toBe(words);
});

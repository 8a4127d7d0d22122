import { describe, expect, it } from "vitest";
import { type IncidentFacts, incidentAction, incidentCause, incidentResult, incidentSpan } from "./incident-words.ts";

const NOW = new Date(2026, 10, 21, 14, 30).getTime();
const at = (hour: number, minute: number, day = 21) => new Date(2026, 10, day, hour, minute).toISOString();
const DELIVERIES = { count: 80, capped: false, delivered: 80, waiting: 0, failed: 0, dismissed: 0 };
const OVER: IncidentFacts = {
	...{ state: "over", started_at: at(10, 34), ended_at: at(11, 21), status_code: 500, error_code: null },
	...{ deliveries: DELIVERIES, last_delivered_at: at(11, 31) },
};
const ONGOING: IncidentFacts = {
	...OVER,
	...{ state: "ongoing", ended_at: null, last_delivered_at: null },
	deliveries: { ...DELIVERIES, delivered: 0, waiting: 72, failed: 8 },
};
const withDeliveries = (about: Partial<IncidentFacts["deliveries"]>): IncidentFacts => ({
	...OVER,
	deliveries: { ...DELIVERIES, ...about },
});

describe("an incident", () => {
	it("has a time, with days where they matter", () => {
		expect(incidentSpan(OVER, NOW)).toBe("10:34–11:20");
		expect(incidentSpan(ONGOING, NOW)).toBe("Since 10:34");
		expect(incidentSpan({ ...OVER, started_at: at(23, 50, 20), ended_at: at(0, 11) }, NOW)).toBe(
			"20 Nov, 23:50–21 Nov, 00:10",
		);
		expect(incidentSpan({ ...OVER, started_at: at(9, 0, 20), ended_at: at(9, 6, 20) }, NOW)).toBe(
			"20 Nov, 09:00–09:05",
		);
		// Without its second day, it seemed to have lasted for an hour.
		expect(incidentSpan({ ...OVER, started_at: at(10, 34, 20) }, NOW)).toBe("20 Nov, 10:34–21 Nov, 11:20");
		// At 12:30:10, a past one ended at 12:31.
		expect(incidentSpan({ ...OVER, started_at: at(12, 30), ended_at: at(12, 31) }, NOW)).toBe("12:30");
		expect(incidentSpan({ ...OVER, started_at: at(23, 50, 20), ended_at: at(0, 0) }, NOW)).toBe("20 Nov, 23:50–23:59");
	});

	it("has a cause", () => {
		expect(incidentCause(OVER)).toBe("Returned 500");
		expect(incidentCause(ONGOING)).toBe("Returning 500");
		const refused = { status_code: null, error_code: "connection_refused" };
		expect(incidentCause({ ...OVER, ...refused })).toBe("Connection refused");
		expect(incidentCause({ ...ONGOING, ...refused })).toBe("Connection refused");
		// It lasts a few minutes longer, while nothing fails anymore.
		expect(incidentCause({ ...ONGOING, deliveries: DELIVERIES })).toBe("Returned 500");
		expect(incidentCause({ ...ONGOING, deliveries: { ...DELIVERIES, capped: true } })).toBe("Returning 500");
	});

	// It said "Returning 301" of a paused webhook.
	it("doesn't continue while its webhook is paused", () => {
		expect(incidentCause(ONGOING, true)).toBe("Returned 500 until it was paused");
		expect(incidentSpan(ONGOING, NOW, true)).toBe("From 10:34");
		expect(incidentCause({ ...ONGOING, status_code: null, error_code: "timeout" }, true)).toBe(
			"Failed until it was paused: timeout",
		);
		expect(incidentCause(OVER, true)).toBe("Returned 500");
		expect(incidentSpan(OVER, NOW, true)).toBe("10:34–11:20");
	});

	it("says what has become of its deliveries", () => {
		expect(incidentResult(OVER, NOW)).toBe("80 deliveries held up, all delivered by 11:31.");
		expect(incidentResult(withDeliveries({ count: 1, delivered: 1 }), NOW)).toBe(
			"1 delivery held up, delivered by 11:31.",
		);
		expect(incidentResult(ONGOING, NOW)).toBe("80 deliveries held up: 72 waiting, 8 failed for good.");
		expect(incidentResult(withDeliveries({ delivered: 0, waiting: 80 }), NOW)).toBe(
			"80 deliveries held up, all waiting.",
		);
		expect(incidentResult(withDeliveries({ count: 1, delivered: 0, failed: 1 }), NOW)).toBe(
			"1 delivery held up: 1 failed for good.",
		);
		expect(incidentResult(withDeliveries({ delivered: 78, dismissed: 2 }), NOW)).toBe(
			"80 deliveries held up: 78 delivered, 2 dismissed.",
		);
		expect(incidentResult(withDeliveries({ capped: true }), NOW)).toBe(
			"At least 80 deliveries held up. Of the newest 80: 80 delivered.",
		);
		expect(incidentResult(withDeliveries({ count: 0, delivered: 0 }), NOW)).toMatch(/no longer in the log/);
	});

	it("has one action that closes it, once it has ended", () => {
		expect(incidentAction(OVER)).toBeNull();
		expect(incidentAction(ONGOING)).toBeNull();
		expect(incidentAction(withDeliveries({ delivered: 70, waiting: 5, failed: 5 }))).toBe("retry");
		expect(incidentAction(withDeliveries({ delivered: 75, failed: 5 }))).toBe("replay");
	});
});

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { AttemptSummary } from "../storage/port.ts";
import { HEALTH, type HealthFigures, healthOf, healthWindowEnd, healthWindowStart, isDown } from "./health.ts";

const NOW = Date.UTC(2026, 10, 24, 10, 20, 30);
const MINUTE = 60_000;

const attempt = (startedAt: number): AttemptSummary => ({
	...{ id: "att_1", webhookId: "wh_1", seq: 1, eventId: "evt_1", eventType: "a", attempt: 1, replay: 0 },
	...{ status: "retrying", statusCode: 500, errorCode: null, error: null, startedAt, responseMs: 1 },
	...{ nextRetryAt: null, url: "https://a.example/" },
});

/** By default: one that has worked, whose last attempt was delivered in the window. */
const figures = (about: Partial<HealthFigures> = {}): HealthFigures => ({
	status: "active",
	secretState: "usable",
	lastAttempt: attempt(NOW - MINUTE),
	failingSince: null,
	failedInARow: 0,
	recent: { delivered: 1, failed: 0 },
	lastDeliveredAt: NOW - MINUTE,
	...about,
});

/** The last attempts have failed, the first of them so long ago. */
const failed = (count: number, agoMs: number, about: Partial<HealthFigures> = {}) =>
	figures({
		failingSince: attempt(NOW - agoMs),
		failedInARow: count,
		recent: { delivered: 0, failed: count },
		...about,
	});

const stateOf = (given: HealthFigures) => healthOf(given, NOW);
const recently = (delivered: number, failedCount: number) =>
	stateOf(figures({ recent: { delivered, failed: failedCount } }));

test("a paused webhook is paused; one never attempted is idle", () => {
	expect(stateOf(failed(9, MINUTE * 9, { status: "paused" }))).toBe("paused");
	expect(stateOf(figures({ lastAttempt: null, lastDeliveredAt: null, recent: { delivered: 0, failed: 0 } }))).toBe(
		"idle",
	);
	// A test was delivered, and nothing else was sent.
	expect(stateOf(figures({ lastAttempt: null, recent: { delivered: 0, failed: 0 } }))).toBe("idle");
});

test("failing: nothing can be signed, whatever earlier attempts say", () => {
	for (const secretState of ["unreadable", "lost"] as const) {
		expect(stateOf(figures({ secretState }))).toBe("failing");
		expect(stateOf(figures({ secretState, lastAttempt: null, lastDeliveredAt: null }))).toBe("failing");
		expect(stateOf(figures({ secretState, status: "paused" }))).toBe("paused");
	}
});

test("failing: three attempts in a row have failed, over a minute", () => {
	expect(stateOf(failed(3, 60_000))).toBe("failing");
	expect(stateOf(failed(2, 60_000))).toBe("unstable");
	expect(stateOf(failed(3, 59_999))).toBe("unstable");
	expect(stateOf(failed(10, 59_999))).toBe("unstable");
	// The window may have passed: nothing better is known.
	expect(stateOf(failed(3, 86_400_000, { recent: { delivered: 0, failed: 0 } }))).toBe("failing");
});

test("failing: nothing was ever delivered", () => {
	expect(stateOf(failed(1, 0, { lastDeliveredAt: null }))).toBe("failing");
	expect(stateOf(failed(1, 0))).toBe("unstable");
});

test("failing: fewer than one in ten of at least twenty attempts were delivered", () => {
	expect(recently(1, 19)).toBe("failing");
	expect(recently(2, 18)).toBe("unstable");
	expect(recently(1, 18)).toBe("unstable");
	expect(recently(0, 20)).toBe("failing");
	expect(recently(99, 901)).toBe("failing");
	expect(recently(100, 900)).toBe("unstable");
});

test("unstable: at least two attempts have failed, and one in twenty", () => {
	expect(recently(38, 2)).toBe("unstable");
	expect(recently(39, 2)).toBe("healthy");
	expect(recently(1, 1)).toBe("healthy");
	expect(recently(950, 50)).toBe("unstable");
	expect(recently(951, 50)).toBe("healthy");
});

test("unstable: the last attempt failed, and none was delivered in the window", () => {
	expect(stateOf(failed(1, 20 * MINUTE, { recent: { delivered: 0, failed: 0 } }))).toBe("unstable");
	expect(stateOf(failed(1, 10_000, { recent: { delivered: 0, failed: 1 } }))).toBe("unstable");
	expect(stateOf(failed(1, 10_000, { recent: { delivered: 1, failed: 1 } }))).toBe("healthy");
});

test("down: nothing was delivered in the window, or three attempts in a row have failed over a minute", () => {
	const recent = { delivered: 40, failed: 3 };
	expect(isDown(failed(3, 60_000, { recent }), NOW)).toBe(true);
	expect(isDown(failed(2, 60_000, { recent }), NOW)).toBe(false);
	expect(isDown(failed(3, 59_999, { recent }), NOW)).toBe(false);
	expect(isDown(failed(1, 0), NOW)).toBe(true);
	expect(isDown(failed(1, 20 * MINUTE, { recent: { delivered: 0, failed: 0 } }), NOW)).toBe(true);
	expect(isDown(figures({ recent: { delivered: 0, failed: 0 } }), NOW)).toBe(false);
});

test("does not flip at a receiver that accepts 87 of 100 attempts", () => {
	let [delivered, missed, failing] = [0, 0, 0];
	const states = new Set<string>();
	for (let i = 0; i < 400; i++) {
		// A fixed sequence, evenly spread.
		if ((i * 37) % 100 < 87) {
			delivered++;
			failing = 0;
		} else {
			missed++;
			failing++;
		}
		if (i < 100) continue;
		const since = failing === 0 ? null : attempt(NOW - failing * 1_000);
		states.add(stateOf(figures({ recent: { delivered, failed: missed }, failedInARow: failing, failingSince: since })));
	}
	expect([...states]).toEqual(["unstable"]);
});

test("the window is whole minutes, the current one included", () => {
	expect(healthWindowStart(NOW)).toBe(Date.UTC(2026, 10, 24, 10, 6));
	expect(healthWindowStart(Date.UTC(2026, 10, 24, 10, 20))).toBe(Date.UTC(2026, 10, 24, 10, 6));
	expect(healthWindowStart(Date.UTC(2026, 10, 24, 10, 19, 59, 999))).toBe(Date.UTC(2026, 10, 24, 10, 5));
	expect(healthWindowEnd(NOW)).toBe(Date.UTC(2026, 10, 24, 10, 26));
});

test("the documentation states the thresholds of the code", () => {
	const page = readFileSync(new URL("../../../../docs/concepts/health.md", import.meta.url), "utf8");
	const thresholds = page.split("\n").flatMap((line) => {
		const [, name, value] = /^\| `(\w+)` \| ([\d.]+)(%?) \|/.exec(line) ?? [];
		return name === undefined ? [] : [[name, line.includes(`${value}% |`) ? Number(value) / 100 : Number(value)]];
	});
	expect(Object.fromEntries(thresholds)).toEqual(HEALTH);
});

import { expect, it } from "vitest";
import { pendingDeliveriesOf, pendingOf, pendingWords } from "./pending.ts";

it.each([
	[2, 79, 81, "2 new events and 79 retries"],
	[1, 0, 1, "1 new event"],
	[0, 1, 1, "1 retry"],
	[0, 0, 0, ""],
])("counts %i first attempts and %i retries", (events, count, total, words) => {
	const pending = pendingOf({ backlog: { events, oldest_at: null }, waiting: { count, tests: 0, next_at: null } });
	expect(pending.total).toBe(total);
	expect(pendingWords(pending)).toBe(words);
});

it("leaves out tests from the deliveries", () => {
	const waiting = { count: 4, tests: 3, next_at: null };
	expect(pendingDeliveriesOf({ backlog: { events: 2, oldest_at: null }, waiting })).toEqual({
		first: 2,
		again: 1,
		total: 3,
	});
	expect(pendingDeliveriesOf(undefined).total).toBe(0);
});

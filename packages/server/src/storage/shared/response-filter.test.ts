import { expect, test } from "vitest";
import { ANY_RESPONSE, fitsResponse, NO_RESPONSE } from "../port/history.ts";
import { STATUS_CODE, statusesOf } from "./deliveries.ts";

const MOST = { maxScanned: 1 };

test("a range of status codes includes both ends, and no response is a code of its own", () => {
	const fits = (statusCode: number | null, from: number, to: number): boolean =>
		fitsResponse({ codes: [{ from, to }], ...MOST }, { seq: 1, statusCode, errorCode: null });
	expect([fits(404, 404, 404), fits(403, 404, 405), fits(406, 404, 405)]).toEqual([true, false, false]);
	expect([fits(null, 200, 299), fits(null, NO_RESPONSE, NO_RESPONSE)]).toEqual([false, true]);
});

test("an attempt fits by its error too", () => {
	const filter = { codes: [], errors: ["timeout"], ...MOST };
	expect(fitsResponse(filter, { seq: 1, statusCode: null, errorCode: "timeout" })).toBe(true);
	expect(fitsResponse(filter, { seq: 1, statusCode: null, errorCode: "refused" })).toBe(false);
});

test("attempts of test events, whose numbers are negative, can be left out", () => {
	const fits = (seq: number, withoutTests: boolean): boolean =>
		fitsResponse({ codes: ANY_RESPONSE, withoutTests, ...MOST }, { seq, statusCode: 999, errorCode: null });
	expect([fits(1, true), fits(-1, true), fits(-1, false)]).toEqual([true, false, true]);
});

test("searches delivered attempts only for a 2xx, and the others only for other responses", () => {
	const found = (from: number, to: number) => statusesOf({ response: { codes: [{ from, to }], ...MOST } });
	const others = statusesOf({}).filter((code) => code !== STATUS_CODE.delivered);
	expect(found(404, 404)).toEqual(others);
	expect(found(100, 199)).toEqual(others);
	expect(found(200, 299)).toEqual([STATUS_CODE.delivered]);
	expect(found(299, 300)).toEqual(statusesOf({}));
});

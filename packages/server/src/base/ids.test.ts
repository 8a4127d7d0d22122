import { expect, test } from "vitest";
import { type IdKind, IdSource, isId, lowestSuffixAt } from "./ids.ts";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const idAt = (kind: IdKind, at: number): string => new IdSource({ now: () => at }).next(kind);

/** A reference implementation to check the fast encoder. */
function decode(suffix: string): string {
	let value = 0n;
	for (const c of suffix) value = value * 32n + BigInt(ALPHABET.indexOf(c));
	return value.toString(16).padStart(32, "0");
}

test("an id is a UUIDv7 in base32 that carries its time, version and variant", () => {
	const at = Date.UTC(2199, 3, 5, 6, 7, 8, 912);
	const hex = decode(idAt("event", at).slice(4));
	expect(hex).toHaveLength(32);
	expect(Number.parseInt(hex.slice(0, 12), 16)).toBe(at);
	expect(hex[12]).toBe("7");
	expect("89ab").toContain(hex[16]);
});

test("ids of one source strictly increase, even thousands per millisecond and if the clock steps back", () => {
	const at = Date.UTC(2200, 0, 1);
	let i = 0;
	const source = new IdSource({ now: () => at - (i++ % 3) });
	const ids = Array.from({ length: 20_000 }, () => source.next("attempt"));
	expect(ids).toEqual([...ids].sort());
	expect(new Set(ids).size).toBe(ids.length);
	expect(ids.every((id) => isId("attempt", id))).toBe(true);
});

// Ids stayed in the future until the process ended, and the log's filter by time didn't find their attempts.
test("after a clock that was days ahead is set back, ids contain the time again, and increase", () => {
	const at = Date.UTC(2200, 0, 1);
	let now = at + 20 * 86_400_000;
	const source = new IdSource({ now: () => now });
	const ahead = source.next("attempt");
	now = at;
	const ids = Array.from({ length: 5_000 }, () => source.next("attempt"));
	expect(ids[0]! < ahead).toBe(true);
	expect(ids[0]!.slice(4) >= lowestSuffixAt(at) && ids[0]!.slice(4) < lowestSuffixAt(at + 1)).toBe(true);
	expect(ids).toEqual([...ids].sort());
});

test("the bound for a time is at or below every id of that time and above every earlier one", () => {
	const at = Date.UTC(2201, 0, 1);
	const before = idAt("attempt", at - 1).slice(4);
	const then = idAt("attempt", at).slice(4);
	expect(lowestSuffixAt(at) <= then).toBe(true);
	expect(lowestSuffixAt(at) > before).toBe(true);
});

test("rejects ids with a wrong prefix, length or letter, or an overflow", () => {
	const id = idAt("webhook", Date.now());
	expect(isId("webhook", id)).toBe(true);
	for (const wrong of [
		id.replace("wh_", "evt_"),
		`${id}0`,
		id.slice(0, -1),
		id.toUpperCase(),
		`wh_8${id.slice(4)}`,
		`wh_${"u".repeat(26)}`,
	])
		expect(isId("webhook", wrong), wrong).toBe(false);
});

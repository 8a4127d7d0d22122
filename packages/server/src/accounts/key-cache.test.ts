import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { beforeEach, expect, test } from "vitest";
import type { ApiKey } from "../storage/port.ts";
import { KeyCache } from "./api-keys.ts";

let clock: VirtualClock;
let cache: KeyCache;
beforeEach(() => {
	clock = new VirtualClock();
	cache = new KeyCache(clock);
});

const key = (id: string, projectId = "proj_1"): ApiKey => ({
	id,
	projectId,
	name: "",
	prefix: "phk_",
	scopes: [],
	expiresAt: null,
	createdBy: null,
	createdAt: 0,
	lastUsedAt: null,
});

test("a key is trusted for five seconds", () => {
	cache.add("hash", key("key_1"), cache.begin());
	clock.advance(4_999);
	expect(cache.get("hash")).toMatchObject({ id: "key_1" });
	clock.advance(1);
	expect(cache.get("hash")).toBeUndefined();
});

test("a hint invalidates only older cached keys of its project", () => {
	cache.add("one", key("key_1"), cache.begin());
	cache.add("two", key("key_2", "proj_2"), cache.begin());
	clock.advance(1_000);
	cache.hint(["proj_1", "proj_3"]);
	expect(cache.get("one")).toBeUndefined();
	expect(cache.get("two")).toMatchObject({ id: "key_2" });
});

// With a hint for every publish, each request would query storage.
test("a key that was just found is trusted for a moment, even with constant hints", () => {
	cache.hint(["proj_1"]);
	clock.advance(1);
	cache.add("hash", key("key_1"), cache.begin());
	for (let passed = 0; passed < 240; passed += 20) {
		clock.advance(20);
		cache.hint(["proj_1"]);
		expect(cache.get("hash")).toMatchObject({ id: "key_1" });
	}
	clock.advance(10);
	expect(cache.get("hash")).toBeUndefined();
});

// A key that was deleted on another node would have worked until that time came, and hints wouldn't have mattered.
test("a clock that was ahead and is set back doesn't extend the trust in a key", () => {
	clock.set(86_400_000);
	cache.add("one", key("key_1"), cache.begin());
	cache.add("two", key("key_2", "proj_2"), cache.begin());
	cache.hint(["proj_2"]);
	clock.set(-86_400_000);
	clock.advance(1_000);
	expect(cache.get("one")).toMatchObject({ id: "key_1" });
	expect(cache.get("two")).toBeUndefined();
	cache.hint(["proj_1"]);
	expect(cache.get("one")).toBeUndefined();
	cache.add("three", key("key_3"), cache.begin());
	clock.advance(5_000);
	expect(cache.get("three")).toBeUndefined();
});

test("a key isn't trusted for longer while the machine sleeps", () => {
	cache.add("one", key("key_1"), cache.begin());
	clock.set(5_000);
	expect(cache.get("one")).toBeUndefined();
});

// Storage returned the key, another node deleted it, and the result would have been cached after that.
test("a key that may have been deleted during its lookup isn't cached", () => {
	const hinted = cache.begin();
	cache.hint(["proj_1"]);
	cache.add("one", key("key_1"), hinted);
	expect(cache.get("one")).toBeUndefined();
	clock.advance(1);
	const deleted = cache.begin();
	cache.drop("key_2");
	cache.add("two", key("key_2"), deleted);
	expect(cache.get("two")).toBeUndefined();
});

test("limits the number of keys and hints, and drops the oldest first", () => {
	for (let i = 0; i <= 10_000; i++) cache.add(`hash ${i}`, key(`key_${i}`, `proj_${i}`), cache.begin());
	expect(cache.get("hash 0")).toBeUndefined();
	expect(cache.get("hash 1")).toMatchObject({ id: "key_1" });
	clock.advance(1_000);
	cache.hint(["proj_1", "proj_2"]);
	cache.hint(Array.from({ length: 9_999 }, (_, i) => `other_${i}`));
	expect(cache.get("hash 2")).toBeUndefined();
	// Its hint is forgotten: it is trusted for five seconds again.
	expect(cache.get("hash 1")).toMatchObject({ id: "key_1" });
});

test("clearing the cache also covers keys that are being looked up", () => {
	cache.add("one", key("key_1"), cache.begin());
	const lookup = cache.begin();
	cache.clear();
	cache.add("two", key("key_2"), lookup);
	expect([cache.get("one"), cache.get("two")]).toEqual([undefined, undefined]);
});

test("a key is trusted from the start of its lookup, however long it took", () => {
	const lookup = cache.begin();
	clock.advance(3_000);
	cache.add("hash", key("key_1"), lookup);
	clock.advance(1_999);
	expect(cache.get("hash")).toMatchObject({ id: "key_1" });
	clock.advance(1);
	expect(cache.get("hash")).toBeUndefined();
});

import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { expect, test } from "vitest";
import { UNAUTHENTICATED } from "../base/budgets.ts";
import { Guesses, TooManyGuesses } from "./tokens.ts";

const NETWORK = "192.0.2.0/24";

test("a previously valid token is looked up immediately, while others from its network wait", async () => {
	const ask = new Guesses(new VirtualClock()).from(NETWORK);
	expect(await ask("known", async () => "first")).toBe("first");
	const { promise, resolve } = Promise.withResolvers<null>();
	const strangers = Array.from({ length: 1 + UNAUTHENTICATED.lookupsWaiting }, (_, i) =>
		ask(`wrong ${i}`, () => promise),
	);
	await expect(ask("unknown", async () => "never")).rejects.toThrow(TooManyGuesses);
	expect(await ask("known", async () => "again")).toBe("again");
	resolve(null);
	expect(new Set(await Promise.all(strangers))).toEqual(new Set([null]));
});

// Others' keys, whose turn came after all of them, took seconds to check.
test("while a known token is looked up, all others who ask for it share its next lookup", async () => {
	const ask = new Guesses(new VirtualClock()).from(NETWORK);
	for (const token of ["busy", "other"]) await ask(token, async () => "first");
	const gates: PromiseWithResolvers<string>[] = [];
	const wait = () => {
		gates.push(Promise.withResolvers<string>());
		return gates.at(-1)!.promise;
	};
	const first = ask("busy", wait);
	const others = Array.from({ length: 100 }, () => ask("busy", wait));
	expect(gates).toHaveLength(1);
	expect(await ask("other", async () => "at once")).toBe("at once");
	gates[0]!.resolve("found");
	expect(await first).toBe("found");
	expect(gates).toHaveLength(2);
	const after = ask("busy", wait);
	// It fails for all of them, instead of again for each.
	gates[1]!.reject(new Error("lost"));
	await Promise.all(others.map((other) => expect(other).rejects.toThrow("lost")));
	expect(gates).toHaveLength(3);
	gates[2]!.resolve("again");
	expect(await after).toBe("again");
	expect(await ask("busy", async () => "alone")).toBe("alone");
});

test("a token that is no longer valid waits its turn", async () => {
	const ask = new Guesses(new VirtualClock()).from(NETWORK);
	await ask("deleted", async () => "first");
	expect(await ask("deleted", async () => null)).toBeNull();
	const { promise, resolve } = Promise.withResolvers<null>();
	const stranger = ask("wrong", () => promise);
	let isAsked = false;
	const waiting = ask("deleted", async () => {
		isAsked = true;
		return null;
	});
	await new Promise(setImmediate);
	expect(isAsked).toBe(false);
	resolve(null);
	await Promise.all([stranger, waiting]);
	expect(isAsked).toBe(true);
});

import { of } from "../mutation.ts";

/** The library for receivers. */
export const WEBHOOKS = [
	...of(
		"webhooks/src/verify.ts",
		["webhooks/test/verify.test.ts"],
		[
			{
				name: "verify-one-secret",
				find: "	for (const one of secrets) {",
				replace: "	for (const one of secrets.slice(0, 1)) {",
				why: "Requests signed with the other secret are refused while a secret is being rotated.",
			},
			{
				name: "verify-blank-secret",
				find: " || isMissingSecret(one)",
				replace: "",
				why: "If the secret's variable is unset, anyone can sign.",
			},
			{
				name: "verify-clock-nan",
				find: "if (Math.abs(age) <= tolerance) return timestamp;",
				replace: "if (!(Math.abs(age) > tolerance)) return timestamp;",
				why: "A clock that isn't a number accepts old requests.",
			},
			{
				name: "verify-repeated-timestamp",
				find: 'if (second !== undefined) throw new WebhookError("timestamp_repeated", repeated(name));',
				replace: "",
				why: "A second timestamp is ignored, and proxies may disagree on which one counts.",
			},
		],
	),
	...of(
		"webhooks/src/receiver.ts",
		["webhooks/test/receiver.test.ts"],
		[
			{
				name: "receiver-acknowledges-in-progress",
				find: 'refuse(503, "in_progress"',
				replace: 'refuse(200, "in_progress"',
				why: "A duplicate ends the retries while the handler may still fail.",
			},
		],
	),
	...of(
		"webhooks/src/options.ts",
		["webhooks/test/receiver.test.ts"],
		[
			{
				name: "receiver-keeps-first-secret",
				find: 'return async () => (await secret()) ?? "";',
				replace: 'return ((kept: Secret[]) => async () => (kept[0] ??= (await secret()) ?? ""))([]);',
				why: "After a rotation the receiver refuses every request until it restarts.",
			},
		],
	),
	...of(
		"webhooks/src/handlers.ts",
		["webhooks/test/receiver.test.ts"],
		[
			{
				name: "receiver-keeps-failed-claim",
				find: "		await store.release(key, token, held.retryMs).catch(onError);",
				replace: "",
				why: "After a failure, retries get 503 until the lease ends.",
			},
			{
				name: "receiver-inherited-handler",
				find: "Object.hasOwn(handlers, type)",
				replace: "(type in handlers)",
				why: "An event of the type `constructor` calls a function of every object.",
			},
		],
	),
	...of(
		"webhooks/src/lease.ts",
		["webhooks/test/receiver.test.ts"],
		[
			{
				name: "lease-renewed-once",
				find: "			this.#expireAfter(askedAt);\n			this.#renewLater();",
				replace: "			return;",
				why: "A handler that takes longer than two leases runs twice.",
			},
			{
				name: "lease-lost-silently",
				find: "		} else this.#lose();",
				replace: "		}",
				why: "A handler can't notice that another process may handle its event.",
			},
			{
				name: "lease-outlives-failures",
				find: "			onError(error);\n			if",
				replace: "			onError(error);\n			clearTimeout(this.#expiry);\n			if",
				tests: ["webhooks/test/lease.test.ts"],
				why: "A handler and another process's run at once while the store fails.",
			},
		],
	),
	...of(
		"webhooks/src/stores/sqlite.ts",
		["webhooks/test/stores.test.ts"],
		[
			{
				name: "sqlite-store-claims-done",
				find: "WHERE done = 0 AND due <= ? RETURNING 1`",
				replace: "WHERE due <= ? RETURNING 1`",
				why: "A duplicate of a finished event runs its handler again.",
			},
			{
				name: "sqlite-store-unfenced-finish",
				find: "due = ? WHERE key = ? AND token = ? AND done = 0 RETURNING 1`,\n	);\n	const release",
				replace: "due = ? WHERE key = ? AND ? IS NOT NULL AND done = 0 RETURNING 1`,\n	);\n	const release",
				why: "A process that lost its claim ends the claim of another.",
			},
		],
	),
	...of(
		"webhooks/src/adapters/node.ts",
		["webhooks/test/adapters.test.ts"],
		[
			{
				name: "node-adapter-unbounded",
				find: "			if (size > maxBytes) stop(new BodyTooLargeError(maxBytes));",
				replace: "",
				why: "A body without a length can fill the receiver's memory.",
			},
		],
	),
];

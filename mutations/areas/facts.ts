import { of } from "../mutation.ts";
import { inApi, inStore } from "../tests.ts";

/** What the store reports, and the events that follow. */
export const FACTS = [
	...of("server/src/store/baskets.ts", inStore("basket-timer"), [
		{
			name: "basket-timer-touch-slept-over",
			find: "this.#sleepUntil(Math.min(next, this.#wakeAt));",
			replace: "this.#sleepUntil(next);",
			why: "A basket touched during the timer's lookup is abandoned hours late.",
			review: "basket-timer.ts: a touch is slept over",
		},
		{
			name: "basket-timer-locked-each-batch",
			find: 'if (pass.locked.has(projectId)) return "locked";',
			replace: "",
			why: "A project whose rows are locked delays each batch of baskets.",
		},
		{
			name: "basket-timer-later-wakes",
			find: "if (at < this.#wakeAt) this.#sleepUntil(at);",
			replace: "this.#sleepUntil(at);",
			why: "Each touch delays the baskets that are due before it.",
		},
		{
			name: "basket-timer-all-or-none",
			find: "if (baskets.length > 1) return",
			replace: "if (baskets.length < 1) return",
			tests: inStore("baskets"),
			only: "can't be abandoned",
			why: "One basket whose event is refused keeps all others of its project from being abandoned.",
		},
		{
			name: "basket-timer-same-first",
			find: "rotated(baskets, this.#searches++)",
			replace: "rotated(baskets, 0)",
			tests: inStore("baskets"),
			only: "can't be abandoned",
			why: "Refused baskets keep others that are claimed with them from being abandoned.",
		},
		{
			name: "basket-timer-refused-first",
			find: "await this.#abandonDue(pass, this.#refused)",
			replace: "await this.#abandonDue(pass)",
			tests: inStore("baskets"),
			only: "delays those of others",
			why: "A project with many refused baskets delays those of all others for minutes.",
		},
		{
			name: "basket-timer-each-alone",
			find: "if (failed === MAX_FAILED) {",
			replace: "if (failed < 0) {",
			why: "While storage refuses every event, each basket is tried separately every few seconds.",
		},
		{
			name: "basket-timer-newest-first",
			find: "a.touchedAt - b.touchedAt",
			replace: "b.touchedAt - a.touchedAt",
			why: "After a downtime abandoned baskets come in the wrong order.",
		},
		{
			name: "basket-timer-not-sent",
			find: "if (appended.length > 0) engine.appended(projectId, appended);",
			replace: "",
			tests: inStore("baskets"),
			only: "on SQLite",
			why: "An abandoned basket is reported when the project next wakes.",
		},
	]),
	...of("server/src/store/baskets.ts", inStore("basket-timer"), [
		{
			name: "baskets-timer-told-after",
			find: "\t\t\tthis.#options.onTouched(dueAt);\n\t\t\tconst kind = await this.#recorder.storage.touchBasket({ projectId, touch: { basketId, at, dueAt, data } });",
			replace:
				"\t\t\tconst kind = await this.#recorder.storage.touchBasket({ projectId, touch: { basketId, at, dueAt, data } });\n\t\t\tthis.#options.onTouched(dueAt);",
			why: "A basket that storage kept despite an error is abandoned hours late.",
			review: "baskets.ts: a touch is slept over",
		},
		{
			name: "baskets-empty-is-kept",
			find: "const removed = await this.remove(projectId, basketId);",
			replace: 'const removed = { kind: "removed" } as RemoveResult;',
			tests: inStore("baskets"),
			only: "emptied, removed or bought",
			why: "A basket that was emptied is reported as abandoned.",
		},
	]),
	...of("server/src/base/text.ts", inStore("store"), [
		{
			name: "customer-second-normalization",
			find: '.toLowerCase().normalize("NFKC")',
			replace: ".toLowerCase()",
			only: "addresses identify a customer",
			why: "A few letters whose lower case is not in compatibility form make two customers of one.",
			review: "customer.ts: no second NFKC",
		},
		{
			name: "customer-case",
			find: ".toLowerCase()",
			replace: "",
			only: "addresses identify a customer",
			why: "An address in capitals is another customer.",
		},
	]),
	...of("server/src/store/orders.ts", inStore("store"), [
		{
			name: "orders-basket-not-in-digest",
			find: "digest: digestOf({ ...purchase, basket_id }),",
			replace: "digest: digestOf(purchase),",
			only: "on SQLite",
			why: "An order reported again with another basket is reported as recorded, and that basket as abandoned.",
			review: "orders.ts: the basket is not in the digest",
		},
		{
			name: "orders-address-with-blanks",
			find: "const customer_email = input.customer_email.trim();",
			replace: "const { customer_email } = input;",
			tests: ["server/src/api/facts.test.ts", "server/src/api/facts-orders.test.ts"],
			why: "An address with a trailing space is refused, or reaches receivers with the space.",
		},
		{
			name: "orders-result-of-another",
			find: '("orderId" in each ? results.next().value! : each)',
			replace: '("orderId" in each ? [...results].at(-1)! : each)',
			tests: ["server/src/api/facts-orders.test.ts", "server/src/api/facts.test.ts"],
			why: "In a batch each order gets another one's result.",
		},
	]),
	...of("server/src/store/recorder.ts", inStore("store"), [
		{
			name: "digest-order-of-members",
			find: ".sort(([a], [b]) => (a < b ? -1 : 1))",
			replace: "",
			only: "a digest depends on values",
			why: "The same report with its members in another order is a conflict.",
		},
		{
			name: "digest-without-names",
			find: "JSON.stringify(name)}:",
			replace: '""}',
			only: "a digest depends on values",
			why: "Two reports with the same values under other names count as one.",
		},
	]),
	...of("server/src/store/recorder.ts", inStore("queue"), [
		{
			name: "recorder-room-never-given-back",
			find: "\t\t\tqueue.give(projectId, weight);\n",
			replace: "",
			only: "on SQLite",
			why: "After a few minutes every fact is refused as busy.",
		},
		{
			name: "recorder-batch-weighs-one",
			find: "bytes + facts * FACT_BYTES",
			replace: "bytes + FACT_BYTES",
			why: "Batches of thousands of tiny orders pass the bound of the queue.",
			tests: inStore("recorder"),
		},
		{
			name: "recorder-not-sent",
			find: "this.#options.engine.appended(projectId, appended);",
			replace: "",
			tests: inStore("store"),
			only: "on SQLite",
			why: "What follows from a fact is sent when the project next wakes.",
		},
		{
			name: "recorder-size-in-characters",
			find: "const bytes = Buffer.byteLength(data);",
			replace: "const bytes = data.length;",
			why: "Facts of other alphabets make events larger than is allowed.",
			tests: inStore("recorder"),
		},
	]),
	...of("server/src/store/orders.ts", inStore("store"), [
		{
			name: "refunds-whole-is-partial",
			find: "partial: candidate(true),\n\t\t\t\t\twhole: candidate(false),",
			replace: "partial: candidate(false),\n\t\t\t\t\twhole: candidate(true),",
			only: "any series of facts",
			why: "Full refunds are reported as partial, and vice versa.",
		},
	]),
	...of("server/src/api/routes/publishing/orders.ts", inApi("facts"), [
		{
			name: "refunds-of-nothing",
			find: 'amountCents(1, "The amount refunded',
			replace: 'amountCents(0, "The amount refunded',
			only: "refunds are partial",
			why: "A refund of zero is recorded and reported as partial.",
		},
	]),
	...of("server/src/store/orders.ts", inStore("store"), [
		{
			name: "deliverables-any-outcome",
			find: "data, { orderId, deliverableId, ...input });",
			replace: "data, { orderId, deliverableId });",
			only: "on SQLite",
			why: "A deliverable that failed and is then reported as delivered is reported as recorded.",
		},
	]),
	...of(
		"server/src/store/recorder.ts",
		["server/src/api/facts-limits.test.ts"],
		[
			{
				name: "payload-id-in-url",
				find: "id.length <= ID_LENGTH && encodeURIComponent(id).length <= ID_LENGTH",
				replace: "id.length <= ID_LENGTH",
				why: "An id is recorded that no later call can name.",

				tests: inStore("payload"),
			},
			{
				name: "payload-inexact-numbers",
				find: "Number.isInteger(value) && !Number.isSafeInteger(value)",
				replace: "Number.isInteger(value) && Number.isNaN(value)",
				why: "An item's number that lost digits is sent as another product's.",

				tests: inStore("payload"),
			},
		],
	),
];

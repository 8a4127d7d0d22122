import fc from "fast-check";
import type { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PostgresServer } from "../../../../../testkit/src/postgres/postgres.ts";
import { ENCODINGS, SharedDatabase } from "../../../../test/storage/postgres/publish.ts";
import { faultsOf } from "../../../engine/publish/check.ts";

/** All results in one statement. */
const AT_ONCE = 200;

let server: PostgresServer;
let databases: SharedDatabase[];
let clients: Client[];

beforeAll(async () => {
	server = await PostgresServer.start();
	databases = await Promise.all(ENCODINGS.map((encoding) => SharedDatabase.open(server, encoding)));
	clients = await Promise.all(databases.map((database) => database.connect()));
});
afterAll(async () => {
	await Promise.all(databases.map((database) => database.close()));
	await server.stop();
});

const number = fc.constantFrom(
	...[
		"0",
		"-0",
		"1",
		"-1",
		"1.0",
		"1.5",
		"-0.5",
		"0.0",
		"1e2",
		"1E+2",
		"15e-1",
		"1e400",
		"-1e400",
		"1e-400",
		"-1e-400",
		"9007199254740991",
		"9007199254740992",
		"-9007199254740992",
		"100.0",
	],
	...["9007199254740993", "1.00000000000000000001", "0.99999999999999999999", `1${"0".repeat(400)}`],
);
const text = fc.constantFrom(
	...[
		'""',
		'"o"',
		'"\\u0000"',
		'"\\ud800"',
		'"\\\\u0000"',
		'"EUR"',
		'"eur"',
		'"EUR\\n"',
		'"\\u0045UR"',
		'"ÉUR"',
		'"EU"',
		'"ABC"',
		'"XXX"',
	],
	...[
		'"a@b"',
		'"a@b@c"',
		'"@b"',
		'"a b@c"',
		'"a\u2003@c"',
		'"a\ufeff@c"',
		'"a\\u200a@c"',
		'"a\u200b@c"',
		'"a\\n@c"',
		'"@"',
	],
	...[
		'"\\\\@\\u0000"',
		'"\\ud83d\\ude00@\\ude00"',
		'"\u{1f600}@\u{1f600}"',
		'"a\\u0040b"',
		'"a\u0085@c"',
		'"\u180ea@c"',
	],
	...[310, 311, 318, 319].map((n) => `"${"\u{1f600}".repeat(n)}@"`),
	...[317, 318, 319].map((n) => `"${"\\uD83D\\uDE00".repeat(n)}@b"`),
	...[318, 319].map((n) => `"${"\\ud800a".repeat(n / 2)}@b"`),
);
const scalar = fc.oneof(number, text, fc.constantFrom("true", "false", "null", "{}", "[]"));

/** An object with these members, each of which may be missing, wrong, or duplicated. */
function object(valid: Readonly<Record<string, fc.Arbitrary<string>>>): fc.Arbitrary<string> {
	const members = Object.entries(valid).map(([name, good]) => {
		const one = fc.oneof({ weight: 12, arbitrary: good }, { weight: 1, arbitrary: scalar });
		const count = fc.constantFrom(...Array(28).fill(1), 0, 2);
		return fc.tuple(count, one, one).map(([n, ...values]) => values.slice(0, n).map((value) => `"${name}":${value}`));
	});
	const more = fc.constantFrom(
		[],
		['"more":"\\u0000"'],
		['"\\u0000":{"order_id":1}'],
		['"__proto__":{"order_id":"o"}'],
	);
	return fc.tuple(more, ...members).map((all) => `{${all.flat().join(" , ")}}`);
}

const amount = fc.constantFrom("0", "-0", "1", "2997", "9007199254740991");
const items = fc
	.array(
		fc.oneof(
			{
				weight: 20,
				arbitrary: object({
					product_id: fc.constantFrom('"p"', "1", '""'),
					name: fc.constant('"n"'),
					quantity: fc.constantFrom("1", "0.5"),
					unit_amount_cents: amount,
				}),
			},
			{ weight: 1, arbitrary: scalar },
		),
		{ maxLength: 3 },
	)
	.map((all) => `[${all.join(",")}]`);
const identifier = fc.constantFrom('"o"', '" "', '"\\u0000"');
const currency = fc.constantFrom('"EUR"', '"\\u0045UR"');
const data: Readonly<Record<string, fc.Arbitrary<string>>> = {
	"purchase.completed": object({
		order_id: identifier,
		customer_email: fc.oneof(fc.constant('"a@b"'), text),
		amount_cents: amount,
		currency,
		items,
	}),
	"purchase.refunded": object({
		order_id: identifier,
		refund_id: identifier,
		amount_cents: amount,
		currency,
		partial: fc.constantFrom("true", "false"),
	}),
};

test.each(Object.keys(data).flatMap((type) => ENCODINGS.map((encoding, i) => [type, encoding, i] as const)))(
	"%s data is refused exactly when the API refuses it, for one of its reasons: %s",
	async (type, _, i) => {
		const seen = { valid: 0, refused: 0 };
		const batch = fc.array(data[type]!, { minLength: AT_ONCE, maxLength: AT_ONCE });
		const check = fc.asyncProperty(batch, async (sources) => {
			const { rows } = await clients[i]!.query<{ fault: string | null }>(
				"SELECT posthorn.data_fault($1, source) AS fault FROM unnest($2::text[]) WITH ORDINALITY AS s (source, n) ORDER BY n",
				[type, sources],
			);
			for (const [i, { fault }] of rows.entries()) {
				const faults = faultsOf({ type, data: sources[i]! }, 0);
				const pointers = faults.map(({ pointer }) => pointer);
				seen[fault === null ? "valid" : "refused"] += 1;
				if (fault === null) expect(pointers, sources[i]).toEqual([]);
				else expect(pointers, sources[i]).toContain(fault.split(" ")[0]);
			}
		});
		await fc.assert(check, { numRuns: 10, endOnFailure: true });
		expect(Math.min(seen.valid, seen.refused)).toBeGreaterThan(AT_ONCE);
	},
);

import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { openServer, useStage } from "./client.fixture.ts";

const on = useStage();

/** A service whose delivery log has these attempts, newest first, of these webhooks, until the end of the block. */
const serviceWith = (attempts: readonly object[], webhooks: readonly object[] = []) =>
	openServer(
		createServer(({ url }, response) =>
			response
				.setHeader("content-type", "application/json")
				.setHeader("posthorn-api", "v1")
				.end(JSON.stringify({ data: url!.includes("summaries") ? attempts : webhooks, next_cursor: null })),
		),
	);

const ATTEMPT = {
	...{ id: "att_1", webhook_id: "wh_1", event_id: "evt_1", order_id: null, replay: 0, attempt: 1 },
	...{ event_type: "delivery.success", status: "delivered", status_code: 200, error_code: null, response_ms: 7 },
	...{ started_at: "2026-11-20T12:00:00.000Z", url: "https://example.com/" },
};

// They only had the time of day.
test("attempts of other days have a date", async () => {
	const days = ["2026-11-20T12:00:00.000Z", "2026-11-20T12:00:01.000Z", "2026-11-21T12:00:00.000Z"];
	await using service = await serviceWith(days.toReversed().map((started_at) => ({ ...ATTEMPT, started_at })));
	const url = `http://127.0.0.1:${service.port}`;
	const { out } = await on.user.run(["logs", "list", "--url", url, "--project", "proj_1"], { env: { TZ: "UTC" } });
	expect(out.split("\n").map((line) => line.slice(0, 15))).toEqual([
		...["Fri Nov 20 2026", "12:00:00  ✔ del", "12:00:01  ✔ del", "Sat Nov 21 2026", "12:00:00  ✔ del", ""],
	]);
});

/** The lines that a command shows in a terminal of this width. */
async function linesAt(columns: number, command: string): Promise<string[]> {
	const { shown } = await on.user.runAtTerminal(`stty cols ${columns}; NO_COLOR=1 posthorn ${command}`);
	return shown.split("\r\n").slice(0, -1);
}

/** Columns of a line in which each character other than ASCII and an ellipsis takes two. */
const columnsOf = (line: string) => [...line].reduce((sum, one) => sum + (/[\0-~…]/.test(one) ? 1 : 2), 0);

describe.runIf(process.platform === "linux")("in a terminal", () => {
	// The data was cut without regard to the terminal's width, then through an emoji, then after twice as many columns.
	test("events are cut to the terminal's width", async () => {
		await on.project.publish({ id: "evt_wide", type: "delivery.success", data: { note: "📦".repeat(40) } });
		const line = (await linesAt(60, "events list")).find((one) => one.includes("evt_wide"))!;
		expect(line).toMatch(/ \{"note":"(?:📦)+…$/u);
		expect([59, 60]).toContain(columnsOf(line));
	});

	// Long order ids, and at 80 columns every row, took two lines.
	test("attempts fit into the terminal's lines", async () => {
		const shown = { ...ATTEMPT, event_id: `evt_${"0".repeat(26)}`, order_id: "x".repeat(200) };
		const failed = { ...shown, status: "failed", status_code: null, error_code: "malformed_response" };
		const other = { ...shown, webhook_id: `wh_${"0".repeat(26)}`, order_id: "ord_7" };
		await using service = await serviceWith([shown, failed, other]);
		const args = `logs list --url http://127.0.0.1:${service.port} --project proj_1`;
		const rows = async (columns: number) => (await linesAt(columns, args)).filter((row) => row.includes("evt_"));
		for (const columns of [80, 100, 120, 160, 200])
			for (const row of await rows(columns)) {
				expect(row.length, row).toBeLessThanOrEqual(columns);
				expect(row).toContain(shown.event_id);
			}
		expect((await rows(80)).map((row) => row.slice(73))).toEqual(["200", "malfor…", "200"]);
		// The webhook's id tells more than the duration.
		expect((await rows(120))[0]!.slice(73)).toBe(`200  order ord_7  ${other.webhook_id}`);
		expect((await rows(200)).map((row) => row.slice(73))).toEqual([
			`    7 ms  200  order ord_7  ${other.webhook_id}  https://example.com/`,
			`    7 ms  malformed_response  order ${"x".repeat(23)}…  wh_1  https://example.com/`,
			`    7 ms  200  order ${"x".repeat(23)}…  wh_1  https://example.com/`,
		]);
		// A file gets everything.
		const { out } = await on.user.run(args.split(" "));
		expect(out).toContain(`  order ${shown.order_id}  wh_1  https://example.com/\n`);
	});

	// Nothing in 80 or 100 columns said which of the webhooks had failed.
	test("attempts in a narrow terminal say which webhook they failed for", async () => {
		const delivered = { ...ATTEMPT, event_id: `evt_${"0".repeat(26)}`, order_id: "ord_10082" };
		const retrying = { status: "retrying", status_code: 503, webhook_id: "wh_2", url: "https://example.net/" };
		const attempts = [delivered, { ...delivered, ...retrying }];
		const webhooks = [{ id: "wh_2", description: "通知".repeat(50) }];
		const linesOf = async (columns: number, listed: readonly object[]) => {
			await using service = await serviceWith(listed, webhooks);
			const args = `logs list --url http://127.0.0.1:${service.port} --project proj_1`;
			return (await linesAt(columns, args)).slice(1);
		};
		const [named, hint, other] = await linesOf(80, attempts);
		expect(named!.slice(71)).toBe("  503");
		expect(named).toContain("↻");
		expect(hint).toBe(`${" ".repeat(12)}wh_2  ${"通知".repeat(15)}…`);
		expect(other!.slice(71)).toBe("  200");
		expect((await linesOf(100, attempts)).map((line) => line.slice(71))).toEqual([
			"  503  通知通知通知通知通知…",
			"  200  https://example.com/",
		]);
		// One webhook's attempts need no name.
		expect(await linesOf(80, [attempts[1]!])).toHaveLength(1);
	});

	// Lists of webhooks took several lines each at 80 and 120 columns.
	test("webhooks fit into the terminal's lines", async () => {
		const id = `wh_${"0".repeat(26)}`;
		const one = { id, status: "active", url: `https://example.com/${"x".repeat(60)}`, description: "" };
		const events = ["purchase.completed", "purchase.refunded", "basket.abandoned"];
		const webhook = { ...one, events, backlog: { events: 0, oldest_at: null } };
		const shownAt = async (columns: number, listed: object) => {
			await using service = await serviceWith([], [{ ...webhook, ...listed }]);
			const args = `webhooks list --url http://127.0.0.1:${service.port} --project proj_1`;
			return await linesAt(columns, args);
		};
		const fixed = `${id}  idle    0        `;
		expect(await shownAt(80, {})).toEqual([
			`ID${" ".repeat(29)}HEALTH  WAITING  URL                   EVENTS`,
			`${fixed}https://example.com…  purchase.…`,
		]);
		expect((await shownAt(80, { description: "通知" }))[1]).toBe(`${fixed}https://example.co…  通知`);
		expect((await shownAt(100, { description: "通知" }))[1]).toBe(
			`${fixed}https://example.com/xxxxxx…  通知         purchase.…`,
		);
		expect((await shownAt(250, {}))[1]).toBe(`${fixed}${webhook.url}  ${events.join(", ")}`);
		expect((await shownAt(40, {}))[1]).toBe(fixed.trimEnd());
	});

	// Two webhooks get the same event, and 120 columns left 15 for their names, of which none was shown.
	test("attempts show a webhook's description where its URL doesn't fit", async () => {
		const shown = { ...ATTEMPT, event_id: `evt_${"0".repeat(26)}`, order_id: "ord_10082" };
		await using service = await serviceWith([shown], [{ id: "wh_1", description: "Chat notices" }]);
		const args = `logs list --url http://127.0.0.1:${service.port} --project proj_1`;
		const [, row] = await linesAt(120, args);
		expect(row!.slice(73)).toBe("    7 ms  200  order ord_10082  Chat notices  …");
	});
});

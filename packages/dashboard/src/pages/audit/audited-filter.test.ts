import { expect, it } from "vitest";
import { auditedFilterOf, deliveriesSearch } from "./audited-filter.ts";

it("reads a filter as the log's, with what was shortened", () => {
	const whole = {
		...{ webhook_id: "wh_1", type: ["purchase.completed", "purchase.refunded"], status: "failed" },
		...{ status_code: ["5xx"], error: ["timeout"], since: "2026-11-21T14:00:00.000Z" },
	};
	expect(auditedFilterOf({ filter: whole, count: 3 })).toEqual({
		search: {
			...{ webhook_id: "wh_1", type: "purchase.completed,purchase.refunded", status: "failed" },
			...{ response: "5xx,timeout", since: "2026-11-21T14:00:00.000Z" },
		},
		customers: 0,
		isWhole: true,
	});
	const short = { order_id: ["1", "2", "3", "4", "5", "and 3 more"], customer_emails: 2 };
	expect(auditedFilterOf({ filter: short })).toEqual({
		search: { order_id: "1,2,3,4,5,3 more" },
		...{ customers: 2, isWhole: false },
	});
	expect(auditedFilterOf({ filter: {} })).toEqual({ search: {}, customers: 0, isWhole: true });
	expect(auditedFilterOf({ count: 3 })).toBeNull();
});

it("links to what is left of the filter", () => {
	const search = { type: "purchase.completed", status: "failed" };
	expect(deliveriesSearch(search, "deliveries.replayed")).toEqual({ type: "purchase.completed" });
	expect(deliveriesSearch(search, "deliveries.dismissed")).toEqual({ type: "purchase.completed", state: "failed" });
});

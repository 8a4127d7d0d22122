import { describe, expect, it } from "vitest";
import { type AuditEntry, auditSentence, deliveriesIn } from "./audit.ts";

const entry = (action: string, rest: Partial<AuditEntry> = {}): AuditEntry => ({
	id: "aud_1",
	at: "2026-11-21T14:02:11.123Z",
	actor: { kind: "account", id: "acc_1", name: "Anna" },
	action,
	target: { kind: "webhook", id: "wh_1", name: "Accounting" },
	detail: {},
	...rest,
});

const read = (of: AuditEntry) => {
	const { actor, before, target, after } = auditSentence(of);
	return `${actor} ${before}${target ?? ""}${after}.`;
};

const person = { kind: "account", id: "acc_2", name: "Ben" };

describe("auditSentence", () => {
	it.each([
		[entry("webhook.created"), "Anna created the webhook Accounting."],
		[
			entry("webhook.changed", { detail: { fields: ["url", "events", "max_in_flight"] } }),
			"Anna changed the URL, events and events in flight of the webhook Accounting.",
		],
		[
			entry("webhook.changed", {
				detail: { fields: ["url"], from: { url: "https://a.example/" }, to: { url: "https://b.example/" } },
			}),
			"Anna changed the URL of the webhook Accounting, from https://a.example/ to https://b.example/.",
		],
		[
			entry("webhook.changed", { detail: { fields: ["events"], from: { events: ["a"] }, to: { events: ["b"] } } }),
			"Anna changed the events of the webhook Accounting.",
		],
		[
			entry("webhook.resumed", { detail: { from: "now" } }),
			"Anna resumed the webhook Accounting, skipping its backlog.",
		],
		[
			entry("app.removed", { target: { kind: "app", id: "developer", name: null } }),
			"Anna removed the app Developer, which paused every webhook.",
		],
		[entry("member.role_changed", { target: person, detail: { role: "owner" } }), "Anna made Ben an owner."],
		[entry("member.joined", { target: person, detail: { role: "viewer" } }), "Anna joined the project as a viewer."],
		[
			entry("member.invited", { target: null, detail: { role: "developer" } }),
			"Anna created an invitation link for a developer.",
		],
		[
			entry("deliveries.replayed", { target: null, detail: { count: 1_234 } }),
			"Anna replayed 1,234 deliveries of the project.",
		],
		[entry("deliveries.retried", { detail: { count: 2 } }), "Anna retried 2 deliveries of Accounting early."],
		[
			entry("deliveries.dismissed", { target: null, detail: { count: 3 } }),
			"Anna dismissed 3 failed deliveries of the project.",
		],
		[
			entry("deliveries.dismissed", { target: null, detail: { count: 1 } }),
			"Anna dismissed 1 failed delivery of the project.",
		],
		[entry("deliveries.replayed", { target: null, detail: { count: 1 } }), "Anna replayed 1 delivery of the project."],
		[entry("deliveries.retried", { detail: { count: 1 } }), "Anna retried 1 delivery of Accounting early."],
		[entry("webhook.deleted", { target: null }), "Anna deleted the webhook."],
		[
			entry("webhook.paused", { detail: { reason: "seal_key_lost" } }),
			"Anna paused the webhook Accounting, because the seal key was lost.",
		],
		[
			entry("webhook.secret_lost", { detail: { reason: "seal_key_lost" } }),
			"Anna discarded the signing secret of the webhook Accounting, because the seal key was lost: rotate it before you resume the webhook.",
		],
	])("reads %o", (of, sentence) => {
		expect(read(of)).toBe(sentence);
	});

	it("names programs as such", () => {
		expect(read(entry("webhook.paused", { actor: { kind: "api_key", id: "key_1", name: "CI" } }))).toBe(
			"API key CI paused the webhook Accounting.",
		);
		expect(read(entry("webhook.paused", { actor: { kind: "operator_key", id: null, name: null } }))).toBe(
			"The operator's key paused the webhook Accounting.",
		);
	});

	it("names the deliveries of a selection", () => {
		const deliveries = [{ webhook_id: "wh_1", event_id: "evt_1" }];
		expect(deliveriesIn(entry("deliveries.replayed", { detail: { deliveries, count: 3 } }))).toEqual(deliveries);
		for (const other of [undefined, "evt_1", [null, "evt_1", { event_id: "evt_1" }]])
			expect(deliveriesIn(entry("deliveries.replayed", { detail: { deliveries: other } }))).toEqual([]);
	});

	it("describes an unknown action", () => {
		expect(read(entry("webhook.painted"))).toBe("Anna did webhook.painted to Accounting.");
		expect(read(entry("constructor"))).toBe("Anna did constructor to Accounting.");
	});
});

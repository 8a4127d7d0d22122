import { of } from "../../mutation.ts";
import { inAccounts, inApi, inEngine, inVerbs, SQLITE } from "../../tests.ts";

/** Cold verbs: written once, so caught once, on SQLite. */
export const STORAGE_VERBS = [
	...of("server/src/storage/port/accounts.ts", inApi("roles"), [
		{
			name: "roles-above-itself",
			find: "ROLES.indexOf(role) >= ROLES.indexOf(needed)",
			replace: "ROLES.indexOf(role) > ROLES.indexOf(needed)",
			why: "Owners may not do what takes an owner.",
		},
	]),
	...of("server/src/engine/retention.ts", inEngine("retention"), [
		{
			name: "retention-ahead-takes-turn",
			find: "if (!Number.isFinite(now)) return;",
			replace: "",
			why: "While the clock of one node isn't trusted, its empty passes take the place of those that delete.",
		},
		{
			name: "retention-replaced-goes-on",
			find: " && (await this.#keeps()); ) {",
			replace: "; ) {",
			why: "A node that was frozen continues next to the one that replaced it.",
		},
	]),
	...of("server/src/engine/retention-clock.ts", inEngine("retention-clock"), [
		{
			name: "retention-clock-believes-jumps",
			find: "return Math.min(clock.now(), this.#trusted.now + elapsed + SLACK_MS);",
			replace: "return clock.now();",
			why: "A clock that jumps ahead deletes the log before the jump is noticed.",
		},
	]),
	...of("server/src/storage/verbs/settings.ts", inEngine("retention-clock"), [
		{
			name: "clock-record-follows-jumps",
			find: "return { seenAt, isAhead: true, jumpedMs };",
			replace: "{ yield* setNumber(CLOCK_SEEN, p.now); return { seenAt, isAhead: true, jumpedMs }; }",
			why: "A wrong clock is trusted from the second look.",
		},
	]),
	...of("server/src/storage/verbs/members.ts", SQLITE, [
		{
			name: "verbs-last-owner-steps-down",
			find: 'if (member.isLastOwner && p.role !== "owner") return "last_owner";',
			replace: "",
			only: "members and invitations",
			why: "A project is left without an owner.",
		},
		{
			name: "verbs-last-owner-leaves",
			find: 'if (member.isLastOwner) return "last_owner";',
			replace: "",
			only: "members and invitations",
			why: "The last owner of a project is removed.",
		},
		{
			name: "verbs-removed-owner-invites",
			find: "\tyield* endInvitationsOf(project, accountId);\n",
			replace: "",
			only: "members and invitations",
			why: "An owner who was removed comes back as an owner with a link of their own.",
		},
		{
			name: "verbs-demoted-owner-invites",
			find: '\tif (p.role !== "owner") yield* endInvitationsOf(project, p.accountId);\n',
			replace: "",
			only: "members and invitations",
			why: "An owner who was made a viewer becomes an owner again with a link of their own.",
		},
		{
			name: "verbs-invitation-lowers-role",
			find: "mayAs(member.role, role)",
			replace: "mayAs(role, member.role)",
			only: "members and invitations",
			why: "An owner who accepts an invitation as a viewer becomes one.",
		},
		{
			name: "verbs-owners-step-down-together",
			find: `WHERE no = \${project}\${forUpdate}`,
			replace: `WHERE no = \${project}`,
			tests: inVerbs("members"),
			why: "Two owners who step down at the same time leave a project without one.",
			review: "members.ts in PostgreSQL: no row lock",
		},
	]),
	...of("server/src/storage/verbs/members.ts", SQLITE, [
		{
			name: "verbs-invitation-expired",
			find: `AND project_no = \${project} AND expires_at > \${at}\${forUpdate}`,
			replace: `AND project_no = \${project} AND expires_at > \${at} - 86400000000\${forUpdate}`,
			only: "members and invitations",
			why: "An expired invitation still works.",
		},
		{
			name: "verbs-invitation-stays",
			find: `yield* row(sql\`DELETE FROM posthorn.invitations WHERE id = \${open.id}\`);`,
			replace: "",
			only: "members and invitations",
			why: "An invitation works again and again, and each time creates an account.",
		},
	]),
	...of("server/src/storage/verbs/accounts.ts", SQLITE, [
		{
			name: "verbs-sessions-unlimited",
			find: `ORDER BY id DESC LIMIT 1 OFFSET \${maxPerAccount}`,
			replace: `ORDER BY id DESC LIMIT 1 OFFSET 9 * \${maxPerAccount}`,
			only: "beyond the most of an account",
			why: "Anyone with a password fills the database with sessions.",
		},
		{
			name: "verbs-session-at-its-end",
			find: `s.expires_at > \${p.at}\`);\n\tif (found === undefined)`,
			replace: `s.expires_at >= \${p.at}\`);\n\tif (found === undefined)`,
			only: "accounts and sessions",
			why: "A session works slightly longer than it says.",
		},
		{
			name: "verbs-session-of-others",
			find: `AND account_id = \${p.accountId} RETURNING id`,
			replace: `AND account_id <> \${p.accountId} RETURNING id`,
			only: "accounts and sessions",
			why: "People end each other's sessions, and not their own.",
		},
	]),
	...of("server/src/storage/verbs/accounts.ts", SQLITE, [
		{
			name: "verbs-links-outlive-password",
			find: `\t\tsql\`DELETE FROM posthorn.links WHERE account_id = \${accountId}\`,\n`,
			replace: "",
			only: "a new password ends",
			why: "Anyone with an old sign-in link gets in after the password was changed because of it.",
		},
		{
			name: "verbs-setup-token-unchecked",
			find: 'if (!(yield* holdsSetupLink(p))) return "wrong_token";',
			replace: "",
			only: "accounts and sessions",
			why: "Anyone who finds the service before its operator does takes it over.",
		},
		{
			name: "verbs-two-operators",
			find: "\tyield* lockAccounts();\n",
			replace: "",
			tests: inVerbs("accounts"),
			why: "Two people who open setup links at the same time both become the operator.",
		},
	]),
	...of("server/src/storage/verbs/keys.ts", SQLITE, [
		{
			name: "verbs-key-of-others",
			find: `WHERE id = \${keyId} AND project_no = \${project} RETURNING id`,
			replace: `WHERE id = \${keyId} AND \${project} > 0 RETURNING id`,
			only: "registry",
			why: "A project's owner deletes the API keys of other projects.",
		},
		{
			name: "verbs-key-deleted-silently",
			find: "\tyield* tellPeers(project);\n",
			replace: "",
			tests: inAccounts("nodes"),
			why: "A deleted API key works for seconds longer on other nodes.",
		},
	]),
	...of("server/src/storage/verbs/audit.ts", SQLITE, [
		{
			name: "verbs-audit-sweep-unbounded",
			find: `at < \${cutoff} ORDER BY at LIMIT \${limit}\${endUnlocked}`,
			replace: `at < \${cutoff} ORDER BY at LIMIT \${limit * 1000}\${endUnlocked}`,
			only: "audit",
			why: "The sweep deletes a year of entries in one long transaction.",
		},
	]),
	...of("server/src/storage/verbs/registry.ts", SQLITE, [
		{
			name: "verbs-app-off-keeps-sending",
			find: "deleted_at IS NULL AND NOT",
			replace: "deleted_at IS NULL AND",
			only: "registry",
			why: "Without the Developer app webhooks still send; installing it pauses them.",
		},
	]),
	...of("server/src/storage/port/facts.ts", SQLITE, [
		{
			name: "facts-second-refund-is-partial",
			find: "refundCents === leftCents",
			replace: "refundCents === amountCents",
			only: "store facts",
			why: "The refund that completes an order's refunds is reported as partial.",
		},
		{
			name: "facts-refunds-exceed-order",
			find: "if (refundCents > leftCents)",
			replace: "if (refundCents > amountCents)",
			only: "store facts",
			why: "An order is refunded twice.",
		},
	]),
	...of("server/src/storage/verbs/registry.ts", SQLITE, [
		{
			name: "verbs-one-webhook-more",
			find: "if (others!.count >= p.maxPerProject)",
			replace: "if (others!.count > p.maxPerProject)",
			only: "registry",
			why: "A project has one more webhook than is allowed.",
		},
		{
			name: "verbs-subscription-begins-anew",
			find: "\tON CONFLICT DO NOTHING`;",
			replace: "\tON CONFLICT DO UPDATE SET from_seq = excluded.from_seq`;",
			only: "registry",
			why: "Each change of a webhook's types skips its backlog.",
		},
		{
			name: "verbs-from-now-keeps-open",
			find: `open = \${NONE_OPEN}, skip_through`,
			replace: "skip_through",
			only: "registry|settling",
			why: "Resuming from now sends events that were open.",
		},
		{
			name: "verbs-from-now-keeps-retries",
			find: `skip_through = \${lastSeq}`,
			replace: `skip_through = 0 * \${lastSeq}`,
			only: "registry",
			why: "Resuming from now still makes pending retries.",
		},
		{
			name: "verbs-delete-not-closing",
			find: "\t\tsetClosing(project, webhook),\n",
			replace: "",
			only: "settling",
			why: "Pending deliveries of a deleted webhook are never closed or logged.",
		},
		{
			name: "verbs-delete-keeps-secret",
			find: `, sealed_digest = \${new Uint8Array(0)}`,
			replace: "",
			tests: ["server/src/storage/sqlite/deleted-secret.test.ts"],
			why: "The secret of a deleted webhook stays in the database.",
		},
	]),
	...of("server/src/storage/verbs/facts.ts", SQLITE, [
		{
			name: "facts-other-content",
			find: 'if (Buffer.compare(fact.digest, digest) !== 0) return { kind: "conflict" };',
			replace: "",
			only: "store facts",
			why: "Another order under a number used before is reported as recorded.",
		},
		{
			name: "verbs-customer-after-purchase",
			find: "isFirst ? [customerCreated, purchaseCompleted]",
			replace: "isFirst ? [purchaseCompleted, customerCreated]",
			only: "store facts",
			why: "A receiver gets a purchase before its customer.",
		},
		{
			name: "verbs-touch-of-bought-basket",
			find: "WHERE NOT EXISTS (",
			replace: "WHERE true OR EXISTS (",
			only: "store facts",
			why: "A late touch brings back a basket that was bought, and it is reported as abandoned.",
		},
		{
			name: "verbs-basket-touched-since",
			find: "AND touched_at = ",
			replace: "AND touched_at >= ",
			only: "store facts",
			why: "A basket that was just touched is reported as abandoned.",
		},
		{
			name: "verbs-touches-of-a-millisecond",
			find: `touched_at = \${greatest}(excluded.touched_at, b.touched_at + 1)`,
			replace: "touched_at = excluded.touched_at",
			only: "store facts",
			why: "A basket touched in the millisecond in which it is taken is abandoned with its old content.",
		},
	]),
	...of("server/src/storage/sqlite/facts.ts", SQLITE, [
		{
			name: "sqlite-basket-outlives-order",
			find: "if (basketId !== null)",
			replace: "if (basketId === null)",
			only: "store facts",
			why: "A basket that was bought is reported as abandoned.",
		},
	]),
	...of("server/src/storage/verbs/search.ts", SQLITE, [
		{
			name: "search-part-indexed-twice",
			find: "if (range!.through !== after && range!.after !== through) return false;",
			replace: "",
			only: "search",
			why: "Two nodes that read the same part both add it, and the range goes back.",
		},
		{
			name: "search-old-before-new",
			find: "const most = BUCKET + limit + 1;",
			replace: "const most = limit + 1;",
			only: "search",
			why: "Some of the newest events aren't found if there are very many.",
		},
		{
			name: "search-complete-without-older",
			find: "const isWhole = after < first || after === 0;",
			replace: "const isWhole = true;",
			only: "search",
			why: "A search doesn't say that older events aren't indexed yet.",
		},
	]),
	...of("server/src/storage/shared/references.ts", SQLITE, [
		{
			name: "search-kinds-share-numbers",
			find: `\\0\${kind}\\0`,
			replace: "\\0",
			only: "search",
			why: "An order id finds the customer with the same text.",
		},
	]),
];

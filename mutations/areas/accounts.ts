import { of } from "../mutation.ts";
import { inAccounts, inApi } from "../tests.ts";

/** People, their sessions and roles, and API keys. */
export const ACCOUNTS = [
	...of("server/src/accounts/people.ts", inAccounts("people"), [
		{
			name: "people-right-counts-as-wrong",
			find: 'if (result === null) return { kind: "wrong" };\n\t\t\ttakeBack();',
			replace: 'if (result === null) return { kind: "wrong" };',
			only: "sign-ins from an address don",
			why: "A hundred people who sign in from one office lock it out.",
			review: "people.ts: a successful sign-in is not subtracted",
		},
		{
			name: "people-tries-at-once",
			find: 'for (const [throttle, name] of counts) throttle.failed(name);\n\t\ttry {\n\t\t\tconst result = await work();\n\t\t\tif (result === null) return { kind: "wrong" };',
			replace:
				'try {\n\t\t\tconst result = await work();\n\t\t\tif (result === null) {\n\t\t\t\tfor (const [throttle, name] of counts) throttle.failed(name);\n\t\t\t\treturn { kind: "wrong" };\n\t\t\t}',
			only: "concurrent tries are limited like successive|concurrent tries don",
			why: "A thousand concurrent guesses are only counted once they are done.",
		},
		{
			name: "people-busy-counts-as-wrong",
			find: "\t\t\ttakeBack();\n\t\t\tthrow error;",
			replace: "\t\t\tthrow error;",
			only: "rejected as busy",
			why: "While the machine is busy people are locked out of their accounts.",
		},
		{
			name: "people-forgotten-forever",
			find: "const forgotten = session.byLink && Math.abs(clock.now() - session.createdAt) < FORGOTTEN_MS;",
			replace: "const forgotten = session.byLink;",
			only: "a link sign-in allows a new",
			why: "Someone at an open browser can set a new password a month after a sign-in by link.",
		},
		{
			name: "people-everyone-is-operator",
			find: "const account = this.#account(person, false);",
			replace: "const account = this.#account(person, true);",
			tests: [...inApi("invitations"), ...inApi("roles")],
			why: "Every invited person becomes the operator.",
		},
		{
			name: "people-strangers-lock-out",
			find: `[this.#wrongForAccount, \`\${name}\\n\${network}\`],`,
			replace: "[this.#wrongForAccount, name],",
			only: "don't lock out others",
			why: "Ten wrong passwords by a stranger lock the owner out.",
		},
		{
			name: "people-easy-passwords",
			find: "if (!isCommonPassword(password, known)) return [];",
			replace: "return [];",
			tests: inApi("sessions"),
			only: "easy to guess",
			why: "Accounts have the password 1234567890.",
		},
		{
			name: "people-case-of-address",
			find: "const name = normalEmail(email);",
			replace: "const name = email;",
			only: "compares addresses without case",
			why: "A user who types the address in capitals can't sign in.",
		},
	]),
	...of(
		"server/src/base/throttle.ts",
		["server/src/base/throttle.test.ts"],
		[
			{
				name: "throttle-one-more",
				find: "if (!window || window.failures < this.#max) return null;",
				replace: "if (!window || window.failures <= this.#max) return null;",
				why: "One guess more than the limit is allowed.",
			},
			{
				name: "throttle-prolonged",
				find: "if (window) window.failures += 1;",
				replace:
					"if (window) {\n\t\t\twindow.failures += 1;\n\t\t\twindow.endsAt = this.#clock.now() + this.#windowMs;\n\t\t}",
				why: "Someone who guesses passwords can lock an account's owner out indefinitely.",
			},
			{
				name: "throttle-past-its-end",
				find: "if (window && window.endsAt > this.#clock.elapsed()) return window;",
				replace: "if (window && window.endsAt >= this.#clock.elapsed()) return window;",
				why: "A retry after the suggested delay is refused.",
			},
			{
				name: "throttle-unbounded",
				find: "}>(NAMES);",
				replace: "}>(Number.POSITIVE_INFINITY);",
				why: "Guesses at a million names fill the memory.",
			},
		],
	),
	...of("server/src/accounts/password.ts", inAccounts("password"), [
		{
			name: "password-owners-without-turns",
			find: "this.#queue.run(owner, work)",
			replace: 'this.#queue.run("all", work)',
			only: "owners take turns",
			why: "A viewer's parallel password changes keep the operator from signing in.",
		},
	]),
	...of("server/src/api/routes/people/invitations.ts", inApi("invitations"), [
		{
			name: "invitations-for-anyone",
			find: "email === null || normalEmail(email) === normalEmail(address);",
			replace: 'email === null || address !== "";',
			only: "only for the account with that address",
			why: "Anyone who intercepts an invitation to an owner becomes one.",
		},
	]),
	...of("server/src/accounts/people.ts", inApi("invitations"), [
		{
			name: "invitations-tell-addresses",
			find: "return this.#counted([[this.#taken, invitationId]], accept);",
			replace: "return this.#counted([], accept);",
			only: "shows only a few times",
			why: "Anyone who has a link can try which addresses have accounts.",
		},
		{
			name: "invitations-tell-addresses-at-once",
			find: "return this.#counted([[this.#taken, invitationId]], accept);",
			replace:
				"return this.#counted([], async () => {\n\t\t\tif (this.#taken.wait(invitationId) !== null) return null;\n\t\t\tconst result = await accept();\n\t\t\tif (result === null) this.#taken.failed(invitationId);\n\t\t\treturn result;\n\t\t});",
			only: "tried at once",
			why: "Anyone who has a link can try any number of addresses in concurrent requests.",
		},
	]),
	...of("server/src/accounts/sessions.ts", inApi("sessions"), [
		{
			name: "sessions-not-prolonged",
			find: "if (now - session.lastSeenAt >= TOUCH_EVERY_MS)",
			replace: "if (now - session.lastSeenAt < 0)",
			why: "Users are signed out a month after they signed in, however often they come.",
		},
	]),
	...of("server/src/accounts/api-keys.ts", inAccounts("api-keys"), [
		{
			name: "api-keys-deleted-lives-on",
			find: "if (deleted) this.#cache.drop(keyId);",
			replace: "",
			only: "a deleted key stops working immediately|a key deleted during its lookup",
			why: "A leaked key works for seconds after it was deleted.",
		},
		{
			name: "api-keys-use-not-noted",
			find: "this.#uses.note(id);",
			replace: "",
			only: "a key's use is visible immediately,",
			why: "A key in use is shown as never used, and deleted.",
		},
		{
			name: "api-keys-cached-last-use",
			find: "lastUsedAt: this.#uses.of(key.id) ?? key.lastUsedAt",
			replace: "lastUsedAt: key.lastUsedAt ?? this.#uses.of(key.id) ?? null",
			only: "an unwritten use takes precedence over",
			why: "The last use of a key is shown a minute late.",
		},
	]),
	...of("server/src/accounts/api-keys.ts", inAccounts("api-keys"), [
		{
			name: "api-keys-never-expire",
			find: "if (expiresAt !== null && this.#options.clock.now() >= expiresAt)",
			replace: "if (expiresAt !== null && this.#options.clock.now() > expiresAt + 86_400_000)",
			only: "a key expires at its time",
			why: "A contractor's key works after the contract ended.",
		},
		{
			name: "api-keys-expire-in-the-past",
			find: "expiresAt === null || expiresAt > now ?",
			replace: "expiresAt === null || expiresAt > 0 ?",
			only: "must expire in the future",
			why: "A key with last year's date is created and never works.",
		},
	]),
	...of("server/src/accounts/api-keys.ts", inAccounts("key-cache"), [
		{
			name: "key-cache-forever",
			find: "if (!havePassed(this.#clock, ms, foundAt)) return key;",
			replace: "if (ms > 0) return key;",
			why: "A key that was deleted on another node works there forever.",
		},
		{
			name: "key-cache-keeps-deleted",
			find: "if (revision !== this.#revision || this",
			replace: "if (this",
			why: "A key that is deleted while it is looked up works for five more seconds.",
		},
		{
			name: "key-cache-hint-of-same-moment",
			find: "?? Number.NEGATIVE_INFINITY) >= at.elapsed;",
			replace: "?? Number.NEGATIVE_INFINITY) > at.elapsed;",
			why: "A hint in the millisecond of the lookup is mistaken for an older one.",
		},
		{
			name: "key-cache-hint-for-all",
			find: "this.#isHintedSince(key.projectId, foundAt) ? trustedAfterHintMs : trustedMs",
			replace: "this.#hintedAt.size > 0 ? trustedAfterHintMs : trustedMs",
			why: "One busy project makes everyone's keys be looked up four times a second.",
		},
		{
			name: "key-cache-from-answer",
			find: "{ key, foundAt: at }",
			replace: "{ key, foundAt: momentOf(this.#clock) }",
			why: "A key whose lookup took long is trusted for longer than five seconds.",
		},
	]),
	...of("server/src/accounts/api-keys.ts", inAccounts("last-uses"), [
		{
			name: "last-uses-lost-at-end",
			find: "this.#closed = true;\n\t\tthis.#write();",
			replace: "this.#closed = true;",
			tests: inAccounts("api-keys"),
			only: "a key's use is visible immediately,",
			why: "The last uses before a restart are never written.",
		},
		{
			name: "last-uses-first-of-a-minute",
			find: "this.#waiting.set(keyId, clock.now());",
			replace: "if (!this.#waiting.has(keyId)) this.#waiting.set(keyId, clock.now());",
			why: "A key's last use is shown as the first one of its minute.",
		},
	]),
	...of("server/src/accounts/members.ts", inApi("roles"), [
		{
			name: "members-operator-is-stranger",
			find: 'return account.operator ? "owner" : this',
			replace: "return this",
			why: "The operator can't access a project that has lost its members.",
		},
	]),
	...of("server/src/accounts/password.ts", inAccounts("password"), [
		{
			name: "password-as-typed",
			find: 'Buffer.from(password.normalize("NFC"))',
			replace: "Buffer.from(password)",
			only: "composed and decomposed letters are equal",
			why: "A password set on one keyboard is wrong on another.",
		},
		{
			name: "password-no-queue",
			find: "		waitingInAll: SIGN_IN.hashesWaiting,\n",
			replace: "",
			why: "A flood of sign-ins makes everyone wait for minutes.",
		},
	]),
	...of("server/src/base/turns.ts", inAccounts("password"), [
		{
			name: "queue-nobody-makes-room",
			find: "if (!most || most[1].waiting.length <= owner.waiting.length + 1) return false;",
			replace: "return false;",
			why: "Four accounts that change their passwords all the time keep everyone else from signing in.",
		},
	]),
	...of("server/src/accounts/tokens.ts", inApi("auth"), [
		{
			name: "guesses-known-wait",
			find: "this.#known.has(hash) ? this.#shared(hash, find) : this.#inTurn(network, find)",
			replace: "this.#inTurn(network, find)",
			why: "Someone who guesses keys locks out everyone in the same office.",
			tests: inAccounts("guesses"),
		},
		{
			name: "guesses-known-all-at-once",
			find: "if (there === undefined) return start();",
			replace: "return start();",
			why: "A thousand requests with one session keep everyone else's keys from being checked.",
			tests: inAccounts("guesses"),
		},
		{
			name: "guesses-not-counted",
			find: "this.#wrong.failed(network);",
			replace: "",
			why: "Keys may be guessed without end.",
		},
	]),
];

import { of } from "../mutation.ts";
import { inApi } from "../tests.ts";

/** Limits on what callers of the API may do. */
export const API = [
	...of(
		"server/src/api/route.ts",
		["server/src/api/admission.test.ts"],
		[
			{
				name: "changes-not-counted",
				find: 'return rate === undefined ? ["changes"] : [rate, "changes"];',
				replace: "return rate === undefined ? [] : [rate];",
				only: "changes have a burst",
				why: "A project changes a webhook hundreds of times a second, and every other project's events wait.",
			},
		],
	),
	...of("server/src/api/auth/authorize.ts", inApi("roles"), [
		{
			name: "scopes-not-checked",
			find: "if (scope !== null && !principal.scopes.includes(scope)) throw",
			replace: "if (scope !== null && principal.scopes.length === 0) throw",
			only: "a key to",
			why: "A key that may only publish deletes webhooks.",
		},
	]),
	...of("server/src/api/auth/authorize.ts", inApi("csrf"), [
		{
			name: "any-host-is-own",
			find: "hostOf(origin) === host && isOwnAddress(host)",
			replace: "hostOf(origin) === host",
			only: "refuses requests from other origins",
			why: "A page whose name is made to resolve to this machine passes for the dashboard.",
		},
	]),
	...of("server/src/api/routes/publishing/events.ts", inApi("long-poll"), [
		{
			name: "waiting-outlives-rights",
			find: "\t\t\t\tawait authorizeAgain();\n",
			replace: "",
			only: "once its caller has lost the right to read",
			why: "A member who was removed gets one more event.",
		},
	]),
	...of("server/src/api/auth/authorize.ts", inApi("cookie"), [
		{
			name: "cookie-shared-by-ports",
			find: "?.port ??",
			replace: "?.search ??",
			only: "named by the port",
			why: "Signing in to a service signs out of another one on the same host.",
		},
	]),
	...of("server/src/api/routes/log/replays.ts", inApi("deferred-rights"), [
		{
			name: "filtered-replay-outlives-rights",
			find: "\t\tawait authorizeAgain();\n\t\tconst call = storage.replayMatching",
			replace: "\t\tconst call = storage.replayMatching",
			only: "during a bulk action",
			why: "A removed member's replay by filter continues for several transactions.",
		},
	]),
	...of("server/src/api/routes/log/dismissals.ts", inApi("deferred-rights"), [
		{
			name: "dismissal-outlives-rights",
			find: "\t\t\tawait authorizeAgain();\n\t\t\tconst results",
			replace: "\t\t\tconst results",
			only: "during a bulk action",
			why: "A removed member's dismissals continue to the last delivery.",
		},
	]),
	...of("server/src/api/routes/log/retries.ts", inApi("deferred-rights"), [
		{
			name: "retry-outlives-rights",
			find: "\t\t\t\t\t\tawait authorizeAgain();\n\t\t\t\t\t\tconst limit",
			replace: "\t\t\t\t\t\tconst limit",
			only: "during a bulk action",
			why: "A removed member's retry of a webhook continues to its last delivery.",
		},
	]),
	...of(
		"server/src/api/server.ts",
		["server/src/api/admission.test.ts"],
		[
			{
				name: "batch-refused-once-published",
				find: "if (route.list) {",
				replace: "if (route.list && route.resultBytes === 0) {",
				only: "before its events are published",
				why: "A publisher learns that nothing was done, and publishes the events of a batch again.",
			},
			{
				name: "refused-exports-count",
				find: 'if (route.rate === "recordedReads" && !request.isRecorded)',
				replace: 'if (route.rate === "recordedReads" && request.isRecorded)',
				only: "a refused export",
				why: "A program with a mistake in its filter can't export for minutes.",
			},
		],
	),
	...of("server/src/api/metrics.ts", inApi("node-metrics"), [
		{
			name: "metrics-timeout-beyond-buckets",
			find: "Math.min(responseMs / 1_000, attemptTimeoutS)",
			replace: "responseMs / 1_000",
			why: "Quantiles of attempts' durations exceed the timeout, or aren't known.",
		},
	]),
	...of("server/src/api/metrics.ts", inApi("system"), [
		{
			name: "metrics-failures-without-cause",
			find: "const cause = statusCode === null ? errorCode! : classOf(statusCode);",
			replace: 'const cause = errorCode ?? "5xx";',
			only: "failed attempts by cause",
			why: "Redirects and refusals by receivers are counted as their errors.",
		},
	]),
	...of("server/src/api/gauge-reader.ts", inApi("gauge-reader"), [
		{
			name: "gauges-wait-for-the-clock",
			find: "!havePassed(this.#clock, EVERY_MS, last.at)",
			replace: "this.#clock.now() - last.at.now < EVERY_MS",
			tests: inApi("system"),
			only: "set back",
			why: "Once the clock is set back by an hour, Prometheus gets the same backlog for an hour.",
		},
		{
			name: "gauges-read-again-while-late",
			find: "this.#reading ??= ",
			replace: "this.#reading = ",
			why: "While the database hangs, each scrape adds a query that waits.",
		},
		{
			name: "gauges-stale-forever",
			find: " || havePassed(this.#clock, STALE_MS, last.at);",
			replace: ";",
			why: "While the database hangs, Prometheus gets a backlog that is long out of date.",
		},
	]),
	...of("server/src/api/http/admission.ts", inApi("admission"), [
		{
			name: "response-room-not-held",
			find: "\t\trequest.room = { bytes, release };\n",
			replace: "\t\trequest.room = { bytes, release };\n\t\trelease();\n",
			only: "room that was made",
			why: "Batches at the same moment find the same room, and together fill the memory with responses.",
		},
	]),
	...of("server/src/api/server.ts", inApi("http/one-by-one"), [
		{
			name: "batch-turn-ends-early",
			find: "if (!request.isHandled) largeBodies.leave(request);",
			replace: "largeBodies.leave(request);",
			only: "keeps its turn",
			why: "A client that begins large batches and leaves has several of them processed at once.",
		},
	]),
	...of("server/src/api/http/body.ts", inApi("deferred-rights"), [
		{
			name: "waiting-body-outlives-rights",
			find: "\t\t\t\trequest.hasWaited = true;\n",
			replace: "",
			only: "waits for its turn",
			why: "A key publishes events up to ten seconds after it was deleted.",
		},
	]),
	...of("server/src/api/server.ts", inApi("deferred-rights"), [
		{
			name: "late-body-outlives-rights",
			find: "\t\tif (request.hasWaited) await authorizeAgain(request, route, parts);\n",
			replace: "",
			only: "while a body arrives",
			why: "A member who is removed creates an API key with a request that was begun before.",
		},
		{
			name: "late-read-outlives-rights",
			find: "\t\t\t\tif (hasWaited) await authorizeAgain(request, route, parts);\n",
			replace: "",
			only: "while a read waits",
			why: "A key that was deleted gets the responses to all its reads that waited.",
		},
	]),
	...of(
		"server/src/storage/postgres/verbs.ts",
		["server/src/storage/postgres/access.test.ts"],
		[
			{
				name: "keys-wait-for-reads",
				find: 'OF_ACCESS.has(name) ? "access" : undefined',
				replace: "undefined",
				why: "One project's slow reads delay everyone's requests, whose keys are looked up on the same connections.",
			},
		],
	),
	...of("server/src/api/routes/log/retries.ts", inApi("retries"), [
		{
			name: "retry-all-takes-more",
			find: "const limit = Math.min(BULK_ACTIONS.retries, waiting - count);",
			replace: "const limit = BULK_ACTIONS.retries;",
			only: "no more than waited",
			why: "Deliveries that fail again while all are retried use up all their attempts at once.",
		},
	]),
	...of("server/src/storage/verbs/replays.ts", inApi("deferred-rights"), [
		{
			name: "waiting-replay-outlives-rights",
			find: '\tif (!(yield* mayStill(project, p.by))) return { kind: "no_delivery" };\n',
			replace: "",
			only: "left waiting",
			why: "A removed member's replay that waited sends a delivery again.",
		},
		{
			name: "waiting-replays-outlive-rights",
			find: "\tif (!(yield* mayStill(project, p.by))) return { count: 0, next: null };\n",
			replace: "",
			only: "left waiting",
			why: "A removed member's bulk replay that waited sends hundreds of deliveries again.",
		},
	]),
	...of("server/src/storage/verbs/deliveries.ts", inApi("deferred-rights"), [
		{
			name: "waiting-dismissals-outlive-rights",
			find: "\tif (!(yield* mayStill(project, by))) return deliveries.map(() => null);\n",
			replace: "",
			only: "left waiting",
			why: "A removed member's request that waited hides failed deliveries.",
		},
	]),
	...of("server/src/storage/verbs/retries.ts", inApi("deferred-rights"), [
		{
			name: "waiting-retries-outlive-rights",
			find: "\tif (!(yield* mayStill(project, by))) return deliveries.map(() => NOTHING_WAITS);\n",
			replace: "",
			only: "left waiting",
			why: "A removed member's request that waited uses up attempts of deliveries.",
		},
	]),
	...of("server/src/storage/verbs/keys.ts", inApi("deferred-rights"), [
		{
			name: "waiting-revocations-outlive-rights",
			find: "\tif (!(yield* mayStill(project, by))) return false;\n",
			replace: "",
			only: "removes neither",
			why: "A removed developer's requests that waited revoke the keys of a store's programs.",
		},
	]),
	...of("server/src/storage/verbs/registry.ts", inApi("deferred-rights"), [
		{
			name: "waiting-app-removal-outlives-rights",
			find: "\tif (!(yield* mayStill(project, by))) return null;\n\tconst [, , , [changed]]",
			replace: "\tconst [, , , [changed]]",
			only: "removes neither",
			why: "A removed owner's request that waited pauses every webhook.",
		},
		{
			name: "waiting-rename-outlives-rights",
			find: "\tif (!(yield* mayStill(project, by))) return null;\n\tconst [, [renamed]]",
			replace: "\tconst [, [renamed]]",
			only: "does neither",
			why: "A removed owner's request that waited gives the project another name.",
		},
		{
			name: "waiting-changes-outlive-rights",
			find: "if (found === undefined || !(yield* mayStill(project, by))) return null;",
			replace: "if (found === undefined) return null;",
			only: "left waiting",
			why: "A member who was removed changes where a webhook's events go.",
		},
		{
			name: "waiting-webhooks-outlive-rights",
			find: '\tif (!(yield* mayStill(project, p.by))) return "no_project";\n',
			replace: "",
			only: "left waiting",
			why: "A member who was removed registers a webhook, which keeps receiving every event.",
		},
	]),
	...of("server/src/api/routes/log/exports.ts", inApi("export"), [
		{
			name: "line-breaks-begin-formulas",
			find: '/([;\\t\\r\\n][\\s";]*)',
			replace: '/([;\\t][\\s";]*)',
			only: "is a formula",
			why: "An order id with a line break becomes a formula where semicolons separate cells.",
		},
	]),
	...of("server/src/api/server.ts", inApi("changes"), [
		{
			name: "streams-outlive-rights",
			find: "\t\t\tchanges.recheckProject(note.projectId);\n",
			replace: "",
			only: "ends immediately when the right",
			why: "A member who was removed still receives the project's changes for a while.",
		},
	]),
	...of(
		"server/src/config/parsers.ts",
		["server/src/config/read-config.test.ts"],
		[
			{
				name: "password-in-flags",
				find: "return names.some((name) => /^(?:ssl)?password$/i.test(name));",
				replace: "return names.length < 0;",
				only: "refused as flags",
				why: "The database's password shows in the list of processes.",
			},
		],
	),
	...of("server/src/api/route.ts", inApi("roles"), [
		{
			name: "scopes-read-changes",
			find: 'return scope ?? (method === "GET" ? "read" : "manage");',
			replace: 'return scope ?? "read";',
			only: "a key to",
			why: "A key that may only read rotates secrets.",
		},
	]),
	...of("server/src/api/routes/projects.ts", inApi("auth"), [
		{
			name: "keys-create-keys",
			find: "\t\t\tpeopleOnly: true,\n\t\t\tbody: NewApiKey,",
			replace: "\t\t\tbody: NewApiKey,",
			only: "can't create keys",
			why: "A removed developer keeps access with a key that one of their keys created.",
		},
	]),
	...of(
		"server/src/api/http/admission.ts",
		["server/src/api/admission.test.ts"],
		[
			{
				name: "refused-requests-count",
				find: "for (const other of names.slice(0, i)) this",
				replace: "for (const other of names.slice(0, 0)) this",
				only: "don't use up another",
				why: "Requests that are refused for too many changes use up the project's replays.",
			},
			{
				name: "project-takes-all-reads",
				find: "perOwner: RESPONSES.readsPerProject,",
				replace: "perOwner: RESPONSES.reads,",
				only: "leaves reads for others",
				why: "A project with many keys has all lists and statistics of the node to itself.",
			},
			{
				name: "project-takes-all-responses",
				find: "perOwner: RESPONSES.bytesPerProject,",
				replace: "perOwner: RESPONSES.bytesInFlight,",
				only: "leaves room for others' responses",
				why: "A project with many keys that reads no responses leaves no room for those of others.",
			},
		],
	),
	...of(
		"server/src/api/http/json-body.ts",
		["server/src/api/large-bodies.test.ts", "server/src/api/http/json-body.test.ts"],
		[
			{
				name: "elements-counted-after-parsing",
				find: "...(list && { list }) });",
				replace: "...(list && { list: { ...list, items: Number.POSITIVE_INFINITY } }) });",
				why: "A batch of a million empty objects takes seconds of the main thread before it is refused.",
			},
		],
	),
	...of(
		"server/src/api/auth/callers.ts",
		["server/src/api/connections.test.ts"],
		[
			{
				name: "keys-start-apart",
				find: 'principal.kind === "project" ? principal.projectId : principalName(principal)',
				replace: "principalName(principal)",
				only: "share its part of a turn",
				why: "A project with many keys delays everyone else's requests.",
			},
		],
	),
	...of(
		"server/src/api/http/connections.ts",
		["server/src/api/connections.test.ts"],
		[
			{
				name: "slow-requests-kept",
				find: "headersTimeout: headerMs,",
				replace: "headersTimeout: 0,",
				only: "a slow header",
				why: "Clients that never finish a request's header keep their connections.",
			},
			{
				name: "known-clients-start-all",
				find: "if (this.#startedOfAll >= CONNECTIONS.startsPerTurnOfAll) return false;",
				replace: "",
				only: "many known clients",
				why: "Requests of many accounts delay everyone else's.",
			},
			{
				name: "expectations-answered-by-node",
				find: '.on("checkExpectation", admit)',
				replace: "",
				only: "unknown expectation",
				why: "A client without a key delays everyone's requests by seconds.",
			},
			{
				name: "missing-hosts-answered-by-node",
				find: "requireHostHeader: false,",
				replace: "",
				only: "without a host",
				why: "Any number of requests without a host are answered in one turn of the event loop.",
			},
			{
				name: "unread-responses-kept",
				find: "now - unread.progressAt >= this.#limits.stallMs || now - unread.since >= this.#limits.readMs",
				replace: "false",
				only: "a client that doesn't read",
				why: "Clients that never read keep large responses in memory.",
			},
			{
				name: "unknown-clients-do-not-wait",
				find: "if (caller === null) return false;",
				replace: "if (caller === null) return true;",
				only: "wait for their turn",
				why: "A flood of requests without a valid key delays everyone else's.",
			},
			{
				name: "known-client-starts-all",
				find: "if (count >= CONNECTIONS.startsPerTurn) return false;",
				replace: "",
				only: "wait for their turn",
				why: "One key's requests on many connections delay everyone else's.",
			},
		],
	),
	...of(
		"server/src/api/routes/system/system.ts",
		["server/src/api/system.test.ts"],
		[
			{
				name: "metrics-made-for-everyone",
				find: 'renders.take("all") === null || rendered === undefined',
				replace: "true",
				only: "makes the metrics",
				why: "Anyone stops all deliveries by reading the metrics in a loop.",
			},
		],
	),
	...of(
		"server/src/api/storage-check.ts",
		["server/src/api/system.test.ts"],
		[
			{
				name: "storage-asked-by-everyone",
				find: "answer !== null && clock.elapsed() < this.#countsUntil",
				replace: "answer === undefined",
				only: "asks storage once",
				why: "Anyone fills the database's connections by asking whether the node is ready.",
			},
		],
	),
	...of(
		"server/src/base/throttle.ts",
		["server/src/base/rates.test.ts"],
		[
			{
				name: "node-rate-leaves-nothing",
				find: "if (left < used - 1)",
				replace: "if (left < 0)",
				why: "A few busy projects use up the node's rate, and everyone else gets 503.",
			},
			{
				name: "node-rate-not-used",
				find: "this.#nodeFullAt = nodeFullAt;",
				replace: "",
				why: "Any number of projects together change as much as each of them may.",
			},
		],
	),
];

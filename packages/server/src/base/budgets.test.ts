import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
	ALERTS,
	COMMITS,
	CONNECTIONS,
	DATABASE_CONNECTIONS,
	HANDSHAKES,
	INVITATIONS,
	LOG_READS,
	METRICS,
	POOLS,
	PROJECT_WRITES,
	PROJECTS,
	RATES,
	RECEIVERS,
	REQUESTS,
	RESPONSES,
	SENDS,
	SIGN_IN,
	STOP,
	UNAUTHENTICATED,
	WAITERS,
	WINDOWS,
} from "./budgets.ts";
import type { RateLimitOptions } from "./throttle.ts";

const pageOf = (name: string): string =>
	readFileSync(new URL(`../../../../docs/operations/${name}.md`, import.meta.url), "utf8").replaceAll("\n", " ");
const page = pageOf("limits");
const nodes = pageOf("many-nodes");
const n = (value: number): string => value.toLocaleString("en-US");

/** Concurrent reads of logs: on PostgreSQL the engine's connections limit them, SQLite reads one after another. */
const LOG_READS_AT_A_TIME = POOLS.engine;

/**
 * The most bytes of bodies that a node can hold, all budgets together, with the default settings: bodies of requests
 * from their first byte until they are committed, of responses from the database to the client, and of events from the
 * log to the receiver. The rest of the memory that operators are told to provide (docs/operations/many-nodes.md) is for
 * code, connections and data about projects.
 */
const NODE_BODY_BYTES =
	REQUESTS.bodyBytesInFlight +
	REQUESTS.unauthenticatedBodyBytesInFlight +
	RESPONSES.bytesInFlight +
	// Pages being read.
	RESPONSES.reads * RESPONSES.pageBytes +
	COMMITS.publishBytesWaiting +
	COMMITS.publishBytes +
	COMMITS.sqliteBytes +
	COMMITS.outcomesWaiting * RECEIVERS.keptBytes +
	WINDOWS.bytes +
	LOG_READS_AT_A_TIME * WINDOWS.openEventsRead * REQUESTS.eventBytes +
	SENDS.preparedBytes +
	// Node and TLS hold copies, and one body may exceed each limit.
	3 * (SENDS.bytesInFlight + SENDS.smallBytesInFlight + SENDS.requestedBytesInFlight + 2 * REQUESTS.eventBytes);

test("the page for operators names the limits that the code has", () => {
	for (const sentence of [
		`at most ${n(REQUESTS.batchEvents)} events`,
		`\`POSTHORN_MAX_EVENT_BYTES\` and ${n(REQUESTS.envelopeBytes)} bytes`,
		`any other body | ${n(REQUESTS.bodyBytes)} bytes`,
		`${REQUESTS.nesting} levels`,
		`unauthenticated request | ${n(REQUESTS.unauthenticatedBodyBytes)} bytes`,
		`${n(REQUESTS.unauthenticatedBodyBytesInFlight)} bytes; ${n(REQUESTS.unauthenticatedBodyBytesPerNetwork)} for one`,
		`to the log | ${n(COMMITS.publishBytesWaiting)} bytes; ${n(COMMITS.publishBytesWaitingPerProject)} for one project`,
		`chunks of a body | ${n(REQUESTS.smallChunks)}, and one more for each ${REQUESTS.chunkBytes} bytes`,
		`a request's header, with its path | ${n(REQUESTS.headerBytes)} bytes`,
		`within ${REQUESTS.headerMs / 1_000} and ${REQUESTS.requestMs / 1_000} seconds`,
		`slices of ${n(REQUESTS.sliceBytes)} bytes or one element; each element counts as ${REQUESTS.pieceBytes} bytes extra`,
		`${n(RESPONSES.bytesInFlight)} bytes; ${n(RESPONSES.bytesPerPrincipal)} for one principal (a key or an account), ${n(RESPONSES.bytesPerProject)} for one project`,
		`cut off after ${RESPONSES.stallMs / 1_000} seconds`,
		`${RESPONSES.reads}; ${RESPONSES.readsPerPrincipal} for one principal, with up to ${RESPONSES.readsWaiting} waiting; ${RESPONSES.readsPerProject} for one project`,
		`by status code | ${n(LOG_READS.attemptsScanned)}`,
		`by health | 20; after ${LOG_READS.projectsHealthMs / 1_000} seconds it starts no other one`,
		`may send ${n(UNAUTHENTICATED.wrongTokensPerMinute)} invalid API keys`,
		`looked up ${UNAUTHENTICATED.lookups} at a time, one per network. ${n(UNAUTHENTICATED.lookupsWaiting)} of a network may wait, or ${UNAUTHENTICATED.lookupsWaitingThen} once`,
		`${WAITERS.calls} calls waiting for events (\`wait\`) on a node. Signed-in users may use ${WAITERS.callsOfPeople} of them`,
		`${WAITERS.streams} streams of changes open, and a project ${WAITERS.streamsOfProject}`,
		`may have ${INVITATIONS.open} open invitations`,
		`After ${SIGN_IN.wrongForAccount} wrong passwords for an account from one network, or ${SIGN_IN.wrongFromNetwork} wrong passwords or links from a network, within ${SIGN_IN.windowMs / 60_000} minutes`,
		`at most ${SIGN_IN.wrongForAccount} times in ${SIGN_IN.windowMs / 60_000} minutes that an address has an account`,
		`hashed ${SIGN_IN.hashes} at a time, with 19 MiB`,
		`${SIGN_IN.hashesWaitingOfOwner} of each may wait, and ${SIGN_IN.hashesWaiting} in all`,
		`up to ${SIGN_IN.sessions} sessions`,
		`keeps up to ${DATABASE_CONNECTIONS.lasting} connections open, and briefly opens ${DATABASE_CONNECTIONS.brief} more: ${POOLS.publish} to publish, ${POOLS.settle} to settle, ${POOLS.engine} for the engine, ${POOLS.access} to check keys and sessions, ${POOLS.people} for the rest of the API, ${POOLS.waiting} on which`,
		`and ${PROJECT_WRITES.running} at a time in total; ${n(PROJECT_WRITES.waiting)} of a project may wait. A change waits ${PROJECT_WRITES.lockMs} ms`,
		`one project at a time, and ${PROJECT_WRITES.apartWaiting} more projects may wait`,
		`one in ${1 / HANDSHAKES.meteredShare} of the others at random, and for those of a project beyond ${HANDSHAKES.unmetered} at a time`,
		`more than ${HANDSHAKES.cpuMs} ms of CPU time, or if the receiver sends more than ${n(HANDSHAKES.bytes)} bytes`,
		`for ${HANDSHAKES.restFactor} times that CPU time,`,
		`for ${n(HANDSHAKES.meteredFactor)} times that CPU time, at most a day`,
		`Too many bytes count as ${HANDSHAKES.longChainMs} ms`,
		`requests to renegotiate counts as a costly handshake of ${HANDSHAKES.floodMs} ms`,
		`has more than ${HANDSHAKES.provenRestMs / 1_000} seconds left`,
		`closed after ${HANDSHAKES.requestsPerConnection} requests`,
		`${n(CONNECTIONS.most)} at most`,
		`closed after ${CONNECTIONS.idleMs / 1_000} seconds, or ${CONNECTIONS.proxyIdleMs / 1_000} if`,
		`${CONNECTIONS.requestsInWork} requests are processed at a time, and ${CONNECTIONS.requestsWaiting} more may wait`,
	])
		expect(page).toContain(sentence);
	for (const sentence of [
		`requests in flight | ${n(SENDS.inFlight)},`,
		`bodies in flight | ${n(SENDS.bytesInFlight)} bytes; a retry`,
		`up to ${n(SENDS.smallBodyBytes)} bytes of a project that has nothing in flight | ${n(SENDS.smallBytesInFlight)} bytes extra`,
		`test events and single replays in flight | ${SENDS.requestedPerProject} per project, ${n(SENDS.requestedInFlight)} in total, with ${n(SENDS.requestedBytesInFlight)} bytes`,
		`retries of a webhook in flight | ${SENDS.retriesPerWebhook}, or`,
		`addresses of a host tried per attempt | ${RECEIVERS.addresses}, among the first ${RECEIVERS.addressesExamined}`,
		`kept open between attempts | ${n(SENDS.idleConnections)}; ${RECEIVERS.idleConnections} to one`,
		`hosts whose TLS session is kept | ${n(RECEIVERS.tlsSessions)}, with up to ${n(RECEIVERS.sessionBytes)} bytes`,
		`stored part of a response | ${n(RECEIVERS.keptBytes)} bytes`,
		`so that the connection is kept | ${n(RECEIVERS.drainedBytes)} bytes, for at most ${RECEIVERS.drainMs / 1_000} second and ${RECEIVERS.drainReads} reads after`,
		`rest of a request after its receiver has responded | sent until the attempt's deadline, or for ${RECEIVERS.bodyMs / 1_000} second if`,
		`header of a response | ${n(RECEIVERS.headBytes)} bytes, ${RECEIVERS.interimResponses} interim`,
		`pieces in which a response may arrive | ${RECEIVERS.reads}`,
		`${RECEIVERS.sessionsPerConnection} TLS sessions, ${RECEIVERS.keyUpdates} key updates, ${RECEIVERS.renegotiations} requests to renegotiate`,
		`parts of the log kept in memory | ${n(WINDOWS.bytes)} bytes, in windows of up to ${WINDOWS.events} events, until all webhooks have passed them`,
		`windows per project | ${WINDOWS.windowsPerProject}, read ${WINDOWS.readsPerProject} at`,
		`retries of a webhook in memory | ${WINDOWS.retriesPerQueue} for each`,
		`outcomes waiting for a commit | ${n(COMMITS.outcomesWaiting)}; ${n(COMMITS.outcomesWaitingPerProject)} of one`,
		`in one commit | ${n(COMMITS.publishBytes)} bytes of events, ${n(COMMITS.outcomes)} outcomes`,
		`closed without a request | ${COMMITS.closingPerProject} per project`,
		`active projects | ${n(PROJECTS.active)}, and ${n(PROJECTS.reserved)} more`,
		`for ${PROJECTS.quantumMs / 1_000} seconds while others wait`,
		`released, ${PROJECTS.releasesWaiting} wait half a second`,
		`and ${STOP.graceMs / 1_000} seconds at the latest`,
		`at most ${ALERTS.perProject} [alerts](alerts.md) in each pass`,
		`An alert may take ${ALERTS.timeoutMs / 1_000} seconds. After ${ALERTS.refusals} that weren't accepted, or ${ALERTS.sendingMs / 1_000} seconds of sending, a pass stops sending`,
	])
		expect(page).toContain(sentence);
	for (const sentence of [
		`has been for at least ${ALERTS.failingMs / 60_000} minutes`,
		`within ${ALERTS.timeoutMs / 1_000} seconds counts as accepted`,
		`After ${ALERTS.refusals} alerts that weren't accepted, or ${ALERTS.sendingMs / 1_000} seconds of sending, a pass stops sending`,
		`at most ${ALERTS.perProject} alerts`,
	])
		expect(pageOf("alerts")).toContain(sentence);
	for (const { burst, perMinute, node } of Object.values<RateLimitOptions>(RATES)) {
		const columns = node ? `${n(node.burst)} | ${n(node.perMinute)}` : "|";
		expect(page).toContain(`| ${n(burst)} | ${n(perMinute)} | ${columns}`);
	}
	const { startsPerTurn, startsPerTurnOfAll, turnMs } = CONNECTIONS;
	expect(turnMs).toBe(0.5);
	expect(page).toContain(`${startsPerTurn} requests of one project's keys, or of one account, start immediately`);
	expect(page.replaceAll("\n", " ")).toContain(`and ${startsPerTurnOfAll} of all projects and accounts`);
	const { renders } = METRICS;
	expect(page).toContain(
		`generated at most ${renders.burst} times in a burst and ${renders.perMinute} times per minute`,
	);
	expect(page).toContain(`counts again for each ${n(RESPONSES.countedBytes)} bytes`);
	expect(REQUESTS.bodyBytesPerProject * 8).toBe(REQUESTS.bodyBytesInFlight);
	for (const ms of [RESPONSES.readMs, CONNECTIONS.idleMs])
		expect(ms + 2 * CONNECTIONS.checkMs).toBeLessThanOrEqual(60_000);
});

test("the page on many nodes names the connections that a node opens, and a pool that is large enough for them", () => {
	const { lasting, brief } = DATABASE_CONNECTIONS;
	expect(nodes).toContain(
		`at most ${lasting} connections: ${POOLS.publish} to publish, ${POOLS.settle} to settle, ${POOLS.engine} for leases and reads of the log, ${POOLS.access} to check keys and sessions, ${POOLS.people} for the rest of the API, ${POOLS.waiting} that may wait for locked rows, and 1 to listen`,
	);
	expect(nodes).toContain(`\`default_pool_size\` to ${lasting + brief} per node`);
});

test("buffered bodies leave a third of the memory that the operators' page recommends", () => {
	const [, megabytes] = nodes.match(/Allow it (\d+) MB/)!;
	expect(NODE_BODY_BYTES).toBeLessThanOrEqual(Number(megabytes) * 1_000_000 * (2 / 3));
});

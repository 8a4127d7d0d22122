import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
	BODIES_OF_A_NODE,
	COMMITS,
	CONNECTIONS,
	LOG_READS,
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
	STRANGERS,
	WAITERS,
	WINDOWS,
} from "./budgets.ts";

const page = readFileSync(new URL("../../../../docs/operations/limits.md", import.meta.url), "utf8").replaceAll(
	"\n",
	" ",
);
const n = (value: number): string => value.toLocaleString("en-US");

test("the page for operators names the limits that the code has", () => {
	// One more listens for what other nodes do.
	const connections = Object.values(POOLS).reduce((sum, count) => sum + count, 1);
	for (const sentence of [
		`at most ${n(REQUESTS.batchEvents)} events`,
		`\`POSTHORN_MAX_EVENT_BYTES\` and ${n(REQUESTS.envelopeBytes)} bytes`,
		`any other body | ${n(REQUESTS.bodyBytes)} bytes`,
		`${REQUESTS.nesting} levels`,
		`unauthenticated request | ${n(REQUESTS.strangerBodyBytes)} bytes`,
		`${n(REQUESTS.bodyBytesOfStrangers)} bytes; ${n(REQUESTS.bodyBytesPerStranger)} for one`,
		`to the log | ${n(COMMITS.publishBytesWaiting)} bytes; ${n(COMMITS.publishBytesWaitingPerProject)} for one project`,
		`within ${REQUESTS.headerMs / 1_000} and ${REQUESTS.requestMs / 1_000} seconds`,
		`slices of ${n(REQUESTS.sliceBytes)} bytes or one element, and each element counts for ${REQUESTS.pieceBytes} bytes more`,
		`${n(RESPONSES.bytesInFlight)} bytes; ${n(RESPONSES.bytesPerPrincipal)} for one`,
		`broken off after ${RESPONSES.stallMs / 1_000} seconds`,
		`${RESPONSES.reads}; ${RESPONSES.readsPerPrincipal} for one principal, of which ${RESPONSES.readsWaiting} may wait`,
		`status code looks at | ${n(LOG_READS.attemptsScanned)}`,
		`${n(STRANGERS.wrongTokensPerMinute)} API keys or sessions that are no one's may come`,
		`looked up ${STRANGERS.lookups} at a time, one of each address, of which ${n(STRANGERS.lookupsWaiting)} may wait, and ${STRANGERS.lookupsWaitingThen} once`,
		`${WAITERS.calls} calls waiting for events (\`wait\`) on a node, of which people may take ${WAITERS.callsOfPeople}`,
		`${WAITERS.streams} streams of changes`,
		`${SIGN_IN.wrongForAccount} wrong passwords or links for an account, or ${SIGN_IN.wrongFromAddress} from a network address, within ${SIGN_IN.windowMs / 60_000} minutes`,
		`${SIGN_IN.hashes} passwords are hashed at a time, each with 19 MiB, and ${SIGN_IN.hashesWaiting} may wait`,
		`opens ${connections} connections at most: ${POOLS.publish} to publish, ${POOLS.settle} to settle, ${POOLS.engine} for the engine, ${POOLS.people} for people and ${POOLS.waiting} on which`,
		`and ${n(PROJECT_WRITES.waiting)} may wait; of all, ${PROJECT_WRITES.running}. A change waits ${PROJECT_WRITES.lockMs} ms`,
		`of which ${PROJECT_WRITES.apartWaiting} may wait`,
		`${n(CONNECTIONS.most)} at most`,
		`closed after ${CONNECTIONS.idleMs / 1_000} seconds, or ${CONNECTIONS.proxyIdleMs / 1_000} if`,
		`${CONNECTIONS.requestsInWork} requests are worked on at a time, and ${CONNECTIONS.requestsWaiting} may wait`,
	])
		expect(page).toContain(sentence);
	for (const sentence of [
		`requests in flight | ${n(SENDS.inFlight)},`,
		`bodies in flight | ${n(SENDS.bytesInFlight)} bytes; of`,
		`up to ${n(SENDS.smallBodyBytes)} bytes of a project that has nothing in flight | ${n(SENDS.smallBytesInFlight)} bytes besides`,
		`test events and single replays in flight | ${SENDS.requestedPerProject} of a project, ${n(SENDS.requestedInFlight)} in all, with ${n(SENDS.requestedBytesInFlight)} bytes`,
		`retries of a webhook in flight | ${SENDS.retriesPerWebhook}, or`,
		`addresses of a host that an attempt tries | ${RECEIVERS.addresses}`,
		`kept open between attempts | ${n(SENDS.idleConnections)}; ${RECEIVERS.idleConnections} to one`,
		`hosts whose TLS session is kept | ${n(RECEIVERS.tlsSessions)}`,
		`kept of a response | ${n(RECEIVERS.keptBytes)} bytes`,
		`header of a response | ${n(RECEIVERS.headBytes)} bytes, ${RECEIVERS.interimResponses} interim`,
		`what is kept of the log in memory | ${n(WINDOWS.bytes)} bytes, in windows of ${WINDOWS.events} events`,
		`windows of a project | ${WINDOWS.windowsPerProject}, of which ${WINDOWS.readsPerProject} are`,
		`retries of a webhook in memory | ${WINDOWS.retriesPerQueue} for each`,
		`outcomes waiting for a commit | ${n(COMMITS.outcomesWaiting)}; ${n(COMMITS.outcomesWaitingPerProject)} of one`,
		`in one commit | ${n(COMMITS.publishBytes)} bytes of events, ${n(COMMITS.outcomes)} outcomes`,
		`closed without a request | ${COMMITS.closingPerProject} of a project`,
		`projects at work | ${n(PROJECTS.active)}, and ${n(PROJECTS.setAside)} more`,
		`for ${PROJECTS.quantumMs / 1_000} seconds while others wait`,
		`released, ${PROJECTS.releasesWaiting} wait half a second`,
		`and ${STOP.graceMs / 1_000} seconds at the latest`,
	])
		expect(page).toContain(sentence);
	for (const { burst, perMinute } of Object.values(RATES)) expect(page).toContain(`| ${n(burst)} | ${n(perMinute)} |`);
	expect(REQUESTS.bodyBytesPerProject * 8).toBe(REQUESTS.bodyBytesInFlight);
	for (const ms of [RESPONSES.readMs, CONNECTIONS.idleMs])
		expect(ms + 2 * CONNECTIONS.checkMs).toBeLessThanOrEqual(60_000);
});

test("what bodies can make a node hold leaves a third of the memory that operators are told to allow", () => {
	const [, megabytes] = readFileSync(
		new URL("../../../../docs/operations/many-nodes.md", import.meta.url),
		"utf8",
	).match(/Allow it (\d+) MB/)!;
	expect(BODIES_OF_A_NODE).toBeLessThanOrEqual(Number(megabytes) * 1_000_000 * (2 / 3));
});

import { of } from "../mutation.ts";
import { inNet } from "../tests.ts";

/** Where requests may go, and what connections may cost. */
export const NET = [
	...of("server/src/net/tls/handshakes.ts", inNet("tls/handshakes"), [
		{
			name: "handshakes-no-rest",
			find: "if (this.#restMs(project, isProven) > 0) return false;",
			replace: "",
			why: "A project's receivers take the whole main thread with costly handshakes, one after the other.",
		},
		{
			name: "handshakes-others-continue",
			find: "!other.isMetered || this.#restMs(project, this.#isProven(other)) > 0",
			replace: "false",
			why: "A thousand costly handshakes that have begun take the main thread for minutes.",
		},
		{
			name: "handshakes-proof-lasts",
			find: 'if (proof === "failed" && this.#isProven(handshake)) this.#hosts.delete(host);',
			replace: "",
			tests: inNet("tls/tls-chains"),
			only: "only later",
			why: "A receiver shows a cheap chain once, and costly ones from then on.",
		},
		{
			name: "handshakes-proven-without-limit",
			find: "isProven ? HANDSHAKES.provenRestMs : 0",
			replace: "isProven ? Number.POSITIVE_INFINITY : 0",
			why: "A receiver proves a thousand hosts cheap, and then shows a costly chain on each.",
		},
		{
			name: "handshakes-waiters-forgotten",
			find: "\t\tthis.#admitNext(project);\n\t}\n\n\t#admitNext",
			replace:
				"\t\tif (project.queueOf(handshake).size === 1) this.#admitNext(project);\n\t\telse this.#setTimer(project);\n\t}\n\n\t#admitNext",
			only: "just when the rest ends",
			why: "A project's new receivers wait until their deadlines, because another one came just when they could go.",
		},
	]),
	...of("server/src/net/dial.ts", inNet("dial-addresses"), [
		{
			name: "dial-slow-address-gone",
			find: "this.#left.push({ address, limitMs: 2 * limitMs })",
			replace: 'this.#errors.push(new SendFailure("timeout", "late"))',
			only: "accepts late is used",
			why: "A lost packet fails the attempt if the host has an IPv6 address and this machine has none.",
		},
		{
			name: "dial-slow-address-no-longer-limit",
			find: "limitMs: 2 * limitMs",
			replace: "limitMs",
			only: "in each round",
			why: "Hosts with two addresses that take longer than a second to accept are never connected to.",
		},
		{
			name: "dial-same-addresses-first",
			find: "if (dialed instanceof Error) this.#rotate();",
			replace: "",
			only: "after a failure",
			why: "If eight addresses of a host are dead, the others are never tried.",
		},
		{
			name: "dial-same-addresses-in-time",
			find: "if (!this.#over) this.#rotate();",
			replace: "",
			only: "runs out of time",
			why: "If addresses that don't respond take all of an attempt's time, the others are never tried.",
		},
	]),
	...of("server/src/net/connections.ts", inNet("connections"), [
		{
			name: "connections-busy-host-keeps-all",
			find: "if (oldest === undefined || (kept > 0 && largest.length <= kept + 1)) return false;",
			replace: "if (oldest !== undefined) return false;",
			only: "make room",
			why: "Four busy hosts cost every other receiver a handshake for each delivery.",
		},
		{
			name: "connections-none-for-newcomers",
			find: "(kept > 0 && largest.length <= kept + 1)",
			replace: "largest.length <= kept + 1",
			only: "has none",
			why: "Next to a thousand quiet receivers, a busy one costs a handshake for each delivery.",
		},
		{
			name: "connections-few-of-a-host",
			find: "kept < RECEIVERS.idleConnections &&",
			replace: "kept < RECEIVERS.idleConnections / 2 &&",
			only: "a burst",
			why: "With hundreds of webhooks on one host, each burst closes connections that the next one opens again.",
		},
	]),
	...of("server/src/net/connections.ts", inNet("draining"), [
		{
			name: "connection-drains-without-limit",
			find: "RECEIVERS.drainMs);",
			replace: "60 * RECEIVERS.drainMs);",
			only: "isn't complete after a second",
			why: "Receivers that drip the rest of their responses exhaust the kept connections.",
		},
		{
			name: "connection-drips-without-limit",
			find: "--this.#drainReadsLeft > 0;",
			replace: "true;",
			only: "too many reads",
			why: "A receiver that sends the rest of its responses in single bytes takes the main thread.",
		},
		{
			name: "connection-used-while-draining",
			find: "findLast((kept) => !kept.isDraining)",
			replace: "findLast(() => true)",
			only: "use other connections",
			why: "A request gets the rest of the previous response as its own.",
		},
	]),
	...of("server/src/net/tls/tls.ts", inNet("tls/tls-chains"), [
		{
			name: "metered-stream-counts-nothing",
			find: "this.#metering.handshake.process(chunk.length, () => this.push(chunk))",
			replace: "(setImmediate(() => this.push(chunk)), null)",
			only: "connected to rarely",
			why: "The time that OpenSSL takes is spent after the measurement, so no handshake is costly.",
		},
	]),
	...of("server/src/net/egress.ts", inNet("egress"), [
		{
			name: "guard-mapped-addresses",
			find: "return isAllowed(address.toIPv4Address());",
			replace: "return true;",
			why: "Public IPv4 addresses in another spelling pass a check that reads them otherwise.",
		},
		{
			name: "guard-embedded-addresses",
			find: "if (!embeddedIpv4(address).every(isPublicOrAllowed)) return false;",
			replace: "",
			why: "Allowing a translation such as NAT64 opens the private addresses behind it.",
		},
		{
			name: "guard-isatap",
			find: "isIsatap || ",
			replace: "",
			only: "ISATAP",
			why: "Where a machine has an ISATAP interface, a webhook reaches private IPv4 addresses through it.",
		},
		{
			name: "guard-ipv6-outside-global",
			find: "if (!holds(globalIpv6, address)) return false;",
			replace: "",
			why: "Private networks can be reached by their IPv6 addresses.",
		},
		{
			name: "guard-own-addresses",
			find: "return isOwn(address) && ",
			replace: "return false && ",
			why: "A webhook reaches the machine's own public address from the inside, past its firewall.",
		},
		{
			name: "guard-denies-only-literally",
			find: "[address, ...embeddedIpv4(address)].some(isDenied)",
			replace: "[address].some(isDenied)",
			why: "A denied address can be reached through a translation.",
		},
		{
			name: "guard-names-below-localhost",
			find: ' || host.endsWith(".localhost")',
			replace: "",
			why: "A webhook is registered for a name of this machine.",
		},
		{
			name: "guard-root-dot",
			find: 'return host.endsWith(".") ? host.slice(0, -1) : host;',
			replace: "return host;",
			why: '"localhost." passes where "localhost" is refused.',
		},
	]),
	...of("server/src/net/shortages.ts", inNet("shortages"), [
		{
			name: "shortages-same-delay",
			find: "Math.min(2 * state.delayMs, LONGEST_DELAY_MS)",
			replace: "state.delayMs",
			why: "During a long shortage the machine is tried every second.",
		},
		{
			name: "shortages-put-off-counts-as-met",
			find: "if (!tried) return;",
			replace: "",
			why: "Postponed sends prolong a shortage that has ended.",
		},
		{
			name: "shortages-wake-all",
			find: "mayTry ? WOKEN_TO_TRY : 0",
			replace: "mayTry ? this.#waiting.size : 0",
			why: "Each second of a shortage ten thousand lanes wake for nothing.",
		},
		{
			name: "shortages-never-over",
			find: "passed(shortage: Shortage): void {\n\t\tthis.#states[shortage].lasts = false;",
			replace: "passed(shortage: Shortage): void {\n\t\tthis.#states[shortage].trying = false;",
			why: "A shortage that has ended still delays deliveries for half a minute.",
		},
	]),
];

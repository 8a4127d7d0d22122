import { of } from "../../mutation.ts";
import { inEngine, inNet } from "../../tests.ts";

/** How requests leave, to whom, and how many at once. */
export const ENGINE_SEND = [
	...of("server/src/net/response-parser.ts", inNet("response-parser"), [
		{
			name: "answer-endless-interim-responses",
			find: "++this.#interim > RECEIVERS.interimResponses",
			replace: "++this.#interim > Number.POSITIVE_INFINITY",
			why: "A receiver that sends interim responses without end takes the main thread.",
		},
		{
			name: "parser-leaves-rest-unread",
			find: '? "rest" : "cut";',
			replace: '? "cut" : "cut";',
			tests: inNet("draining"),
			only: "its connection is reused",
			why: "Each response of more than a kilobyte costs a TLS handshake.",
		},
	]),
	...of("server/src/engine/send/http-attempt.ts", inEngine("send/http-sender"), [
		{
			name: "sender-patient-with-bodies",
			find: "RECEIVERS.bodyMs);",
			replace: "60 * RECEIVERS.bodyMs);",
			tests: inEngine("send/answers"),
			only: "grace period of a second",
			why: "A receiver that answers and then drips holds its lane for a minute.",
			review: "http-sender.ts: a body has a minute instead of a second",
		},
		{
			name: "sender-deadline-begins-again",
			find: "\t\tthis.#waitedBeforeMs = this.#waitedMs;\n",
			replace: "\t\tthis.#context.deadlines.add(this);\n\t\tthis.#waitedBeforeMs = this.#waitedMs;\n",
			only: "restart the attempt.s deadline",
			why: "Each change of the URL gives an attempt its whole time again.",
			review: "http-sender.ts: each exchange has a deadline of its own",
		},
		{
			name: "sender-replaces-by-used-one",
			find: "this.#mustBeNew = true;",
			replace: "",
			tests: inNet("connections"),
			why: "A receiver that restarted gets a request once for each connection that it has closed, before one arrives.",
		},
		{
			name: "sender-blames-wait-for-body",
			find: "this.#timesUntil(truncated ? this.#readAt : null)",
			replace: "this.#timesUntil(null)",
			tests: inEngine("send/answers"),
			only: "grace period of a second",
			why: "The time spent waiting for a missing body counts as the receiver's response time.",
		},
		{
			name: "sender-wait-counts",
			find: "const moreMs = waitedMs - this.#extendedMs;",
			replace: "const moreMs = 0 * (waitedMs - this.#extendedMs);",
			tests: inEngine("send/dial-waits"),
			why: "On a busy node attempts time out before their turn to connect has come.",
		},
		{
			name: "exchange-sends-when-inactive",
			find: "if (!target.active || !this.#shipment.mayLeave()) {",
			replace: "if (!this.#shipment.mayLeave()) {",
			tests: ["server/test/engine-memory.test.ts", ...inEngine("send/send-batch")],
			only: "withholding|paused in the same turn",
			why: "After a pause has returned, a request that waited to connect leaves.",
		},
		{
			name: "exchange-sends-without-lease",
			find: "if (!target.active || !this.#shipment.mayLeave()) {",
			replace: "if (!target.active) {",
			only: "once the lease is lost",
			why: "A request leaves after the lease has passed on, and another node makes it, too.",
		},
		{
			name: "exchange-old-url",
			find: "} else if (target.url !== destination.url) {",
			replace: "} else if (target.url === null) {",
			only: "after a change of URL",
			why: "After a change of the URL has returned, a request goes to the old one.",
		},
		{
			name: "exchange-answered-attempt-again",
			find: "const isStale = this.#isReused && !this.#response.heard && isConnectionClosed(error);",
			replace: "const isStale = this.#isReused && isConnectionClosed(error);",
			tests: inNet("connections"),
			only: "broke off during the response",
			why: "A receiver that broke off within its response gets the request twice, as one attempt.",
		},
		{
			name: "exchange-malformed-body-fails",
			find: 'this.failed(new SendFailure("malformed_response", "the response is not HTTP"));',
			replace: 'this.#endFailed(new SendFailure("malformed_response", "the response is not HTTP"));',
			tests: inEngine("send/answers"),
			why: "An event that was accepted is sent again because its response's body was malformed.",
		},
	]),
	...of("server/src/engine/send/slots.ts", inEngine("send/slots"), [
		{
			name: "slots-no-room-left",
			find: "return held < free;",
			replace: "return held <= free;",
			why: "A greedy project takes what should stay free for the next one.",
		},
		{
			name: "slots-small-budget-for-all",
			find: "return sends === 0 && isSmallBody(bytes) && this.#small.free > 0",
			replace: "return isSmallBody(bytes) && this.#small.free > 0",
			why: "One project takes the bytes that are reserved for the small events of all.",
		},
		{
			name: "slots-freed-bytes-not-told",
			find: "if (less > 0) this.#callWaiting();",
			replace: "",
			why: "Projects wait for bytes that have been free for a while.",
		},
		{
			name: "slots-no-watch",
			find: "\t\t\tthis.#calling = false;\n\t\t\tthis.#watch();",
			replace: "\t\t\tthis.#calling = false;",
			why: "With hanging receivers in all fast slots nothing else is sent until one of them ends.",
		},
	]),
	...of("server/src/engine/send/slot.ts", inEngine("send/slots"), [
		{
			name: "slots-released-twice",
			find: "if (this.held) this.#slots.release(this);",
			replace: "this.#slots.release(this);",
			why: "A slot that is released twice lets more requests in flight than there may be.",
		},
		{
			name: "fast-sends-all-for-one",
			find: "return fast < SENDS.fastShare * (this.#limit - this.count);",
			replace: "return this.count < this.#limit && fast < this.#limit;",
			why: "Next to a project whose receivers are slow, a quiet project waits a quarter of a second for each send.",
		},
		{
			name: "fast-sends-of-the-future",
			find: "Math.abs(now - oldest.since)",
			replace: "now - oldest.since",
			why: "After the clock was set back by a day nothing is sent for as long.",
		},
	]),
	...of("server/src/engine/send/deadlines.ts", inEngine("send/deadlines"), [
		{
			name: "deadlines-whole-time-again",
			find: "Math.ceil(timed.dueAt - now)",
			replace: "this.#ms",
			why: "An attempt that hangs is cut after up to twice its time.",
		},
		{
			name: "deadlines-timer-left",
			find: "\t\tthis.#timer?.cancel();\n\t\tthis.#timer = null;\n",
			replace: "\t\tthis.#timer = null;\n",
			why: "A timer stays set, and cuts the next attempt early.",
		},
		{
			name: "deadlines-timer-doubled",
			find: "\t\tthis.#timer?.cancel();\n\t\tthis.#timer = this",
			replace: "\t\tthis.#timer = this",
			why: "Each attempt that begins while another is cut off leaves one more timer.",
		},
	]),
];

export { type Chromium, findChromium } from "./chromium.ts";
export { reset } from "./connections.ts";
export { endWithParent } from "./end-with-parent.ts";
export {
	type FastReceiver,
	type FastReceiverOptions,
	type FastReceiverStats,
	startFastReceiver,
} from "./fast/fast-receiver.ts";
export { type ForkedFastReceiver, type ForkedStats, forkFastReceiver } from "./fast/fast-receiver-fork.ts";
export type { PathReport } from "./fast/fast-tally.ts";
export {
	answering,
	answeringThenClosing,
	type Behaviour,
	drippingBody,
	drippingHeaders,
	hostile,
	plain,
} from "./hostile.ts";
export { readRequest } from "./http-bytes.ts";
export type { WaitOptions } from "./inbox.ts";
export { OLDEST_NODE } from "./oldest-node.ts";
export { isUnused, unusedPort } from "./ports.ts";
export { type CommitFate, PostgresProxy } from "./postgres/postgres-proxy.ts";
export { Posthorn, type PosthornOptions, SERVICE_NODE_OPTIONS, settingsOfNodes } from "./posthorn.ts";
export {
	type OnConnection,
	type RawReceiver,
	type RawReceiverOptions,
	startPlainTcp,
	startRawReceiver,
} from "./raw-receiver.ts";
export {
	type Action,
	type ReceivedRequest,
	type Receiver,
	type ReceiverOptions,
	type Respond,
	type ScriptedResponse,
	type Secret,
	startReceiver,
} from "./receiver.ts";
export { Signal } from "./signal.ts";
export { createCostlyChain } from "./tls/certificate-chain.ts";
export {
	type Authority,
	type Credentials,
	createAuthority,
	type IssueOptions,
	issueExpired,
	issueForWrongHost,
	issueSelfSigned,
	writeCaFile,
} from "./tls/certificates.ts";
export { type FloodingSocket, serveTlsFlood, type TlsFlood } from "./tls/tls-floods.ts";
export { patience, until, within } from "./until.ts";
export { type Verification, type VerifyOptions, verifyRequest } from "./verify.ts";
export { VirtualClock } from "./virtual-clock.ts";

import type { WebhookEvent } from "./event.ts";
import { checkHandlers, type Handlers } from "./handlers.ts";
import type { Store } from "./store.ts";
import { checkedOptions, checkedSecrets, type VerifyOptions } from "./verify.ts";

/** Posthorn waits for 15 s, connecting included. */
const TIMEOUT_S = 12;
const LEASE_S = 60;
const MAX_BYTES = 1_048_576;
/** The longest delay that `setTimeout` takes, seconds. */
const LONGEST_S = 2_147_483;

/** The webhook's signing secret, or several while you rotate it. */
export type Secret = string | readonly string[];

export interface ReceiverOptions extends VerifyOptions {
	/**
	 * The webhook's signing secret, or several while you rotate it. Or a function that returns them: it is called for each
	 * request, so the secret may be missing when the module is loaded, as in a build, and may change later.
	 */
	readonly secret: Secret | (() => Secret | undefined | Promise<Secret | undefined>);
	readonly on: Handlers;
	/** Where handled events are remembered, so that a duplicate isn't handled again. */
	readonly store: Store;
	/** Tells receivers apart that share a store and should each handle every event. */
	readonly name?: string;
	/** How long a request waits for its handler before it gets 503, seconds. 12 by default. */
	readonly timeout?: number;
	/** How long a claim outlives a process that died, seconds. 60 by default. */
	readonly lease?: number;
	/** The largest body to read, bytes. 1 MiB by default. */
	readonly maxBytes?: number;
	/** Called with errors of handlers and the store. `console.error` by default. Errors of its own are logged. */
	readonly onError?: (error: unknown, event: WebhookEvent | undefined) => unknown;
}

export type Settings = ReturnType<typeof settingsOf>;

/** Checks the options now, so that a mistake shows up when the program starts and not with the first request. */
export function settingsOf(options: ReceiverOptions) {
	const { on, name, maxBytes = MAX_BYTES } = options;
	const prefix = name === undefined ? "" : `${name}/`;
	checkHandlers(on);
	// Text such as "1mb" would be no limit.
	if (!(typeof maxBytes === "number" && maxBytes > 0))
		throw new RangeError(`maxBytes is ${maxBytes}; give a number of bytes above 0.`);
	return {
		on,
		maxBytes,
		secrets: secretsOf(options.secret),
		verifyOptions: checkedOptions(options),
		timeoutMs: milliseconds("timeout", options.timeout ?? TIMEOUT_S),
		leaseMs: milliseconds("lease", options.lease ?? LEASE_S),
		onError: guarded(options.onError ?? ((error) => console.error("A webhook could not be handled.", error))),
		/** Ids are only unique within their project. The body is signed, unlike the header with the id. */
		keyOf: ({ project_id, id }: WebhookEvent) => `${prefix}${project_id}/${id}`,
	};
}

/** Throws a TypeError if the secret is given and empty. `verify` checks what a function returns. */
function secretsOf(secret: ReceiverOptions["secret"]): () => Promise<Secret> {
	if (typeof secret === "function") return async () => (await secret()) ?? "";
	const secrets = checkedSecrets(
		secret,
		" If it is set only when requests arrive, as when a build loads this module, pass a function: " +
			"secret: () => process.env.WEBHOOK_SECRET",
	);
	return async () => secrets;
}

/** Keeps what `onError` throws, or rejects with, from ending the process or a request. */
function guarded(onError: NonNullable<ReceiverOptions["onError"]>) {
	return (error: unknown, event: WebhookEvent | undefined): void => {
		const report = async () => onError(error, event);
		report().catch((cause: unknown) => console.error("onError failed, so this error is logged here.", error, cause));
	};
}

/** @param name the option's name, for the error */
export function milliseconds(name: string, seconds: number): number {
	if (typeof seconds === "number" && seconds > 0 && seconds <= LONGEST_S) return seconds * 1_000;
	throw new RangeError(`${name} is ${seconds}; give a number of seconds above 0, at most ${LONGEST_S}.`);
}

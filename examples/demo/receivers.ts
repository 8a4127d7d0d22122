import { createAuthority, writeCaFile } from "@posthorn/testkit";
import type { Api, Attempt, Webhook } from "./api.ts";
import { openReceiver, type Receipt, type Verdict } from "./receiver.ts";
import { type Manner, sound, troubled } from "./trouble.ts";

export interface RegisteredWebhook {
	readonly webhook: Webhook;
	/** How its receiver behaves, in words. */
	readonly manner: string;
}

export interface Receivers {
	/** PEM file of the authority that issued the receivers' certificates. */
	readonly caFile: string;
	/** Registers a webhook for each receiver, and gives the receiver its secret. */
	register(api: Api, projectId: string): Promise<RegisteredWebhook[]>;
	onReceipt(listener: (receipt: Receipt) => void): void;
	nameOf(webhookId: string): string | undefined;
	/** The receiver's verdict on the attempt's request; null if it didn't get all of it. Returned only once. */
	takeVerdict(attempt: Attempt): Verdict | null;
	close(): Promise<void>;
}

const SIGNATURE_HEADER = "x-service-signature";

interface Cast {
	readonly name: string;
	readonly path: string;
	/** Null: all types. */
	readonly events: readonly string[] | null;
	readonly manner: Manner;
	readonly inWords: string;
}

/** Starts two HTTPS receivers on loopback, and writes the certificate of their authority to `folder`. */
export async function startReceivers(folder: string, seed: number, attemptTimeout: number): Promise<Receivers> {
	const authority = await createAuthority();
	const caFile = await writeCaFile(authority, folder);

	const cast: readonly Cast[] = [
		{
			name: "Accounting",
			path: "/accounting/webhooks",
			events: null,
			manner: sound,
			inWords: "gets every event, accepts it immediately",
		},
		{
			name: "Chat notices",
			path: "/chat/notices",
			events: ["purchase.completed", "purchase.refunded", "basket.abandoned"],
			manner: troubled(seed, attemptTimeout),
			inWords: "gets purchases and baskets; refuses some, and is sometimes slow or hangs up",
		},
	];
	let listener: (receipt: Receipt) => void = () => {};
	/** By URL and signature, which identify a request. */
	const verdicts = new Map<string, Verdict>();
	const names = new Map<string, string>();
	const running = await Promise.all(
		cast.map(async ({ path, manner }) => {
			const onReceipt = (receipt: Receipt): void => {
				verdicts.set(`${receipt.url} ${receipt.signature}`, receipt);
				listener(receipt);
			};
			return await openReceiver({ authority, path, manner, onReceipt });
		}),
	);

	return {
		caFile,
		async register(api, projectId) {
			const allTypes = await api.listEventTypes();
			return await Promise.all(
				cast.map(async ({ name, events, inWords }, at) => {
					const receiver = running[at];
					if (receiver === undefined) throw new Error(`The receiver of ${name} is not running.`);
					const { secret, ...webhook } = await api.createWebhook(projectId, {
						url: receiver.url,
						description: name,
						events: events ?? allTypes,
					});
					receiver.useSecret(secret);
					names.set(webhook.id, name);
					return { webhook, manner: inWords };
				}),
			);
		},
		onReceipt(listen) {
			listener = listen;
		},
		nameOf: (webhookId) => names.get(webhookId),
		takeVerdict(attempt) {
			const key = `${attempt.url} ${signatureOf(attempt)}`;
			const verdict = verdicts.get(key) ?? null;
			verdicts.delete(key);
			return verdict;
		},
		async close() {
			await Promise.all(running.map((receiver) => receiver.close()));
		},
	};
}

function signatureOf({ request_headers }: Attempt): string | undefined {
	return Object.entries(request_headers).find(([name]) => name.toLowerCase() === SIGNATURE_HEADER)?.[1];
}

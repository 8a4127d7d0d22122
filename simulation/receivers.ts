/** The receivers of a world's webhooks. Each has a name and a public address of its own, and behaves as its mood says. */
import { behaviourOf } from "./moods.ts";
import { type Network, Receiver } from "./network/index.ts";
import type { Webhook } from "./people.ts";

/** Webhooks of a project at most. */
const WEBHOOKS = 4_096;

export function hostOf(project: number, webhook: number): string {
	return `w${webhook}.p${project}.example`;
}

export function addressOf(project: number, webhook: number): string {
	const n = project * WEBHOOKS + webhook;
	return `${[20, 40, 60][n >>> 24] ?? 80}.${(n >>> 16) & 255}.${(n >>> 8) & 255}.${n & 255}`;
}

/** The next URL of a webhook, always on the same host. */
export function nextUrl(webhook: Webhook, network: Network): string {
	const { project, index } = webhook;
	const host = hostOf(project.index, index);
	webhook.urls += 1;
	if (webhook.urls === 1) listen(webhook, host, network);
	return `https://${host}/${webhook.urls}`;
}

function listen(webhook: Webhook, host: string, network: Network): void {
	const address = addressOf(webhook.project.index, webhook.index);
	const receiver = new Receiver(host);
	receiver.behave = (_request, draw) => behaviourOf(webhook.mood, draw);
	network.names.set(host, [address]);
	network.listen(receiver, address);
}

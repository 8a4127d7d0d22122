/**
 * Replaces what a lost seal key has sealed, for `posthorn seal-key --lost`. Nothing can open those secrets, so each is
 * replaced by a mark that says so, and its webhook is paused: its receiver would refuse a new secret's signatures. The
 * owner then rotates the secret, gives it to the receiver, and resumes the webhook.
 */
import type { Clock } from "../base/clock.ts";
import { rowsOf } from "../base/collections.ts";
import { IdSource } from "../base/ids.ts";
import { openSealCheck, SEAL_CHECK, Seal, sealCheck } from "../base/seal.ts";
import { sealLostSecret } from "../engine/signing-keys.ts";
import type { Storage, Webhook } from "../storage/port.ts";

type Verbs = Pick<
	Storage,
	"listProjects" | "listWebhooks" | "updateWebhook" | "resealSecret" | "appendAudit" | "getSetting" | "setSetting"
>;

/** A webhook whose secret can't be opened. */
export interface UnopenedWebhook
	extends Pick<Webhook, "projectId" | "id" | "url" | "description" | "status" | "sealedDigest"> {
	readonly projectName: string;
}

/** What the current keys don't open. */
interface Unopened {
	/** Whether a service with these keys starts. */
	readonly starts: boolean;
	readonly webhooks: readonly UnopenedWebhook[];
}

/** @param keys null if there are none, so that nothing can be opened */
export async function findUnopened(storage: Verbs, keys: readonly Uint8Array[] | null): Promise<Unopened> {
	const seal = keys && new Seal(keys);
	const webhooks: UnopenedWebhook[] = [];
	for await (const { id: projectId, name: projectName } of rowsOf((page) => storage.listProjects(page)))
		for await (const webhook of rowsOf((page) => storage.listWebhooks({ projectId, ...page }))) {
			const { id, url, description, status, sealedDigest } = webhook;
			if (seal !== null && succeeds(() => seal.open(sealedDigest, id))) continue;
			webhooks.push({ projectId, projectName, id, url, description, status, sealedDigest });
		}
	return { starts: keys !== null && (await startsWith(storage, keys)), webhooks };
}

/** Whether a service with these keys starts on a database that one has used before. */
export async function startsWith(storage: Pick<Storage, "getSetting">, keys: readonly Uint8Array[]): Promise<boolean> {
	const check = await storage.getSetting({ name: SEAL_CHECK });
	return check !== null && succeeds(() => openSealCheck(new Seal(keys), check));
}

/**
 * Pauses each webhook, replaces its secret, and lets a service with these keys start. May be repeated after a crash. What
 * it is about to do is recorded first: only the audit log then names all webhooks, and tells their owners why they are
 * paused.
 *
 * @param onReplaced called after each webhook
 */
export async function replaceUnopened(
	storage: Verbs,
	keys: readonly Uint8Array[],
	{ starts, webhooks }: Unopened,
	clock: Pick<Clock, "now">,
	onReplaced: (count: number) => void = () => undefined,
): Promise<void> {
	const seal = new Seal(keys);
	const ids = new IdSource(clock);
	for (const [i, { projectId, id, url, description, status, sealedDigest }] of webhooks.entries()) {
		const target = { kind: "webhook", id, name: description || url };
		const record = (action: string) =>
			storage.appendAudit({ id: ids.next("audit"), at: clock.now(), projectId, action, target, ...BY_OPERATOR });
		if (status === "active") await record("webhook.paused");
		await record("webhook.secret_lost");
		await storage.updateWebhook({ projectId, webhookId: id, patch: { status: "paused" } });
		await storage.resealSecret({ projectId, webhookId: id, from: sealedDigest, ...sealLostSecret(seal, id) });
		onReplaced(i + 1);
	}
	// Last, so that a service doesn't start on a half-finished database. The last key may have sealed other secrets: as
	// after any start with several keys, the first fits once it has sealed them all.
	if (!starts) await storage.setSetting({ name: SEAL_CHECK, value: sealCheck(new Seal(keys.slice(-1))) });
}

/** Who may run the command may also read the operator's key, or replace it. */
const BY_OPERATOR = {
	actor: { kind: "operator_key", id: null, name: "The operator's key" },
	detail: { reason: "seal_key_lost" },
} as const;

function succeeds(open: () => unknown): boolean {
	try {
		open();
		return true;
	} catch {
		return false;
	}
}

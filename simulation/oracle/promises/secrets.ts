import { createDecipheriv, createHash, createHmac } from "node:crypto";
import type { Check, Witness } from "../check.ts";

interface Secret {
	/** As stored. */
	readonly sealed: Uint8Array;
	readonly digest: Buffer;
	/** A rotation that came after it was answered. */
	retired: boolean;
	readonly at: number;
}

/** Every request is signed, with a secret that no rotation has replaced that was answered, or stored a quiet while ago. */
export function secrets(witness: Witness): Check {
	const byWebhook = new Map<string, Secret[]>();

	function add(webhookId: string, sealed: Uint8Array, at: number): void {
		const secret = { sealed, digest: open(witness.facts.sealKey, sealed, webhookId), retired: false, at };
		const secrets = byWebhook.get(webhookId);
		if (secrets) secrets.push(secret);
		else byWebhook.set(webhookId, [secret]);
	}

	return {
		promise: "nothing is signed with a secret after its rotation returned",
		on(happening) {
			if (happening.kind === "webhook created") add(happening.webhook.id, happening.webhook.sealedDigest, happening.at);
			else if (happening.kind === "secret rotated") add(happening.webhookId, happening.sealedDigest, happening.at);
			else if (happening.kind === "restored")
				for (const secrets of byWebhook.values()) for (const secret of secrets) secret.retired = false;
			else if (happening.kind === "answered" && happening.done && happening.act.act === "rotate") {
				const { webhookId, projectId } = happening.act;
				const digest = createHash("sha256").update(happening.answer).digest();
				const all = byWebhook.get(webhookId) ?? [];
				const current = all.findIndex((secret) => secret.digest.equals(digest));
				if (current < 0)
					witness.broken({ projectId, webhookId }, "a rotation was answered with a secret that was not stored");
				for (const secret of all.slice(0, Math.max(0, current))) secret.retired = true;
			} else if (happening.kind === "sent") {
				const { request, at } = happening;
				const { webhook, eventId, signature, timestamp } = witness.wire.read(request, at);
				if (!webhook) return;
				const about = { projectId: webhook.projectId, webhookId: webhook.id, eventId };
				const isBy = ({ digest }: Secret): boolean => sign(digest, timestamp, request.body) === signature;
				const signer = (byWebhook.get(webhook.id) ?? []).findLast(isBy);
				if (!signer) witness.broken(about, "it was signed with no secret that its webhook has had");
				else if (signer.retired)
					witness.broken(about, "it was signed with the old secret after the rotation was answered");
				else if (
					// Usually the same object, which needn't be opened.
					webhook.sealedDigest !== signer.sealed &&
					witness.isInForce(webhook) &&
					!open(witness.facts.sealKey, webhook.sealedDigest, webhook.id).equals(signer.digest)
				)
					witness.broken(about, "it was signed with the old secret a while after the rotation");
				const aheadMs = Number(timestamp) * 1_000 - witness.nodeNow(request.node);
				if (!(aheadMs <= 0 && aheadMs > -2_000))
					witness.broken(about, `its timestamp is ${timestamp}, ${aheadMs} ms from its node's clock`);
			}
		},
	};
}

function sign(digest: Buffer, timestamp: string, body: Uint8Array): string {
	return createHmac("sha256", digest).update(`${timestamp}.`).update(body).digest("hex");
}

/** A sealed value is nonce (12 bytes), tag (16) and ciphertext (AES-256-GCM). */
function open(key: Uint8Array, sealed: Uint8Array, context: string): Buffer {
	const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, 12), { authTagLength: 16 });
	decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(12, 28));
	return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]);
}

import { isMissingSecret } from "@posthorn/protocol";
import { UsageError } from "../command-error.ts";
import { localSecret } from "./stored.ts";

/** Signs for receivers on this machine: the secret of the environment, as `listen` printed it, or the machine's own. */
export const signingSecret = (): string => secretOfEnvironment() ?? localSecret();

/** `WEBHOOK_SECRET`; null if it isn't set. @throws UsageError as {@link checkSecret} does */
export function secretOfEnvironment(): string | null {
	const { WEBHOOK_SECRET: secret } = process.env;
	return secret ? checkSecret(secret, "WEBHOOK_SECRET") : null;
}

/**
 * Returns the secret.
 *
 * @param source where it comes from
 * @throws UsageError if it is a placeholder, such as "undefined": receivers refuse it, because anyone could sign with it
 */
export function checkSecret(secret: string, source: string): string {
	if (!isMissingSecret(secret)) return secret;
	throw new UsageError([
		`${source} has a placeholder or nothing instead of a signing secret (whsec_…). Is it filled in?`,
	]);
}

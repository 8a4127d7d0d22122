import { systemClock } from "../base/clock.ts";
import type { Config } from "../config/index.ts";
import { createGuard } from "../engine/send/guard.ts";
import { createResolver } from "../engine/send/resolver.ts";
import type { Finding } from "./finding.ts";

/** A name that every resolver knows, for whether names resolve at all (RFC 2606). */
const KNOWN_NAME = "example.com";

/** Whether names resolve, and where deliveries may go. */
export async function examineEgress({ egressAllow }: Config): Promise<Finding[]> {
	const guard = createGuard({ allow: egressAllow });
	const findings: Finding[] = [];
	try {
		await createResolver({ guard, clock: systemClock }).lookup(KNOWN_NAME);
		findings.push({ state: "ok", name: "Names", text: "Host names resolve." });
	} catch (error) {
		findings.push({
			state: "warning",
			name: "Names",
			text: `${KNOWN_NAME} did not resolve (${(error as Error).message}): check /etc/resolv.conf, or receivers with names cannot be reached.`,
		});
	}
	if (egressAllow.length > 0)
		findings.push({
			state: "warning",
			name: "Egress",
			text: `Deliveries may also go to ${egressAllow.join(", ")}: whoever registers webhooks can reach what is there.`,
		});
	else findings.push({ state: "ok", name: "Egress", text: "Deliveries go to public addresses only." });
	return findings;
}

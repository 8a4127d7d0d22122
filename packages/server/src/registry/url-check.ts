import { isIP } from "node:net";
import { type Clock, within } from "../base/clock.ts";
import { type Guard, hostOf, type UrlFault } from "../net/egress.ts";
import { SendFailure } from "../net/errors.ts";
import type { Resolver } from "../net/resolver.ts";
import { urlFaults, type WebhookLimits } from "./webhooks.ts";

/** How long to wait for a name to resolve, milliseconds. */
const LOOKUP_MS = 3_000;

const CHECKS = ["https", "reachable_name", "public_address"] as const;
type CheckName = (typeof CHECKS)[number];
/** `unknown`: not checked, or not in time. */
type CheckState = "ok" | "failed" | "unknown";

const ENCRYPTED = "Sent encrypted, over HTTPS.";
/** The check that a URL's fault belongs to, if not the first. */
const FAILED_BY: Readonly<Partial<Record<UrlFault, CheckName>>> = {
	port_not_allowed: "public_address",
	localhost: "public_address",
	address_not_public: "public_address",
	address_not_allowed: "public_address",
	local_name: "reachable_name",
};

interface Finding {
	readonly state: CheckState;
	readonly detail: string;
}

const ok = (detail: string): Finding => ({ state: "ok", detail });
const failed = (detail: string): Finding => ({ state: "failed", detail });
const unknown = (detail: string): Finding => ({ state: "unknown", detail });
const NO_ADDRESS = unknown("The address can be checked once the name resolves.");

interface UrlCheckResult {
	/** Whether a webhook can be registered for it, and nothing known prevents requests from arriving. */
	readonly ok: boolean;
	readonly checks: (Finding & { readonly name: CheckName })[];
}

interface UrlCheckOptions {
	readonly guard: Pick<Guard, "checkUrl">;
	readonly resolver: Resolver;
	readonly clock: Clock;
	readonly limits: Pick<WebhookLimits, "maxUrlLength">;
}

/** Says, before a webhook is registered, whether its requests could arrive. Sends nothing to the URL. */
export class UrlCheck {
	readonly #options: UrlCheckOptions;

	constructor(options: UrlCheckOptions) {
		this.#options = options;
	}

	async check(text: string): Promise<UrlCheckResult> {
		const { guard, limits } = this.#options;
		const url = URL.parse(text);
		const [fault] = urlFaults(text, limits.maxUrlLength, guard);
		if (url === null || fault) return refused(url, fault?.detail ?? "This is not a URL.", guard);
		const [name, address] = await this.#lookUp(hostOf(url));
		return {
			ok: name.state !== "failed" && address.state !== "failed",
			checks: [
				{ name: "https", ...ok(ENCRYPTED) },
				{ name: "reachable_name", ...name },
				{ name: "public_address", ...address },
			],
		};
	}

	/** What a lookup says about the host's name and about its address. */
	async #lookUp(host: string): Promise<readonly [name: Finding, address: Finding]> {
		const { clock, resolver } = this.#options;
		if (isIP(host) !== 0) return [ok("An address needs no lookup."), ok("The address is allowed.")];
		const resolves = ok(`${host} resolves.`);
		try {
			const addresses = await within(clock, LOOKUP_MS, resolver.lookup(host));
			if (addresses !== null) return [resolves, ok("Its address is allowed.")];
			const failure = `${host} did not resolve within ${LOOKUP_MS / 1_000} seconds.`;
			return [unknown(`${failure} It may resolve when an event is sent.`), NO_ADDRESS];
		} catch (error) {
			if (!(error instanceof SendFailure)) throw error;
			switch (error.reason) {
				case "address_not_public":
					return [resolves, failed(`${host} has no public address, so nothing can be delivered there.`)];
				case "address_not_allowed": {
					const refusal = `The operator of this service doesn't allow requests to the address of ${host}`;
					return [resolves, failed(`${refusal}, so nothing can be delivered there.`)];
				}
				case "dns_not_found": {
					const advice = "Check the spelling, or wait for its DNS entry to propagate.";
					return [failed(`There is no host named ${host}. ${advice}`), NO_ADDRESS];
				}
				default:
					return [unknown(`${host} could not be resolved. It may resolve when an event is sent.`), NO_ADDRESS];
			}
		}
	}
}

/** A URL that can't be registered: the first failed check says why, and later checks aren't made. */
function refused(url: URL | null, why: string, guard: Pick<Guard, "checkUrl">): UrlCheckResult {
	const verdict = url && guard.checkUrl(url);
	const reason = verdict && !verdict.ok ? verdict.reason : "not_https";
	const failedAt = CHECKS.indexOf(FAILED_BY[reason] ?? "https");
	return {
		ok: false,
		checks: CHECKS.map((name, i) => {
			if (i < failedAt) return { name, ...ok(name === "https" ? ENCRYPTED : "No lookup needed.") };
			return { name, ...(i === failedAt ? failed(why) : unknown("Not checked yet.")) };
		}),
	};
}

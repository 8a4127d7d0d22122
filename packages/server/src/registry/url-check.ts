import { isIP } from "node:net";
import { type Clock, within } from "../base/clock.ts";
import { type Guard, hostOf, type UrlFault } from "../net/egress.ts";
import { SendFailure } from "../net/errors.ts";
import type { Resolver } from "../net/resolver.ts";
import { urlFaults, type WebhookLimits } from "./webhooks.ts";

/** How long to wait for a name to resolve, milliseconds. */
const LOOKUP_MS = 3_000;

const CHECKS = ["https", "reachable_name", "public_address"] as const;
export type CheckName = (typeof CHECKS)[number];
/** `unknown`: not checked, or not in time. */
export type CheckState = "ok" | "failed" | "unknown";

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

export interface UrlCheckResult {
	/** Whether a webhook can be registered for it, and nothing known prevents requests from arriving. */
	readonly ok: boolean;
	readonly checks: readonly (Finding & { readonly name: CheckName })[];
}

export interface UrlCheckOptions {
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
		const https = { name: "https", state: "ok", detail: ENCRYPTED } as const;
		const host = hostOf(url);
		const found = await this.#lookUp(host);
		return { ok: found.every(({ state }) => state !== "failed"), checks: [https, ...found] };
	}

	async #lookUp(host: string): Promise<UrlCheckResult["checks"]> {
		const checked = (name: Finding, address: Finding): UrlCheckResult["checks"] => [
			{ name: "reachable_name", ...name },
			{ name: "public_address", ...address },
		];
		const ok = (detail: string): Finding => ({ state: "ok", detail });
		const failed = (detail: string): Finding => ({ state: "failed", detail });
		const unknown = (detail: string): Finding => ({ state: "unknown", detail });
		const resolves = ok(`${host} resolves.`);
		const noAddress = unknown("The address can be checked once the name resolves.");
		if (isIP(host) !== 0) return checked(ok("An address needs no lookup."), ok("The address is allowed."));
		const { clock, resolver } = this.#options;
		try {
			if ((await within(clock, LOOKUP_MS, resolver.lookup(host))) !== null)
				return checked(resolves, ok("Its address is allowed."));
			const failure = `${host} did not resolve within ${LOOKUP_MS / 1_000} seconds.`;
			return checked(unknown(`${failure} It may resolve when an event is sent.`), noAddress);
		} catch (error) {
			if (!(error instanceof SendFailure)) throw error;
			switch (error.reason) {
				case "address_not_public":
					return checked(resolves, failed(`${host} has no public address, so nothing can be delivered there.`));
				case "address_not_allowed":
					return checked(
						resolves,
						failed(
							`The operator of this service doesn't allow requests to the address of ${host}, so nothing can be delivered there.`,
						),
					);
				case "dns_not_found":
					return checked(
						failed(`There is no host named ${host}. Check the spelling, or wait for its DNS entry to propagate.`),
						noAddress,
					);
				default:
					return checked(unknown(`${host} could not be resolved. It may resolve when an event is sent.`), noAddress);
			}
		}
	}
}

/** A URL that can't be registered: the first failed check says why, and later checks aren't made. */
function refused(url: URL | null, why: string, guard: Pick<Guard, "checkUrl">): UrlCheckResult {
	const verdict = url && guard.checkUrl(url);
	const reason = verdict && !verdict.ok ? verdict.reason : "not_https";
	const failed = CHECKS.indexOf(FAILED_BY[reason] ?? "https");
	return {
		ok: false,
		checks: CHECKS.map((name, i) => {
			if (i < failed) return { name, state: "ok", detail: name === "https" ? ENCRYPTED : "No lookup needed." };
			if (i === failed) return { name, state: "failed", detail: why };
			return { name, state: "unknown", detail: "Not checked yet." };
		}),
	};
}

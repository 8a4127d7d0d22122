import type { Config } from "../config/index.ts";
import type { Finding } from "./finding.ts";

/** How people come to the dashboard. */
export function examineDashboard({ host, publicUrl, trustProxy }: Config): Finding[] {
	const name = "Dashboard";
	if (publicUrl?.startsWith("https:"))
		return trustProxy.length > 0
			? [{ state: "ok", name, text: `At ${publicUrl}; cookies are sent over https alone.` }]
			: [
					{
						state: "warning",
						name,
						text: `At ${publicUrl}, but POSTHORN_TRUST_PROXY is not set: wrong passwords are counted for the proxy instead of the client.`,
					},
				];
	const local = host === "127.0.0.1" || host === "::1" || host === "localhost";
	if (local) return [{ state: "ok", name, text: "Reachable from this machine alone." }];
	return [
		{
			state: "warning",
			name,
			text: `Listens on ${host} without https: put a proxy with TLS before it and set POSTHORN_PUBLIC_URL.`,
		},
	];
}

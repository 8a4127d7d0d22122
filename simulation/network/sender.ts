import { createHttpSender, type HttpSenderOptions } from "../../packages/server/src/engine/send/http-sender.ts";
import { createDialer } from "../../packages/server/src/net/dial.ts";
import { createResolver, timeoutWithin } from "../../packages/server/src/net/resolver.ts";
import { Shortages } from "../../packages/server/src/net/shortages.ts";
import type { NodeNetwork } from "./node.ts";

/** The service's own sender over a virtual network: only the sockets, the name servers and the hosts file differ. */
export function createNodeSender(node: NodeNetwork, options: Omit<HttpSenderOptions, "resolver" | "dialer">) {
	const { guard, clock, shortages = new Shortages(clock) } = options;
	const { nameServers, hosts, connect, interfaces } = node;
	const timeoutMs = timeoutWithin(options.timeoutMs);
	const resolver = createResolver({ guard, clock, timeoutMs, shortages, nameServers, hosts });
	const dialer = createDialer({ guard, resolver, clock, shortages, connect, interfaces });
	return createHttpSender({ ...options, shortages, resolver, dialer });
}

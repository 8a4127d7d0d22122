import type { NetworkInterfaceInfo } from "node:os";
import type { Connect, ConnectOptions, Interfaces } from "../../packages/server/src/net/socket.ts";
import { Line } from "./line.ts";
import type { NodeNameServers } from "./names.ts";
import { failure } from "./socket.ts";
import type { NodeClock, Process } from "./types.ts";
import type { Wires } from "./wires.ts";

/** What a node is short of: the code that connecting fails with. */
export interface NodeShortage {
	/** Such as EMFILE, ENFILE, ENOMEM, ENOBUFS or EADDRNOTAVAIL; any other is a fault of ours. */
	readonly code: string;
	/** It is thrown at once, rather than an error of the socket. */
	readonly throws?: boolean;
}

/** A node's side of the network: all that its sender takes from the machine it runs on. One for each life of a node. */
export class NodeNetwork {
	readonly process: Process;
	readonly clock: NodeClock;
	readonly nameServers: NodeNameServers;
	/** Names of its hosts file. */
	readonly hostsFile = new Map<string, readonly string[]>();
	/** While this is set, every new connection meets it. */
	shortage: NodeShortage | null = null;
	/** Open connections at most; beyond that connecting fails with EMFILE. */
	descriptors = Number.POSITIVE_INFINITY;
	hasIpv6 = true;
	readonly #wires: Wires;
	readonly #lines = new Set<Line>();
	readonly #counts = new Map<string, number>();
	#isDead = false;

	constructor(wires: Wires, process: Process, clock: NodeClock, nameServers: NodeNameServers) {
		this.#wires = wires;
		this.process = process;
		this.clock = clock;
		this.nameServers = nameServers;
	}

	get name(): string {
		return this.process.name;
	}

	/** Connections that are open at its end, or being made. */
	get connections(): number {
		return this.#lines.size;
	}

	readonly hosts = { addresses: async (name: string) => this.hostsFile.get(name) };

	readonly interfaces: Interfaces = () => ({
		lo: [local("127.0.0.1", true), local("::1", true)],
		eth0: [local("192.0.2.10", false), ...(this.hasIpv6 ? [local("2001:db8::10", false)] : [])],
	});

	/** What the sender takes for `tls.connect`. */
	readonly connect: Connect = (options) => {
		const { shortage } = this;
		if (shortage?.throws) throw failure(shortage.code);
		const line = this.#begin(options);
		if (this.#isDead) return line.socket;
		const code = shortage?.code ?? this.#failureOf(options.host!);
		if (code !== null) return line.socket.failSoon(failure(code));
		this.#wires.observer.connecting?.(this.name, line.address, options.servername ?? "");
		this.#lines.add(line);
		line.open();
		return line.socket;
	};

	/**
	 * The node died: nothing more happens at its end. Requests it wrote still arrive. `process`: the kernel closes its
	 * connections; `machine`: receivers don't learn that their connections have ended.
	 */
	die(what: "process" | "machine" = "process"): void {
		this.#isDead = true;
		for (const line of [...this.#lines]) {
			line.socket.die();
			if (what === "process") line.closed();
		}
		this.#lines.clear();
	}

	/** A connection is closed at this end. */
	forget(line: Line): void {
		this.#lines.delete(line);
	}

	#begin(options: ConnectOptions): Line {
		const address = options.host!;
		const nth = this.#counts.get(address) ?? 0;
		this.#counts.set(address, nth + 1);
		return new Line(this.#wires, this, options, this.#wires.streams("connection", this.name, address, nth));
	}

	#failureOf(address: string): string | null {
		if (this.#lines.size >= this.descriptors) return "EMFILE";
		return address.includes(":") && !this.hasIpv6 ? "ENETUNREACH" : null;
	}
}

function local(address: string, internal: boolean): NetworkInterfaceInfo {
	const common = { address, netmask: "", mac: "", internal, cidr: null };
	return address.includes(":") ? { ...common, family: "IPv6", scopeid: 0 } : { ...common, family: "IPv4" };
}

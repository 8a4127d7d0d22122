import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { unusedPort } from "../../../testkit/src/ports.ts";
import { RECEIVERS } from "../base/budgets.ts";
import { systemClock } from "../base/clock.ts";
import { createGuard } from "./egress.ts";
import { SendFailure, ShortageFailure } from "./errors.ts";
import { createResolver, parseHosts, type ResolverOptions } from "./resolver.ts";
import { Shortages } from "./shortages.ts";

const A = 1;
const AAAA = 28;
const NS = 2;
type Answer = readonly string[] | "nxdomain" | "servfail" | "refused" | "silence";
const RCODE = { servfail: 2, nxdomain: 3, refused: 5 } as const;

/** A name server on loopback whose answers the test decides (RFC 1035, 4). */
class NameServer {
	readonly #socket: Socket = createSocket("udp4");
	readonly asked: string[] = [];
	answer: (name: string, type: "A" | "AAAA" | "NS") => Answer = () => "nxdomain";

	async listen(): Promise<string> {
		this.#socket.on("message", (query, from) => {
			let at = 12;
			const labels: string[] = [];
			for (let length = query[at]!; length > 0; length = query[at]!) {
				labels.push(query.toString("latin1", at + 1, at + 1 + length));
				at += 1 + length;
			}
			const question = query.subarray(12, at + 5);
			const code = query.readUInt16BE(at + 1);
			const type = code === AAAA ? "AAAA" : code === NS ? "NS" : "A";
			const name = labels.join(".").toLowerCase();
			this.asked.push(`${type} ${name}`);
			const answer = this.answer(name, type);
			if (answer === "silence") return;
			const addresses = typeof answer === "string" ? [] : answer;
			const head = Buffer.alloc(12);
			query.copy(head, 0, 0, 2);
			head.writeUInt16BE(0x8180 | (typeof answer === "string" ? RCODE[answer] : 0), 2);
			head.writeUInt16BE(1, 4);
			head.writeUInt16BE(addresses.length, 6);
			const records = addresses.map((address) => {
				const data = type === "A" ? Buffer.from(address.split(".").map(Number)) : ipv6Bytes(address);
				const record = Buffer.alloc(12);
				record.writeUInt16BE(0xc00c, 0);
				record.writeUInt16BE(type === "A" ? A : AAAA, 2);
				record.writeUInt16BE(1, 4);
				record.writeUInt16BE(data.length, 10);
				return Buffer.concat([record, data]);
			});
			this.#socket.send(Buffer.concat([head, question, ...records]), from.port, from.address);
		});
		this.#socket.bind(0, "127.0.0.1");
		await once(this.#socket, "listening");
		return `127.0.0.1:${this.#socket.address().port}`;
	}

	async close(): Promise<void> {
		this.#socket.close();
		await once(this.#socket, "close");
	}
}

function ipv6Bytes(address: string): Buffer {
	const [head = "", tail = ""] = address.split("::");
	const groups = (text: string) => (text === "" ? [] : text.split(":"));
	const zeros = Array.from({ length: 8 - groups(head).length - groups(tail).length }, () => "0");
	return Buffer.from(
		[...groups(head), ...zeros, ...groups(tail)].map((group) => group.padStart(4, "0")).join(""),
		"hex",
	);
}

let server: NameServer;
let servers: string[];
let directory: string;
let hostsFile: string;

beforeEach(async () => {
	server = new NameServer();
	servers = [await server.listen()];
	directory = await mkdtemp(join(tmpdir(), "posthorn-resolver-"));
	hostsFile = join(directory, "hosts");
});

afterEach(async () => {
	await server.close();
	await rm(directory, { recursive: true });
});

const resolver = (options: Partial<ResolverOptions> = {}) =>
	createResolver({ guard: createGuard({ allow: [] }), clock: systemClock, servers, hostsFile, ...options });

const reasonOf = (lookup: Promise<unknown>): Promise<unknown> =>
	lookup.then(
		() => "resolved",
		(error: unknown) => (error instanceof SendFailure ? error.reason : error),
	);

test("IPv4 and IPv6 addresses alternate, IPv4 first", async () => {
	server.answer = (_, type) => (type === "A" ? ["8.8.8.8", "8.8.4.4"] : ["2606:4700:4700::1111"]);
	// However slow the machine is, the resolver waits for IPv6.
	const clock = { ...systemClock, setTimeout: () => ({ cancel: () => undefined }) };
	expect(await resolver({ clock }).lookup("example.com")).toEqual(["8.8.8.8", "2606:4700:4700::1111", "8.8.4.4"]);
});

// Checking thousands of them took a tenth of a second, for each connection to such a host.
test("of a name with thousands of addresses, only the first ones are examined", async () => {
	const addresses = Array.from({ length: 4_000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
	let examined = 0;
	const guard = {
		refusal: () => {
			examined++;
			return "address_not_public" as const;
		},
	};
	const resolve = async () => addresses;
	const nameServers = { resolve4: resolve, resolve6: resolve, getServers: () => [], resolveRoot: resolve };
	expect(await reasonOf(resolver({ guard, nameServers }).lookup("many.example"))).toBe("address_not_public");
	expect(examined).toBe(RECEIVERS.addressesExamined);
});

test("a name with only one family resolves, even if the other fails", async () => {
	for (const other of [[], "nxdomain", "servfail", "refused"] as const) {
		server.answer = (_, type) => (type === "A" ? other : ["2606:4700:4700::1111"]);
		expect(await resolver().lookup("six.example"), `A ${other}`).toEqual(["2606:4700:4700::1111"]);
		server.answer = (_, type) => (type === "A" ? ["8.8.8.8"] : other);
		expect(await resolver().lookup("four.example"), `AAAA ${other}`).toEqual(["8.8.8.8"]);
	}
});

test("IPv4 addresses don't wait for a server that never returns the IPv6 ones", async () => {
	server.answer = (_, type) => (type === "A" ? ["8.8.8.8"] : "silence");
	expect(await resolver({ timeoutMs: 600_000 }).lookup("half.example")).toEqual(["8.8.8.8"]);
});

test("an unknown name and a name without addresses are both not found", async () => {
	server.answer = () => "nxdomain";
	expect(await reasonOf(resolver().lookup("nowhere.example"))).toBe("dns_not_found");
	server.answer = () => [];
	expect(await reasonOf(resolver().lookup("mail-only.example"))).toBe("dns_not_found");
	expect(await reasonOf(resolver().lookup(`${"x".repeat(64)}.example`))).toBe("dns_not_found");
});

test("says what the name servers answered", async () => {
	const dns = (lookup: Promise<unknown>): Promise<unknown> =>
		lookup.then(
			() => "resolved",
			(error: unknown) => (error instanceof SendFailure ? error.details?.dns : error),
		);
	for (const [answer, code] of [
		["nxdomain", "nxdomain"],
		[[], "no_address"],
		["servfail", "servfail"],
		["refused", "refused"],
		["silence", "timeout"],
		[["10.0.0.1"], "only_private"],
	] as const) {
		server.answer = (name, type) => (name === "" ? "refused" : type === "AAAA" && answer.length === 1 ? [] : answer);
		expect(await dns(resolver({ timeoutMs: 50 }).lookup("some.example")), code).toBe(code);
	}
	expect(await dns(resolver().lookup(`${"x".repeat(64)}.example`))).toBe("invalid_name");
	// One family exists: the name does, too.
	server.answer = (_, type) => (type === "A" ? "nxdomain" : []);
	expect(await dns(resolver().lookup("half.example"))).toBe("no_address");
	server.answer = (_, type) => (type === "A" ? ["8.8.8.8", "10.0.0.1"] : []);
	const denying = createGuard({ allow: [], deny: ["8.8.8.8/32"] });
	expect(await dns(resolver({ guard: denying }).lookup("denied.example"))).toBe("only_denied");
});

test("a lookup fails if a server fails, refuses or ignores it but answers other queries", async () => {
	for (const answer of ["servfail", "refused", "silence"] as const) {
		const shortages = new Shortages(systemClock);
		server.answer = (name) => (name === "" ? "refused" : answer);
		expect(await reasonOf(resolver({ timeoutMs: 50, shortages }).lookup("broken.example")), answer).toBe("dns_failed");
		expect(shortages.current, answer).toBeNull();
	}
});

describe("silent name servers are a local shortage", () => {
	const shortageIn = (lookup: Promise<unknown>): Promise<unknown> =>
		lookup.then(
			() => "resolved",
			(error: unknown) => (error instanceof ShortageFailure ? [error.shortage, error.tried] : error),
		);

	test("whether they are silent or not running", async () => {
		server.answer = () => "silence";
		expect(await shortageIn(resolver({ timeoutMs: 50 }).lookup("any.example"))).toEqual(["name_servers", true]);
		const nobody = [`127.0.0.1:${await unusedPort()}`];
		const refused = resolver({ timeoutMs: 50, servers: nobody }).lookup("any.example");
		expect(await shortageIn(refused)).toEqual(["name_servers", true]);
	});

	test("if one of several answers, the name is at fault", async () => {
		server.answer = (name) => (name === "" ? [] : "silence");
		const some = [`127.0.0.1:${await unusedPort()}`, ...servers];
		expect(await reasonOf(resolver({ timeoutMs: 50, servers: some }).lookup("hang.example"))).toBe("dns_failed");
	});

	test("many silent names at once cost one probe, and other names none", async () => {
		server.answer = (name, type) => (name.startsWith("hang") ? "silence" : type === "A" ? ["8.8.8.8"] : []);
		const one = resolver({ timeoutMs: 100 });
		const hanging = Array.from({ length: 50 }, (_, i) => reasonOf(one.lookup(`hang${i}.example`)));
		expect(new Set(await Promise.all(hanging))).toEqual(new Set(["dns_failed"]));
		expect(server.asked.filter((asked) => asked === "NS ")).toHaveLength(1);
	});

	test("during it no queries are sent, but names that need no server resolve; an answer ends it", async () => {
		let elapsed = 0;
		const clock = { ...systemClock, elapsed: () => elapsed };
		const shortages = new Shortages(clock);
		const one = resolver({ timeoutMs: 50, clock, shortages, guard: createGuard({ allow: ["127.0.0.0/8"] }) });
		server.answer = () => "silence";
		expect(await shortageIn(one.lookup("any.example"))).toEqual(["name_servers", true]);
		shortages.met("name_servers", true);
		const asked = server.asked.length;
		expect(await shortageIn(one.lookup("any.example"))).toEqual(["name_servers", false]);
		expect(server.asked).toHaveLength(asked);
		expect(await one.lookup("localhost")).toEqual(["127.0.0.1"]);
		elapsed += 1_000;
		server.answer = (_, type) => (type === "A" ? ["8.8.8.8"] : []);
		expect(await one.lookup("any.example")).toEqual(["8.8.8.8"]);
		expect(shortages.current).toBeNull();
	});
});

test("drops addresses that are not public, and refuses a name that has no others", async () => {
	server.answer = (_, type) => (type === "A" ? ["127.0.0.1", "8.8.8.8", "10.0.0.1"] : ["::1", "fd00::1"]);
	expect(await resolver().lookup("mixed.example")).toEqual(["8.8.8.8"]);
	server.answer = (_, type) => (type === "A" ? ["127.0.0.1", "169.254.169.254"] : ["::1", "64:ff9b::7f00:1"]);
	expect(await reasonOf(resolver().lookup("inside.example"))).toBe("address_not_public");
});

test("checks a rebound name again at every lookup", async () => {
	let lookups = 0;
	server.answer = (_, type) => (type === "A" ? [lookups++ === 0 ? "8.8.8.8" : "127.0.0.1"] : []);
	const one = resolver();
	expect(await one.lookup("rebind.example")).toEqual(["8.8.8.8"]);
	expect(await reasonOf(one.lookup("rebind.example"))).toBe("address_not_public");
});

test("concurrent lookups of a name share one query, later ones ask again", async () => {
	server.answer = (_, type) => (type === "A" ? ["8.8.8.8"] : []);
	const one = resolver();
	const answers = await Promise.all(Array.from({ length: 50 }, () => one.lookup("shared.example")));
	expect(answers).toEqual(Array.from({ length: 50 }, () => ["8.8.8.8"]));
	expect(server.asked.sort()).toEqual(["A shared.example", "AAAA shared.example"]);
	await one.lookup("shared.example");
	expect(server.asked).toHaveLength(4);
});

test("a name whose server hangs doesn't delay others", async () => {
	server.answer = (name, type) => (name.startsWith("hang") ? "silence" : type === "A" ? ["8.8.8.8"] : []);
	const one = resolver({ timeoutMs: 1_000 });
	const hanging = Array.from({ length: 100 }, (_, i) => reasonOf(one.lookup(`hang${i}.example`)));
	let settled = 0;
	for (const lookup of hanging) lookup.then(() => settled++);
	expect(await one.lookup("quick.example")).toEqual(["8.8.8.8"]);
	expect(settled).toBe(0);
	expect(new Set(await Promise.all(hanging))).toEqual(new Set(["dns_failed"]));
});

test("localhost resolves to this machine without a query, and is refused unless the operator allows loopback", async () => {
	const open = createGuard({ allow: ["127.0.0.0/8"] });
	expect(await resolver({ guard: open }).lookup("localhost")).toEqual(["127.0.0.1"]);
	expect(await resolver({ guard: open }).lookup("shop.localhost")).toEqual(["127.0.0.1"]);
	expect(await resolver({ guard: createGuard({ allow: ["127.0.0.1/32", "::1/128"] }) }).lookup("localhost")).toEqual([
		"127.0.0.1",
		"::1",
	]);
	expect(await reasonOf(resolver().lookup("localhost"))).toBe("address_not_public");
	expect(server.asked).toEqual([]);
});

test("the hosts file takes precedence, is guarded too, and is read again after it changes", async () => {
	let now = 1_800_000_000_000;
	const one = resolver({ clock: { ...systemClock, now: () => now } });
	await writeFile(hostsFile, "8.8.8.8 Receiver other # a comment\n127.0.0.1 inside\n");
	expect(await one.lookup("receiver")).toEqual(["8.8.8.8"]);
	expect(await reasonOf(one.lookup("inside"))).toBe("address_not_public");
	await writeFile(hostsFile, "8.8.4.4 receiver\n");
	await utimes(hostsFile, 1, 1);
	expect(await one.lookup("receiver")).toEqual(["8.8.8.8"]);
	now += 1_000;
	expect(await one.lookup("receiver")).toEqual(["8.8.4.4"]);
	await rm(hostsFile);
	now += 1_000;
	expect(await reasonOf(one.lookup("receiver"))).toBe("dns_not_found");
	expect(server.asked.sort()).toEqual(["A receiver", "AAAA receiver"]);
});

// After a laptop, a container or a VPN changed networks, every lookup failed until a restart.
test("lookups go to the new name servers after resolv.conf has changed", async () => {
	const second = new NameServer();
	const current = [...servers];
	const secondAddress = await second.listen();
	try {
		let now = 1_800_000_000_000;
		const resolvConf = join(directory, "resolv.conf");
		const one = resolver({ clock: { ...systemClock, now: () => now }, servers: current, resolvConf });
		server.answer = (_, type) => (type === "A" ? ["8.8.8.8"] : []);
		second.answer = (_, type) => (type === "A" ? ["8.8.4.4"] : []);
		await writeFile(resolvConf, "nameserver 192.0.2.1\n");
		expect(await one.lookup("a.example")).toEqual(["8.8.8.8"]);
		current[0] = secondAddress;
		now += 1_000;
		expect(await one.lookup("a.example")).toEqual(["8.8.8.8"]);
		await writeFile(resolvConf, "nameserver 192.0.2.22\n");
		now += 1_000;
		expect(await one.lookup("a.example")).toEqual(["8.8.4.4"]);
		expect(server.asked).toHaveLength(4);
		await rm(resolvConf);
		current[0] = servers[0]!;
		now += 1_000;
		expect(await one.lookup("a.example")).toEqual(["8.8.8.8"]);
	} finally {
		await second.close();
	}
});

test("a hosts file is read line by line, and invalid addresses are skipped", () => {
	const text = "# top\n127.0.0.1\tlocalhost loop\r\n::1 localhost\nbogus name\n\n10.0.0.1 a#b c\n127.0.0.1 localhost\n";
	expect([...parseHosts(text)]).toEqual([
		["localhost", ["127.0.0.1", "::1"]],
		["loop", ["127.0.0.1"]],
		["a", ["10.0.0.1"]],
	]);
});

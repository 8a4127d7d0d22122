/** Names as nodes resolve them: found, missing, failing, silent, slow, and pointing elsewhere from one moment to the next. */
import { describe, expect, test } from "vitest";
import type { NameAnswer } from "./index.ts";
import { ADDRESS, NetworkRig, START_MS, TIMEOUT_MS, text } from "./rig.fixture.ts";

describe("a name", () => {
	test.each<[string, NameAnswer, string]>([
		["that does not exist", "nxdomain", "dns_not_found"],
		["without addresses", [], "dns_not_found"],
		["whose servers fail", "servfail", "dns_failed"],
		["whose servers are silent", "silence", "dns_failed"],
		["with a private address", ["10.0.0.7", "::1"], "address_not_public"],
		["with a private and a public address", ["10.0.0.7", ADDRESS], "200 ok"],
		["with only IPv6", ["2606:2800::7"], "200 ok"],
	])("%s", async (_, answer, expected) => {
		const connected: string[] = [];
		const rig = new NetworkRig({ observer: { connecting: (_node, address) => connected.push(address) } });
		rig.network.names.set("shop.example", answer);
		rig.network.listen(rig.receiver, "2606:2800::7", "10.0.0.7");
		expect(text(await rig.send(rig.node().sender))).toBe(expected);
		expect(connected).toEqual(expected === "200 ok" ? [(answer as string[]).at(-1)] : []);
	});

	test("that begins to lead to a private address is not followed there", async () => {
		const rig = new NetworkRig();
		rig.receiver.keepAlive = { idleMs: 100, requests: 1 };
		const { sender } = rig.node();
		expect(text(await rig.send(sender))).toBe("200 ok");
		rig.network.names.set("shop.example", ["169.254.169.254"]);
		rig.network.listen(rig.receiver, "169.254.169.254");
		await rig.time.runTo(1_000);
		expect(text(await rig.send(sender))).toBe("address_not_public");
		expect(rig.network.requests).toHaveLength(1);
	});

	test("that changes while it is looked up has the address that its servers give then", async () => {
		const rig = new NetworkRig();
		rig.network.names.set("shop.example", "nxdomain", 1_000);
		const sending = rig.send(rig.node().sender);
		rig.network.names.set("shop.example", [ADDRESS], 1_000);
		expect(text(await sending)).toBe("200 ok");
	});

	test("whose servers are slow costs the attempt that time", async () => {
		const rig = new NetworkRig();
		rig.network.names.set("shop.example", [ADDRESS], 3_000);
		const outcome = await rig.send(rig.node().sender);
		expect(outcome).toMatchObject({ kind: "answered", endedAt: START_MS + 3_073 });
	});

	test("a name in the hosts file needs no server", async () => {
		const rig = new NetworkRig();
		const { sender, network } = rig.node();
		network.hostsFile.set("shop.example", [ADDRESS]);
		network.nameServers.state = "silent";
		expect(text(await rig.send(sender))).toBe("200 ok");
	});
});

test.each(["silent", "refusing"] as const)(
	"while a node's name servers are %s, its sends are put off",
	async (state) => {
		const rig = new NetworkRig();
		const { sender, network } = rig.node();
		network.nameServers.state = state;
		expect(text(await rig.send(sender))).toBe("name_servers");
		expect(rig.time.now()).toBeLessThan(TIMEOUT_MS);
		expect(text(await rig.send(rig.node("node 2").sender))).toBe("200 ok");
		network.nameServers.state = "answering";
		await rig.time.runTo(rig.time.now() + 60_000);
		expect(text(await rig.send(sender))).toBe("200 ok");
	},
);

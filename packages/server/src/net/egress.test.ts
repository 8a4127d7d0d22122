import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createGuard as create, type GuardOptions, type UrlFault } from "./egress.ts";

/** A machine with a public address of each family. */
const INTERFACES = {
	lo: [address("127.0.0.1"), address("::1")],
	eth0: [address("198.18.7.7"), address("9.8.7.6"), address("2a01:4f8:0:0::7"), address("fe80::1")],
};
const createGuard = (options: GuardOptions) => create({ interfaces: () => INTERFACES, ...options });

const guard = createGuard({ allow: [] });

const verdict = (url: string, judge = guard): UrlFault | "ok" => {
	const result = judge.checkUrl(new URL(url));
	return result.ok ? "ok" : result.reason;
};

const permits = (text: string, judge = guard): boolean => judge.refusal(text) === null;

function address(text: string): NetworkInterfaceInfo {
	const family = text.includes(":") ? ({ family: "IPv6", scopeid: 0 } as const) : ({ family: "IPv4" } as const);
	return { address: text, netmask: "", mac: "", internal: false, cidr: null, ...family };
}

/** The first and last address of every special range, and the purpose of the ranges. */
const REFUSED_IPV4 = `
	0.0.0.0 0.0.0.1 0.255.255.255 10.0.0.0 10.0.0.1 10.255.255.255 100.64.0.0 100.100.100.200 100.127.255.255
	127.0.0.0 127.0.0.1 127.0.0.53 127.1.2.3 127.255.255.255 168.63.129.16
	169.254.0.0 169.254.169.254 169.254.170.2 169.254.255.255 172.16.0.0 172.17.0.1 172.31.255.255
	192.0.0.0 192.0.0.1 192.0.0.8 192.0.0.9 192.0.0.10 192.0.0.170 192.0.0.171 192.0.0.192 192.0.0.255
	192.0.2.0 192.0.2.255 192.31.196.1 192.52.193.1 192.88.99.0 192.88.99.1 192.88.99.255
	192.168.0.0 192.168.0.1 192.168.255.255 192.175.48.1 198.18.0.0 198.18.0.1 198.19.255.255
	198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255 224.0.0.0 224.0.0.1 239.255.255.250 239.255.255.255
	240.0.0.0 250.1.2.3 255.255.255.254 255.255.255.255
`;

/** Public addresses, including the neighbors of every special range. */
const PUBLIC_IPV4 = `
	1.0.0.0 1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 93.184.215.14 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
	168.63.129.15 168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0
	192.0.1.255 192.0.3.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0
	198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255
`;

const REFUSED_IPV6 = `
	:: ::1 0:0:0:0:0:0:0:1 ::2 ::7f00:1 ::127.0.0.1 ::8.8.8.8 ::ffff:0:0 ::ffff:127.0.0.1 ::ffff:7f00:1
	0:0:0:0:0:ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:8.8.8.8 ::FFFF:8.8.8.8
	::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8 64:ff9b::127.0.0.1 64:ff9b::7f00:1 64:ff9b::8.8.8.8 64:ff9b:1::1
	64:ff9b:1:ffff:ffff:ffff:127.0.0.1 100:: 100::1 100:0:0:1::1 200::1 400::1 1000::1 1fff:ffff::1
	2001:: 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:1::1 2001:2::1 2001:3::1 2001:4:112::1 2001:10::1 2001:1f::1
	2001:20::1 2001:2f:ffff::1 2001:30::1 2001:1ff:ffff::1 2001:db8:: 2001:db8::1 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff
	2002:: 2002:7f00:1::1 2002:7f00:0001:: 2002:a00:1::1 2002:808:808::1 2002:ffff:ffff::1 2620:4f:8000::1
	3fff:: 3fff::1 3fff:fff:ffff::1 4000:: 4000::1 5f00:: 5f00::1 8000::1 fbff::1
	fc00:: fc00::1 fd00::1 fd00:ec2::254 fdff:ffff::1 fe00::1 fe80:: fe80::1 fe80::a9fe:a9fe febf:ffff::1
	fec0:: fec0::1 feff:ffff::1 ff00:: ff01::1 ff02::1 ff02::fb ff0e::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
`;

const PUBLIC_IPV6 = `
	2000::1 2001:200::1 2001:4860:4860::8888 2001:db7:ffff::1 2001:db9::1 2003::1 2400:cb00::1 2606:4700:4700::1111
	2606:2800:220:1:248:1893:25c8:1946 2620:4f:7fff::1 2620:4f:8001::1 2620:fe::fe 2a00:1450:4001:80e::200e
	2A00:1450:4001:080E:0000:0000:0000:200E 3ffe::1 3fff:1000::1
`;

const words = (text: string): string[] => text.trim().split(/\s+/);

describe("addresses", () => {
	test.each(words(REFUSED_IPV4 + REFUSED_IPV6))("%s is refused", (address) => {
		expect(permits(address)).toBe(false);
	});

	test.each(words(PUBLIC_IPV4 + PUBLIC_IPV6))("%s is permitted", (address) => {
		expect(permits(address)).toBe(true);
	});

	test.each([
		"",
		"localhost",
		"example.com",
		"127.1",
		"0177.0.0.1",
		"0x8.8.8.8",
		"8.8.8",
		"134744072",
		"8.8.8.8.",
		" 8.8.8.8",
		"8.8.8.8 ",
		"8.8.8.8/32",
		"[2606:4700:4700::1111]",
		"2606:4700:4700::1111%eth0",
		"fe80::1%1",
		"2606:4700:::1",
	])("refuses text that is not a plain address: %j", (text) => {
		expect(permits(text)).toBe(false);
	});

	test("embedding an IPv4 address in an IPv6 one never makes it permitted", () => {
		fc.assert(
			fc.property(fc.ipV4(), (ipv4) => {
				const [a = 0, b = 0, c = 0, d = 0] = ipv4.split(".").map(Number);
				const high = (a * 256 + b).toString(16);
				const low = (c * 256 + d).toString(16);
				for (const disguised of [
					`::ffff:${ipv4}`,
					`::ffff:${high}:${low}`,
					`::${ipv4}`,
					`::ffff:0:${ipv4}`,
					`64:ff9b::${ipv4}`,
					`64:ff9b:1::${high}:${low}`,
					`2002:${high}:${low}::1`,
					`2001:0:${high}:${low}::1`,
				])
					expect(permits(disguised), disguised).toBe(false);
			}),
		);
	});
});

/** Spellings of 127.0.0.1 and 169.254.169.254 that URL parsers accept, and addresses in brackets. */
const DISGUISED_LITERALS = words(`
	127.0.0.1 127.0.0.1. 127.1 127.0.1 127.000.000.001 0177.0.0.1 0177.1 0x7f.0.0.1 0x7f.1 0X7F.0x0.0x0.0x1 0x7f000001
	2130706433 017700000001 00000177.0.0.1 %31%32%37.0.0.1 127%2e0%2e0%2e1 127。0。0。1 １２７.０.０.１ ①②⑦.0.0.1
	169.254.169.254 2852039166 0xa9fea9fe 0xa9.0xfe.0xa9.0xfe 0251.0376.0251.0376 169.254.43518 169.16689662
	0 0. 0.0 0x0 00 10.1 192.168.257 172.1048577 100.64.1 255.255.255.255 4294967295 0xffffffff 224.1
	[::1] [0:0:0:0:0:0:0:1] [0000::0001] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:a9fe:a9fe] [::127.0.0.1]
	[64:ff9b::a9fe:a9fe] [2002:7f00:1::] [fe80::1] [fc00::1] [fd00:ec2::254] [ff02::1] [2001:db8::1]
`);

describe("URLs at registration", () => {
	test.each(DISGUISED_LITERALS)("https://%s/ is refused", (host) => {
		expect(verdict(`https://${host}/hook`)).toBe("address_not_public");
		expect(verdict(`https://${host}:8443/hook?x=1#y`)).toBe("address_not_public");
	});

	test.each([
		"https://example.com",
		"https://example.com/hooks?token=1#part",
		"https://EXAMPLE.com.:8443/",
		"https://xn--bcher-kva.example/",
		"https://bücher.example/",
		"https://8.8.8.8/",
		"https://134744072/",
		"https://[2606:4700:4700::1111]:444/",
		"https://localhost.example.com/",
		"https://notlocalhost.com/",
		"https://local.example/",
		"https://127.0.0.1.example.com/",
	])("%s is accepted", (url) => {
		expect(verdict(url)).toBe("ok");
	});

	test.each(["https://localhost/", "https://127.0.0.1/", "https://10.0.0.1/", "https://printer.local/"])(
		"the refusal of %s names the setting that allows it",
		(url) => {
			expect(guard.checkUrl(new URL(url))).toMatchObject({
				ok: false,
				text: expect.stringContaining("POSTHORN_EGRESS_ALLOW"),
			});
		},
	);

	test("localhost is accepted with the setting that its refusal names", () => {
		const refused = guard.checkUrl(new URL("https://localhost/"));
		const [, ranges = ""] = /POSTHORN_EGRESS_ALLOW=([\d.:/,]+\d)/.exec(refused.ok ? "" : refused.text) ?? [];
		expect(verdict("https://localhost/", createGuard({ allow: ranges.split(",") }))).toBe("ok");
	});

	test.each<[string, UrlFault]>([
		["http://example.com/", "not_https"],
		["http://localhost/", "not_https"],
		["ftp://example.com/", "not_https"],
		["file:///etc/passwd", "not_https"],
		["javascript:alert(1)", "not_https"],
		["https://user@example.com/", "has_credentials"],
		["https://user:secret@example.com/", "has_credentials"],
		["https://:secret@example.com/", "has_credentials"],
		["https://example.com@127.0.0.1/", "has_credentials"],
		["https://example.com:0/", "port_not_allowed"],
		["https://example.com:25/", "port_not_allowed"],
		["https://example.com:0025/", "port_not_allowed"],
		["https://[2606:4700:4700::1111]:25/", "port_not_allowed"],
		["https://localhost/", "localhost"],
		["https://LOCALHOST:3000/hook", "localhost"],
		["https://localhost./", "localhost"],
		["https://api.localhost/", "localhost"],
		["https://ｌｏｃａｌｈｏｓｔ/", "localhost"],
		["https://intranet/", "local_name"],
		["https://intranet./", "local_name"],
		["https://printer.local/", "local_name"],
		["https://local/", "local_name"],
		["https://metadata.google.internal/", "local_name"],
		["https://nas.home.arpa./", "local_name"],
	])("%s is refused as %s", (url, fault) => {
		expect(verdict(url)).toBe(fault);
	});

	test("the refusal of localhost mentions a tunnel, that of http mentions https", () => {
		expect(guard.checkUrl(new URL("https://localhost/"))).toMatchObject({ text: expect.stringContaining("tunnel") });
		expect(guard.checkUrl(new URL("http://example.com/"))).toMatchObject({ text: expect.stringContaining("https://") });
	});
});

describe("ranges that the operator allows", () => {
	test("loopback admits its addresses, including mapped ones, and the name localhost, but nothing else", () => {
		const loopback = createGuard({ allow: ["127.0.0.0/8"] });
		for (const address of ["127.0.0.1", "127.255.255.255", "::ffff:127.0.0.1", "8.8.8.8"])
			expect(permits(address, loopback), address).toBe(true);
		for (const address of ["::1", "128.0.0.1.1", "10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::1"])
			expect(permits(address, loopback), address).toBe(false);
		for (const host of ["localhost", "localhost.:8443", "api.localhost", "127.0.0.1", "2130706433", "127.1"])
			expect(verdict(`https://${host}/`, loopback), host).toBe("ok");
		expect(verdict("https://[::1]/", loopback)).toBe("address_not_public");
		expect(verdict("https://intranet/", loopback)).toBe("local_name");
		expect(verdict("http://localhost/", loopback)).toBe("not_https");
	});

	test("the IPv6 loopback admits localhost too", () => {
		const loopback = createGuard({ allow: ["::1/128"] });
		expect(permits("::1", loopback)).toBe(true);
		expect(permits("127.0.0.1", loopback)).toBe(false);
		expect(verdict("https://localhost/", loopback)).toBe("ok");
	});

	test("a private network admits its addresses and private names, but not localhost", () => {
		const office = createGuard({ allow: ["10.1.0.0/16", "fd12::/16"] });
		expect(permits("10.1.255.255", office)).toBe(true);
		expect(permits("10.2.0.0", office)).toBe(false);
		expect(permits("fd12:3::1", office)).toBe(true);
		expect(permits("fd13::1", office)).toBe(false);
		expect(verdict("https://intranet/", office)).toBe("ok");
		expect(verdict("https://crm.internal/", office)).toBe("ok");
		expect(verdict("https://localhost/", office)).toBe("localhost");
	});

	test("a translation range must be listed itself", () => {
		const nat64 = createGuard({ allow: ["64:ff9b::/96"] });
		expect(permits("64:ff9b::808:808", nat64)).toBe(true);
		expect(permits("64:ff9b:1::1", nat64)).toBe(false);
	});

	test.each([
		"64:ff9b::a9fe:a9fe",
		"64:ff9b::7f00:1",
		"64:ff9b::10.1.2.3",
		"64:ff9b:1::169.254.169.254",
		"2002:a9fe:a9fe::1",
		// Teredo: the server is private, then the client.
		"2001:0:7f00:1::f7f7:f7f7",
		"2001:0:808:808::5601:5601",
		"::ffff:169.254.169.254",
		"::ffff:0:127.0.0.1",
		"::127.0.0.1",
	])("allowing translations doesn't open the private address in %s", (translated) => {
		const translations = ["64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "::/80", "::ffff:0:0:0/96"];
		expect(createGuard({ allow: translations }).refusal(translated)).toBe("address_not_public");
		const open = createGuard({ allow: [...translations, "10.0.0.0/8", "127.0.0.0/8", "169.254.169.254/32"] });
		expect(open.refusal(translated)).toBeNull();
	});

	test("an address of ISATAP, which any prefix may have, is public only if its IPv4 address is", () => {
		for (const prefix of ["2600:1f00::5efe", "2600:1f00::200:5efe"]) {
			for (const ipv4 of ["10.1.2.3", "127.0.0.1", "169.254.169.254"])
				expect(guard.refusal(`${prefix}:${ipv4}`)).toBe("address_not_public");
			expect(guard.refusal(`${prefix}:8.8.8.8`)).toBeNull();
		}
		expect(createGuard({ allow: [], deny: ["8.8.8.0/24"] }).refusal("2600:1f00::5efe:8.8.8.8")).toBe(
			"address_not_allowed",
		);
	});

	test("allowing translations keeps those of public addresses", () => {
		const open = createGuard({ allow: ["64:ff9b::/96", "2002::/16", "2001::/32", "::ffff:0:0/96"] });
		for (const address of ["64:ff9b::808:808", "2002:808:808::1", "2001:0:808:808::f7f7:f7f7", "::ffff:8.8.8.8"])
			expect(open.refusal(address), address).toBeNull();
	});

	test.each([
		"10.0.0.0",
		"10.0.0.0/",
		"10.0.0.0/33",
		"10.0.0.0/-1",
		"10.0.0.0/8.5",
		"10.0.0/8",
		"0x0a.0.0.0/8",
		"fd00::/129",
		"fe80::1%eth0/64",
		"localhost",
		"localhost/8",
		"/8",
		"",
	])("%j is not a range", (text) => {
		expect(() => createGuard({ allow: [text] })).toThrow("CIDR");
		expect(() => createGuard({ allow: [], deny: [text] })).toThrow("CIDR");
	});
});

// Webhooks reached the machine's own public address from the inside, past the firewall.
describe("this machine's own addresses", () => {
	test.each(["9.8.7.6", "2a01:4f8::7", "2A01:04F8:0::0007"])("%s is refused, unless a range names it", (own) => {
		expect(guard.refusal(own)).toBe("address_not_allowed");
		const host = own.includes(":") ? `[${own}]` : own;
		expect(verdict(`https://${host}/`)).toBe("address_not_allowed");
		const open = createGuard({ allow: [own.includes(":") ? "2a01:4f8::/32" : "9.8.7.6/32"] });
		expect(open.refusal(own)).toBeNull();
		expect(verdict(`https://${host}/`, open)).toBe("ok");
	});

	test("their neighbors are permitted", () => {
		for (const other of ["9.8.7.5", "9.8.7.7", "2a01:4f8::8"]) expect(guard.refusal(other), other).toBeNull();
	});

	test("a translated one is refused even if the translation is allowed", () => {
		const nat64 = createGuard({ allow: ["64:ff9b::/96", "2002::/16", "2001::/32"] });
		for (const own of ["64:ff9b::9.8.7.6", "2002:908:706::1", "2001:0:808:808::f6f7:f8f9"])
			expect(nat64.refusal(own), own).toBe("address_not_allowed");
		for (const other of ["64:ff9b::9.8.7.5", "2002:908:705::1"]) expect(nat64.refusal(other), other).toBeNull();
	});

	test("are read again once a second, and kept while they can't be read", () => {
		let now = 0;
		let own = ["9.8.7.6"];
		let fails = false;
		let reads = 0;
		const judge = create({
			allow: [],
			clock: { elapsed: () => now },
			interfaces: () => {
				reads++;
				if (fails) throw Object.assign(new Error("too many open files"), { code: "EMFILE" });
				return { eth0: own.map(address) };
			},
		});
		own = ["9.8.7.5"];
		now = 999;
		for (let i = 0; i < 100; i++) expect(permits("9.8.7.6", judge)).toBe(false);
		expect(reads).toBe(1);
		now = 1_000;
		expect(permits("9.8.7.6", judge)).toBe(true);
		expect(permits("9.8.7.5", judge)).toBe(false);
		fails = true;
		now = 2_000;
		expect(permits("9.8.7.5", judge)).toBe(false);
		expect(reads).toBe(3);
	});

	// The time since the last read, infinity minus infinity, was compared the wrong way around, so there was one more read
	// and then none.
	test("without a clock, are read again for each address", () => {
		let own: string[] = [];
		const judge = create({ allow: [], interfaces: () => ({ eth0: own.map(address) }) });
		for (const next of ["9.8.7.4", "9.8.7.5", "9.8.7.6"]) {
			own = [next];
			expect(permits(next, judge), next).toBe(false);
		}
	});

	test("are those of the machine by default", () => {
		const others = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
		expect(others.length).toBeGreaterThan(0);
		const judge = create({ allow: ["0.0.0.0/1", "128.0.0.0/1", "::/0"], deny: [] });
		for (const { address: own } of others) expect(judge.refusal(own), own).toBeNull();
		const translating = create({ allow: ["64:ff9b::/96"] });
		for (const { address: own, family } of others)
			if (family === "IPv4") expect(translating.refusal(`64:ff9b::${own}`), own).not.toBeNull();
	});
});

describe("ranges that the operator denies", () => {
	const judge = createGuard({
		allow: ["10.0.0.0/8", "64:ff9b::/96", "::ffff:0:0/96", "9.8.7.6/32"],
		deny: ["10.1.0.0/16", "93.184.215.0/24", "2606:4700::/32"],
	});

	test.each([
		"10.1.2.3",
		"::ffff:10.1.2.3",
		"93.184.215.14",
		"::ffff:93.184.215.14",
		"64:ff9b::93.184.215.14",
		"64:ff9b::a01:203",
		"2606:4700:4700::1111",
	])("%s is refused", (denied) => {
		expect(judge.refusal(denied)).toBe("address_not_allowed");
	});

	test.each(["10.2.0.1", "93.184.214.14", "64:ff9b::808:808", "::ffff:8.8.8.8", "2606:4701::1", "9.8.7.6"])(
		"%s is not",
		(other) => {
			expect(judge.refusal(other)).toBeNull();
		},
	);

	test("what is neither public nor allowed keeps its own reason", () => {
		expect(createGuard({ allow: [], deny: ["0.0.0.0/0", "::/0"] }).refusal("192.168.1.1")).toBe("address_not_public");
	});

	test("denying loopback closes localhost again", () => {
		const closed = createGuard({ allow: ["127.0.0.0/8"], deny: ["127.0.0.0/8"] });
		expect(verdict("https://localhost/", closed)).toBe("localhost");
		expect(verdict("https://127.0.0.1/", closed)).toBe("address_not_allowed");
	});
});

describe("ports", () => {
	test("are all but 0 and 25 by default", () => {
		for (const port of [1, 22, 24, 26, 80, 443, 8443, 65_535]) expect(guard.permitsPort(port), `${port}`).toBe(true);
		for (const port of [0, 25]) expect(guard.permitsPort(port), `${port}`).toBe(false);
	});

	test("can be limited, and the refusal lists them", () => {
		const few = createGuard({
			allow: [],
			ports: [
				[443, 443],
				[8_000, 8_999],
			],
		});
		for (const url of ["https://example.com/", "https://example.com:8000/", "https://example.com:8999/"])
			expect(verdict(url, few), url).toBe("ok");
		for (const url of ["https://example.com:442/", "https://example.com:7999/", "https://example.com:9000/"])
			expect(verdict(url, few), url).toBe("port_not_allowed");
		expect(few.checkUrl(new URL("https://example.com:22/"))).toMatchObject({
			text: expect.stringContaining("443, 8000-8999"),
		});
	});

	test("0 and 25 can't be allowed", () => {
		const all = createGuard({ allow: [], ports: [[0, 65_535]] });
		for (const port of [0, 25]) expect(all.permitsPort(port), `${port}`).toBe(false);
	});
});

import { expect, test } from "vitest";
import { networkOf } from "./callers.ts";

test("clients are counted by IPv4 address, and by the /48 of an IPv6 address", () => {
	expect(networkOf("203.0.113.9")).toBe("203.0.113.9");
	expect(networkOf("::ffff:203.0.113.9")).toBe("203.0.113.9");
	expect(networkOf("2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1::/48");
	expect(networkOf("2001:db8:1:3::1")).toBe(networkOf("2001:db8:1:2::1"));
	expect(networkOf("2001:db8:2:2::1")).not.toBe(networkOf("2001:db8:1:2::1"));
	expect(networkOf("not an address")).toBe("not an address");
});

import { expect, test } from "vitest";
import { privacyOf } from "../storage/postgres/connection/examine.ts";
import { PRIVACY } from "./postgres.ts";

const DIRECT = { encrypted: false, clientAddress: "10.0.0.1", serverAddress: "10.0.0.2" };
const away = { remoteAddress: "10.0.0.2", localAddress: "10.0.0.1" };

test.each([
	["by a file", {}, { encrypted: false, clientAddress: null, serverAddress: null }, "local"],
	["over loopback", { remoteAddress: "::1" }, { ...DIRECT, clientAddress: "::1", serverAddress: "::1" }, "local"],
	[
		"at the machine's own address",
		{ ...away, localAddress: "10.0.0.2" },
		{ ...DIRECT, clientAddress: "10.0.0.2" },
		"local",
	],
	["on another machine", away, DIRECT, "readable"],
	[
		"on another machine, with TLS",
		{ ...away, encrypted: true, authorized: true },
		{ ...DIRECT, encrypted: true },
		"encrypted",
	],
	[
		"with any certificate",
		{ ...away, encrypted: true, authorized: false },
		{ ...DIRECT, encrypted: true },
		"unverified",
	],
	["behind a proxy on this machine", { remoteAddress: "127.0.0.1" }, DIRECT, "readable"],
	[
		"behind a pooler that speaks TLS only to this machine",
		{ ...away, encrypted: true, authorized: true },
		DIRECT,
		"readable",
	],
	["on a server that doesn't say", away, { ...DIRECT, encrypted: null }, "readable"],
] as const)("a database %s", (_, socket, server, privacy) => {
	expect(privacyOf(socket, server)).toBe(privacy);
});

test("warns unless a connection to another machine is encrypted and verified", () => {
	for (const privacy of ["local", "encrypted"] as const) expect(PRIVACY[privacy].state).toBe("ok");
	for (const privacy of ["unverified", "readable"] as const) {
		const { state, text } = PRIVACY[privacy];
		expect(state).toBe("warning");
		expect(text).toContain("sslmode=verify-full");
	}
});

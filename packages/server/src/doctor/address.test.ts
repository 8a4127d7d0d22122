import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { examineAddress } from "./local.ts";

const HOST = "127.0.0.1";

// The check used fetch, which refuses some ports: it said that another program used them.
test("looks at a port that fetch and browsers refuse", async ({ skip }) => {
	const port = 6000;
	const server = createServer();
	const listens = once(server.listen(port, HOST), "listening").catch(() => null);
	if ((await listens) === null) skip("another program uses the port");
	const isTaken = examineAddress({ host: HOST, port });
	server.once("connection", (socket) => socket.destroy());
	expect(await isTaken).toMatchObject({ state: "warning", text: expect.stringMatching(/^Another program/) });
	server.close();
	await once(server, "close");
	expect(await examineAddress({ host: HOST, port })).toMatchObject({
		state: "ok",
		text: `Port 6000 of ${HOST} is free.`,
	});
});

const SYSCTL = "/proc/sys/net/ipv4/ip_unprivileged_port_start";
const first = existsSync(SYSCTL) ? Number(readFileSync(SYSCTL, "utf8")) : 0;
const NOBODY = 65_534;

// It said that the port was free, but the service couldn't listen on it.
test.skipIf(first < 2)("says if this user may not use the port", async () => {
	const isRoot = process.getuid!() === 0;
	const address = { host: HOST, port: first - 1 };
	if (isRoot) expect(await examineAddress(address)).toMatchObject({ state: "ok" });
	if (isRoot) process.seteuid!(NOBODY);
	try {
		expect(await examineAddress(address)).toMatchObject({
			state: "fault",
			text: `This user may not use port ${first - 1}: choose one above 1023 with POSTHORN_PORT.`,
		});
		expect(await examineAddress({ host: HOST, port: 0 })).toMatchObject({ state: "ok" });
	} finally {
		if (isRoot) process.seteuid!(0);
	}
});

test("doesn't say that a host name which can't be resolved is another machine's", async () => {
	const { text } = await examineAddress({ host: "posthorn.invalid", port: 0 });
	expect(text).toMatch(/^Cannot listen on posthorn\.invalid \(E\w+\); check POSTHORN_HOST\.$/);
});

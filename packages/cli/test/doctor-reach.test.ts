import {
	type Authority,
	createAuthority,
	issueExpired,
	issueForWrongHost,
	reset,
	startPlainTcp,
	startRawReceiver,
	unusedPort,
	writeCaFile,
} from "@posthorn/testkit";
import { afterEach, beforeAll, expect, test } from "vitest";
import { COMMAND, doctor, newFolder, type Report, run } from "./doctor.fixture.ts";

let authority: Authority;
let settings: Readonly<Record<string, string>>;
beforeAll(async () => {
	authority = await createAuthority();
	settings = {
		POSTHORN_EGRESS_ALLOW: "127.0.0.0/8",
		POSTHORN_EGRESS_CA_FILE: writeCaFile(authority, newFolder()),
	};
});

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
	for (const receiver of opened.splice(0)) await receiver.close();
});

async function open<R extends { close(): Promise<void> }>(starting: Promise<R>): Promise<R> {
	const receiver = await starting;
	opened.push(receiver);
	return receiver;
}

const reach = (url: string, env = settings): Promise<Report> => doctor(env, newFolder(), { flags: ["--reach", url] });

/** Expects a line about the receiver with its host but not the rest of its URL, and no other fault. */
function expectReceiver(report: Report, state: "ok" | "warning" | "fault", says: RegExp): void {
	expect(report).toMatchObject({ code: state === "fault" ? 1 : 0, err: "" });
	expect(report.lines.Receiver).toEqual({ state, text: expect.stringMatching(says) });
	expect(JSON.stringify(report)).not.toContain("token");
	for (const [name, line] of Object.entries(report.lines))
		if (name !== "Receiver") expect(line.state).not.toBe("fault");
}

test("connects to a reachable receiver over verified TLS, and sends nothing", async () => {
	let sent = 0;
	let closed = 0;
	const ends: Promise<unknown>[] = [];
	const receiver = await open(
		startRawReceiver({
			authority,
			onConnection(socket) {
				socket.on("data", ({ length }) => (sent += length));
				ends.push(new Promise((resolve) => socket.once("close", resolve)).then(() => closed++));
			},
		}),
	);
	const says =
		/^localhost:\d+: connected to 127\.0\.0\.1 in \d+ ms \(TLSv1\.[23]\); its certificate is valid for \d+ more days\. Nothing was sent\.$/;
	expectReceiver(await reach(receiver.url("/hooks?token=abc")), "ok", says);
	await Promise.all(ends);
	expect({ connections: receiver.connections, closed, sent }).toEqual({ connections: 1, closed: 1, sent: 0 });
});

test("reports an invalid certificate in the words of the delivery log", async () => {
	const onConnection = () => undefined;
	const { POSTHORN_EGRESS_CA_FILE: _, ...withoutCa } = settings;
	const sound = await open(startRawReceiver({ authority, onConnection }));
	expectReceiver(
		await reach(sound.url("/token"), withoutCa),
		"fault",
		/: The receiver's certificate isn't trusted\. Use .* Issued to: .*; Issued by: CN=.*; For hosts: .*localhost.*; Valid from: \d{4}-/,
	);
	const expired = await open(startRawReceiver({ authority: await issueExpired(authority), onConnection }));
	expectReceiver(
		await reach(expired.url("/token")),
		"fault",
		/certificate has expired\. Renew it\..*Valid to: [-\d: ]+ UTC\.$/,
	);
	const wrongHost = await open(startRawReceiver({ authority: await issueForWrongHost(authority), onConnection }));
	expectReceiver(await reach(wrongHost.url("/token")), "fault", /is for another host name/);
});

test("warns about a certificate that expires in a few days", async () => {
	for (const [days, says] of [
		[3.5, /its certificate expires in 3 days: renew it\.$/],
		[1.5, /expires in 1 day: renew/],
		[0.5, /expires in less than a day: renew/],
	] as const) {
		const credentials = await authority.issue({ notAfter: new Date(Date.now() + days * 86_400_000) });
		const receiver = await open(startRawReceiver({ authority: credentials, onConnection: () => undefined }));
		expectReceiver(await reach(receiver.url("/token")), "warning", says);
	}
});

// With TLS 1.3 the client considers the handshake done before the receiver has responded to it.
test("reports a receiver that closes right after the handshake", async () => {
	const receiver = await open(startRawReceiver({ authority, onConnection: reset }));
	expectReceiver(await reach(receiver.url("/token")), "fault", /: The receiver closed the connection/);
});

test("reports a forbidden, missing or silent receiver, and says what to check", async () => {
	const port = await unusedPort();
	expectReceiver(
		await reach(`https://127.0.0.1:${port}/token`),
		"fault",
		/^127\.0\.0\.1:\d+: The connection was refused\./,
	);
	expectReceiver(await reach(`https://127.0.0.1:${port}/token`, {}), "fault", /address is not public/);
	expectReceiver(await reach("http://example.com/token"), "fault", /^example\.com: The URL must begin with https/);
	expectReceiver(
		await reach(`https://${"a".repeat(64)}.example/token`),
		"fault",
		/host name .* DNS names have at most 63 characters/,
	);
	const silent = await open(startPlainTcp(() => undefined));
	const hurried = { ...settings, POSTHORN_ATTEMPT_TIMEOUT: "1" };
	expectReceiver(
		await reach(silent.url("/token"), hurried),
		"fault",
		/No connection within 1 s\. .*firewalls in between/,
	);
});

test("reports each of several receivers, and rejects arguments that aren't URLs", async () => {
	const ports = [await unusedPort(), await unusedPort()];
	const flags = ports.flatMap((port) => ["--reach", `https://127.0.0.1:${port}`]);
	const { code, out } = await run([COMMAND, "doctor", ...flags], settings, newFolder());
	expect(code).toBe(1);
	for (const port of ports) expect(out).toContain(`✘ Receiver       127.0.0.1:${port}: The connection was refused.`);
	const wrong = await doctor(settings, newFolder(), { flags: ["--reach", "example.com/hooks"] });
	expect(wrong).toMatchObject({ code: 2, lines: {} });
	expect(wrong.err).toBe('--reach is "example.com/hooks"; it must be a URL, such as https://example.com/webhooks.\n');
});

test("says that a port or an address isn't allowed, and connects to neither", async () => {
	const receiver = await open(startRawReceiver({ authority, onConnection: reset }));
	const url = receiver.url("/token");
	const few = { ...settings, POSTHORN_EGRESS_PORTS: "443" };
	expectReceiver(await reach(url, few), "fault", /allows these: 443/);
	const denying = { ...settings, POSTHORN_EGRESS_DENY: "127.0.0.0/8" };
	expectReceiver(
		await reach(receiver.ipUrl("/token"), denying),
		"fault",
		/doesn't allow requests to the URL's address/,
	);
	expect(receiver.connections).toBe(0);
});

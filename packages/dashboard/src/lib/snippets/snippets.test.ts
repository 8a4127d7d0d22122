import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_BRAND, headerNames, SIGNATURE_VECTORS } from "@posthorn/protocol";
import { afterAll, describe, expect, it } from "vitest";
import { receivingPage } from "../../../../../scripts/receiving-page.ts";
import { unusedPort } from "../../../../testkit/src/ports.ts";
import {
	bodyCases,
	breakOff,
	isPresent,
	NOT_JSON,
	type Program,
	type ReceiverCase,
	receiverCases,
	sendCase,
	startReceiver,
} from "./snippets.fixture.ts";
import { SECRET_VARIABLE, SNIPPETS, snippet } from "./snippets.ts";

const folder = mkdtempSync(join(tmpdir(), "snippets-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** `npm run test:languages` sets it. Otherwise only the languages that are everywhere run: compiling Go takes minutes. */
const isAll = process.env.POSTHORN_TEST_LANGUAGES === "all";
const hasPython = isPresent("python3", "--version");
const hasPhp = isAll && isPresent("php", "--version");
const hasGo = isAll && isPresent("go", "version");
const hasRuby = isAll && isPresent("ruby", "-ropenssl", "-e", "OpenSSL.method(:secure_compare)");
const hasJava = isAll && isPresent("javac", "--version");

const SECRET = SIGNATURE_VECTORS[0]!.secret;
const BODY = '{"id":"evt_1","type":"purchase.completed","data":{"name":"Zoë 🎺","amount_cents":12345678901234567890}}';
const now = () => Math.floor(Date.now() / 1_000);

for (const { language, file } of SNIPPETS) writeFileSync(join(folder, file), snippet(language));
const path = (file: string) => join(folder, file);

type Receiver = Pick<Program, "command" | "ready">;

const listening = { stream: "stdout", line: /^Listening on port/ } as const;
const typescript: Receiver = { command: [process.execPath, path("receiver.mts")], ready: listening };
const python: Receiver = { command: ["python3", "-u", path("receiver.py")], ready: listening };

/** The same receivers with a clock fixed at `at`, in Unix seconds. */
const typescriptAt = (at: string): Receiver => ({
	...typescript,
	command: [process.execPath, "--import", `data:text/javascript,Date.now=()=>${at}*1000`, path("receiver.mts")],
});
const pythonAt = (at: string): Receiver => ({
	...python,
	command: [
		"python3",
		"-u",
		"-c",
		`import time; time.time = lambda: ${at}; exec(open(${JSON.stringify(path("receiver.py"))}).read())`,
	],
});

/** Runs a receiver, sends it all cases and returns its responses. */
async function answers(receiver: Receiver, secret: string, cases: readonly ReceiverCase[], port?: number) {
	const running = await startReceiver(port ?? (await unusedPort()), { ...receiver, secret });
	try {
		const said: [string, number][] = [];
		for (const one of cases) said.push([one.name, await sendCase(running, one)]);
		return said;
	} finally {
		await running.stop();
	}
}

/** A receiver must continue after one that it fails to handle, so a genuine request comes last. */
const allCases = (unhandled: readonly string[]): ReceiverCase[] => {
	const cases = receiverCases(SECRET, BODY, now());
	return [...cases, ...bodyCases(SECRET, now(), unhandled), { ...cases[0]!, name: "another genuine request" }];
};
const expected = (cases: readonly ReceiverCase[]) => cases.map(({ name, status }) => [name, status]);
/** For programs that call the receiver's code themselves. */
const toJson = (cases: readonly ReceiverCase[]) =>
	JSON.stringify(cases.map(({ body, ...rest }) => ({ ...rest, body: Buffer.from(body).toString("base64") })));

/** A vector's own signature is accepted at its time, and refused with another body. */
function vectorCases({ name, timestamp, body: text, signature }: (typeof SIGNATURE_VECTORS)[number]): ReceiverCase[] {
	const body = Buffer.from(text);
	return [
		{ name, timestamp, body, signature, status: text === "" ? 500 : 200 },
		{ name: `${name}, altered`, timestamp, body: Buffer.from(`${text}\n`), signature, status: 401 },
		{ name: `${name}, 301 s later`, timestamp: String(Number(timestamp) - 301), body, signature, status: 400 },
	];
}

function failsWithoutSecret(file: string, ...args: string[]): void {
	const env = { ...process.env, [SECRET_VARIABLE]: "" };
	const { status, stderr } = spawnSync(file, args, { env, encoding: "utf8" });
	expect(status).toBe(1);
	expect(stderr).toContain(`Set ${SECRET_VARIABLE}`);
}

describe("TypeScript", () => {
	it("accepts genuine requests and refuses others", async () => {
		const cases = allCases(NOT_JSON);
		expect(await answers(typescript, SECRET, cases)).toEqual(expected(cases));
	});

	it.each(SIGNATURE_VECTORS)("knows the vector: $name", async (vector) => {
		const cases = vectorCases(vector);
		expect(await answers(typescriptAt(vector.timestamp), vector.secret, cases)).toEqual(expected(cases));
	});

	// `npm init -y` creates a package.json with "type": "commonjs"; in such a folder, a .ts file with imports fails.
	it("starts in a CommonJS package", async () => {
		const inPackage = join(folder, "package");
		mkdirSync(inPackage);
		writeFileSync(join(inPackage, "package.json"), '{"type":"commonjs"}');
		const { file } = SNIPPETS.find(({ language }) => language === "typescript")!;
		writeFileSync(join(inPackage, file), snippet("typescript"));
		const receiver: Receiver = { ...typescript, command: [process.execPath, join(inPackage, file)] };
		const cases = receiverCases(SECRET, BODY, now());
		expect(await answers(receiver, SECRET, cases)).toEqual(expected(cases));
	});

	// It once ended then, because reading the body failed outside of any try.
	it("continues after a request that breaks off", async () => {
		const running = await startReceiver(await unusedPort(), { ...typescript, secret: SECRET });
		try {
			await breakOff(running);
			expect(await sendCase(running, receiverCases(SECRET, BODY, now())[0]!)).toBe(200);
		} finally {
			await running.stop();
		}
	});

	it("does not start without a secret", () => failsWithoutSecret(process.execPath, path("receiver.mts")));
});

describe.skipIf(!hasPython)("Python", () => {
	it("accepts genuine requests and refuses others", async () => {
		// Its parser takes a byte order mark.
		const cases = allCases(NOT_JSON.filter((name) => name !== "a byte order mark"));
		expect(await answers(python, SECRET, cases)).toEqual(expected(cases));
	});

	it.each(SIGNATURE_VECTORS)("knows the vector: $name", async (vector) => {
		const cases = vectorCases(vector);
		expect(await answers(pythonAt(vector.timestamp), vector.secret, cases)).toEqual(expected(cases));
	});

	it("does not start without a secret", () => failsWithoutSecret("python3", path("receiver.py")));
});

describe.skipIf(!hasPhp)("PHP", () => {
	it("accepts genuine requests and refuses others", async () => {
		const port = await unusedPort();
		const receiver: Receiver = {
			command: ["php", "-S", `127.0.0.1:${port}`, path("receiver.php")],
			ready: { stream: "stderr", line: /Development Server .* started/ },
		};
		const cases = allCases(NOT_JSON);
		expect(await answers(receiver, SECRET, cases, port)).toEqual(expected(cases));
		const [genuine] = cases;
		const withoutSecret = await answers(receiver, "", [genuine!], port);
		expect(withoutSecret).toEqual([[genuine!.name, 500]]);
	});
});

describe.skipIf(!hasRuby)("Ruby", () => {
	/** A Rack server in miniature: the application is called for each case on standard input. */
	const HARNESS = `require "json"
require "stringio"
def run(app) = $app = app
load ARGV[0]
puts JSON.generate(JSON.parse($stdin.read).map { |c|
  env = { "HTTP_X_SERVICE_TIMESTAMP" => c["timestamp"], "HTTP_X_SERVICE_SIGNATURE" => c["signature"] }
  body = c["body"].unpack1("m")
  # The application would fail to parse these after it has accepted them.
  status = ARGV[1] == "verify" ? verify(body, c["timestamp"], c["signature"]) : $app.call(env.merge("rack.input" => StringIO.new(body)))[0]
  [c["name"], status]
})`;

	it.each([
		["app", receiverCases],
		["verify", (secret: string, _: string, at: number) => bodyCases(secret, at, [])],
	] as const)("accepts genuine requests and refuses others: %s", (what, casesOf) => {
		const cases = casesOf(SECRET, BODY, now());
		const { stdout, stderr } = spawnSync("ruby", ["-e", HARNESS, path("config.ru"), what], {
			input: toJson(cases),
			env: { ...process.env, [SECRET_VARIABLE]: SECRET },
			encoding: "utf8",
		});
		expect(stdout, stderr).not.toBe("");
		expect(JSON.parse(stdout)).toEqual(expected(cases));
	});

	it("does not start without a secret", () => failsWithoutSecret("ruby", "-e", HARNESS, path("config.ru")));
});

describe.skipIf(!hasGo)("Go", () => {
	const HARNESS = `package main

import ("bytes"; "encoding/json"; "net/http/httptest"; "os"; "testing")

func TestReceive(t *testing.T) {
	var cases []struct{ Name, Timestamp, Signature string; Body []byte; Status int }
	text, err := os.ReadFile(os.Getenv("CASES"))
	if err != nil { t.Fatal(err) }
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) == 0 { t.Fatal("no cases", err) }
	for _, c := range cases {
		r := httptest.NewRequest("POST", "/webhooks", bytes.NewReader(c.Body))
		r.Header.Set("X-Service-Timestamp", c.Timestamp)
		r.Header.Set("X-Service-Signature", c.Signature)
		w := httptest.NewRecorder()
		receive(w, r)
		if w.Code != c.Status { t.Errorf("%s: %d instead of %d", c.Name, w.Code, c.Status) }
	}
}
`;

	/** Most of the time goes into compiling Go's own packages. */
	const QUICKLY = "-gcflags=all=-N -l";

	it("accepts genuine requests and refuses others", { timeout: 300_000 }, () => {
		writeFileSync(path("receiver_test.go"), HARNESS);
		writeFileSync(path("go.mod"), "module receiver\n\ngo 1.19\n");
		const built = spawnSync("go", ["test", "-c", "-vet=off", QUICKLY, "-o", path("receiver.test"), "."], {
			cwd: folder,
			env: { ...process.env, CGO_ENABLED: "0" },
			encoding: "utf8",
		});
		expect(built.status, built.stdout + built.stderr).toBe(0);
		// Compiling may take longer than the cases leave the clock.
		writeFileSync(path("cases.json"), toJson(allCases(NOT_JSON)));
		const env = { ...process.env, [SECRET_VARIABLE]: SECRET, CASES: path("cases.json") };
		const { status, stdout, stderr } = spawnSync(path("receiver.test"), ["-test.v"], { env, encoding: "utf8" });
		expect(stdout + stderr).toMatch(/^--- PASS: TestReceive/m);
		expect(status).toBe(0);
	});
});

describe.skipIf(!hasJava)("Java", () => {
	it("accepts genuine requests and refuses others", async () => {
		const classes = join(folder, "classes");
		const built = spawnSync("javac", ["-Xlint:all", "-Werror", "-d", classes, path("Receiver.java")], {
			encoding: "utf8",
		});
		expect(built.status, built.stdout + built.stderr).toBe(0);
		const receiver: Receiver = { command: ["java", "-cp", classes, "Receiver"], ready: listening };
		// It doesn't parse.
		const cases = allCases([]);
		expect(await answers(receiver, SECRET, cases)).toEqual(expected(cases));
		failsWithoutSecret("java", "-cp", classes, "Receiver");
	});
});

describe("every language", () => {
	it.each(SNIPPETS)("$label: has the protocol's own brand unless another is given", ({ language }) => {
		expect(snippet(language)).toBe(snippet(language, DEFAULT_BRAND));
	});

	// Go's always listened on port 3000.
	it.each(SNIPPETS)("$label: takes its port from its command or PORT", ({ language, start }) => {
		expect(`${start}\n${snippet(language)}`).toMatch(/-[Sp] (127\.0\.0\.1:)?3000\b|\bPORT\b/);
	});

	it.each(SNIPPETS)("$label: names the brand's headers, the tolerance and the secret's variable", ({ language }) => {
		const code = snippet(language, "Acme-2");
		const plain = code.toLowerCase().replaceAll("_", "-");
		const { signature, timestamp } = headerNames("Acme-2");
		expect(plain).toContain(signature.toLowerCase());
		expect(plain).toContain(timestamp.toLowerCase());
		expect(plain).not.toContain("x-service");
		expect(code).toContain("300");
		expect(code).toContain(SECRET_VARIABLE);
	});

	it.each(SNIPPETS)("$label: compares in constant time", ({ language }) => {
		expect(snippet(language)).toMatch(
			/timingSafeEqual\(|compare_digest\(|hash_equals\(|hmac\.Equal\(|secure_compare\(|MessageDigest\.isEqual\(/,
		);
	});
});

it("docs/guides/receiving.md shows exactly these receivers", () => {
	const guide = readFileSync(new URL("../../../../../docs/guides/receiving.md", import.meta.url), "utf8");
	expect(receivingPage(guide), "npm run docs updates it").toBe(guide);
	for (const { language } of SNIPPETS) expect(guide).toContain(snippet(language));
});

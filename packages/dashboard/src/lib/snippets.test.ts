import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { headerNames, DEFAULT_BRAND as PROTOCOL_BRAND, SIGNATURE_VECTORS } from "@posthorn/protocol";
import { afterAll, describe, expect, it } from "vitest";
import { unusedPort } from "../../../testkit/src/ports.ts";
import {
	isPresent,
	type Program,
	type ReceiverCase,
	receiverCases,
	sendCase,
	startReceiver,
} from "./snippets.fixture.ts";
import { DEFAULT_BRAND, SECRET_VARIABLE, SNIPPETS, snippet } from "./snippets.ts";

const folder = mkdtempSync(join(tmpdir(), "snippets-"));
afterAll(() => rmSync(folder, { recursive: true }));

const hasPython = isPresent("python3", "--version");
const hasPhp = isPresent("php", "--version");
const hasGo = isPresent("go", "version");
const hasRuby = isPresent("ruby", "-ropenssl", "-e", "OpenSSL.method(:secure_compare)");

const SECRET = SIGNATURE_VECTORS[0]!.secret;
const BODY = '{"id":"evt_1","type":"purchase.completed","data":{"name":"Zoë 🎺","amount_cents":12345678901234567890}}';
const now = () => Math.floor(Date.now() / 1_000);

/** A receiver never sees an empty body: every event has an envelope. */
const VECTORS = SIGNATURE_VECTORS.filter(({ body }) => body !== "");

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

const expected = (cases: readonly ReceiverCase[]) => cases.map(({ name, status }) => [name, status]);

/** A vector's own signature is accepted at its time, and refused with another body. */
function vectorCases({ name, timestamp, body, signature }: (typeof VECTORS)[number]): ReceiverCase[] {
	return [
		{ name, timestamp, body, signature, status: 200 },
		{ name: `${name}, altered`, timestamp, body: `${body}\n`, signature, status: 401 },
		{ name: `${name}, 301 s later`, timestamp: String(Number(timestamp) - 301), body, signature, status: 400 },
	];
}

describe("TypeScript", () => {
	it("accepts genuine requests and refuses others", async () => {
		const cases = receiverCases(SECRET, BODY, now());
		expect(await answers(typescript, SECRET, cases)).toEqual(expected(cases));
	});

	it.each(VECTORS)("knows the vector: $name", async (vector) => {
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

	it("does not start without a secret", () => {
		const { status, stderr } = spawnSync(process.execPath, [path("receiver.mts")], {
			env: { ...process.env, [SECRET_VARIABLE]: "" },
			encoding: "utf8",
		});
		expect(status).toBe(1);
		expect(stderr).toContain(`Set ${SECRET_VARIABLE}`);
	});
});

describe.skipIf(!hasPython)("Python", () => {
	it("accepts genuine requests and refuses others", async () => {
		const cases = receiverCases(SECRET, BODY, now());
		expect(await answers(python, SECRET, cases)).toEqual(expected(cases));
	});

	it.each(VECTORS)("knows the vector: $name", async (vector) => {
		const cases = vectorCases(vector);
		expect(await answers(pythonAt(vector.timestamp), vector.secret, cases)).toEqual(expected(cases));
	});

	it("does not start without a secret", () => {
		const { status, stderr } = spawnSync("python3", [path("receiver.py")], {
			env: { ...process.env, [SECRET_VARIABLE]: "" },
			encoding: "utf8",
		});
		expect(status).toBe(1);
		expect(stderr).toContain(`Set ${SECRET_VARIABLE}`);
	});
});

describe.skipIf(!hasPhp)("PHP", () => {
	it("accepts genuine requests and refuses others", async () => {
		const port = await unusedPort();
		const receiver: Receiver = {
			command: ["php", "-S", `127.0.0.1:${port}`, path("receiver.php")],
			ready: { stream: "stderr", line: /Development Server .* started/ },
		};
		const cases = receiverCases(SECRET, BODY, now());
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
  [c["name"], $app.call(env.merge("rack.input" => StringIO.new(c["body"])))[0]]
})`;

	it("accepts genuine requests and refuses others", () => {
		const cases = receiverCases(SECRET, BODY, now());
		const { stdout, stderr } = spawnSync("ruby", ["-e", HARNESS, path("config.ru")], {
			input: JSON.stringify(cases),
			env: { ...process.env, [SECRET_VARIABLE]: SECRET },
			encoding: "utf8",
		});
		expect(stdout, stderr).not.toBe("");
		expect(JSON.parse(stdout)).toEqual(expected(cases));
	});

	it("does not start without a secret", () => {
		const env = { ...process.env, [SECRET_VARIABLE]: "" };
		const { status, stderr } = spawnSync("ruby", ["-e", HARNESS, path("config.ru")], { env, encoding: "utf8" });
		expect(status).toBe(1);
		expect(stderr).toContain(`Set ${SECRET_VARIABLE}`);
	});
});

describe.skipIf(!hasGo)("Go", () => {
	const HARNESS = `package main

import ("encoding/json"; "net/http/httptest"; "os"; "strings"; "testing")

func TestReceive(t *testing.T) {
	var cases []struct{ Name, Timestamp, Signature, Body string; Status int }
	if err := json.Unmarshal([]byte(os.Getenv("CASES")), &cases); err != nil || len(cases) == 0 { t.Fatal("no cases", err) }
	for _, c := range cases {
		r := httptest.NewRequest("POST", "/webhooks", strings.NewReader(c.Body))
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

	it("accepts genuine requests and refuses others", { timeout: 180_000 }, () => {
		writeFileSync(path("receiver_test.go"), HARNESS);
		writeFileSync(path("go.mod"), "module receiver\n\ngo 1.19\n");
		const built = spawnSync("go", ["test", "-c", "-vet=off", QUICKLY, "-o", path("receiver.test"), "."], {
			cwd: folder,
			env: { ...process.env, CGO_ENABLED: "0" },
			encoding: "utf8",
		});
		expect(built.status, built.stdout + built.stderr).toBe(0);
		// Compiling may take longer than the cases leave the clock.
		const CASES = JSON.stringify(receiverCases(SECRET, BODY, now()));
		const env = { ...process.env, [SECRET_VARIABLE]: SECRET, CASES };
		const { status, stdout, stderr } = spawnSync(path("receiver.test"), ["-test.v"], { env, encoding: "utf8" });
		expect(stdout + stderr).toMatch(/^--- PASS: TestReceive/m);
		expect(status).toBe(0);
	});
});

describe("every language", () => {
	it.each(SNIPPETS)("$label: has the protocol's own brand unless another is given", ({ language }) => {
		expect(snippet(language)).toBe(snippet(language, PROTOCOL_BRAND));
		expect(DEFAULT_BRAND).toBe(PROTOCOL_BRAND);
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
			/timingSafeEqual\(|compare_digest\(|hash_equals\(|hmac\.Equal\(|secure_compare\(/,
		);
	});
});

describe("docs/guides/receiving.md", () => {
	const guide = readFileSync(new URL("../../../../docs/guides/receiving.md", import.meta.url), "utf8");

	it.each(["python", "php"] as const)("shows code of the %s snippet", (language) => {
		const [, code] = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(guide)!;
		expect(code).toContain("verify(");
		expect(snippet(language)).toContain(code);
	});
});

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs, { chmodSync, existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSecret } from "@posthorn/protocol";
import fc from "fast-check";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { readConfig, readDatabaseUrl } from "./index.ts";
import { readOrMakeSealKeys } from "./seal-key.ts";
import { fileVariableOf, flagOf, SETTINGS, variableOf } from "./settings.ts";

const folder = mkdtempSync(join(tmpdir(), "posthorn-config-"));
afterAll(() => rmSync(folder, { recursive: true }));

const faultsFor = (flags: Partial<Record<keyof typeof SETTINGS, string>>): readonly string[] => {
	const result = readConfig({ env: {}, flags });
	return result.ok ? [] : result.faults;
};
const faultsOf = (env: Record<string, string>): readonly string[] => {
	const result = readConfig({ env });
	return result.ok ? [] : result.faults;
};

// Quotes were part of an operator's key, which other programs then read without them. For other secrets it only said "is
// not valid".
test("a value in quotes, as docker --env-file leaves it, is refused as such", () => {
	const key = "k".repeat(40);
	const quoted = {
		OPERATOR_KEY: `"${key}"`,
		SEAL_KEY: `'${key}'`,
		DATABASE_URL: '"sqlite:x.db"',
		PORT: '"80"',
		HOST: '"::"',
	};
	for (const [name, value] of Object.entries(quoted))
		expect(faultsOf({ [`POSTHORN_${name}`]: value })).toEqual([
			expect.stringMatching(
				new RegExp(`^POSTHORN_${name} is in quotes, which count as part of it: leave them out; it must be `),
			),
		]);
	expect(faultsOf({ POSTHORN_OPERATOR_KEY: `${key}"` })).toEqual([]);
});

test("with nothing set, everything is as documented", () => {
	expect(readConfig({ env: {} })).toEqual({
		ok: true,
		config: {
			host: "127.0.0.1",
			port: 8420,
			publicUrl: null,
			trustProxy: [],
			database: { engine: "sqlite", path: "data/posthorn.db" },
			databaseUrlFile: null,
			operatorKey: null,
			operatorKeyFile: "data/posthorn.operatorkey",
			setupLinkFile: "data/posthorn.setuplink",
			sealKeys: null,
			sealKeyFile: "data/posthorn.sealkey",
			brand: "Service",
			retryDelaysMs: [30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000],
			alerts: null,
			attemptTimeoutMs: 15_000,
			logRetentionMs: 30 * 24 * 3_600_000,
			basketIdleMs: 86_400_000,
			maxEventBytes: 262_144,
			maxWebhooksPerProject: 100,
			maxUrlLength: 2048,
			maxBatchBytes: 2_097_152,
			maxBodyBytesInFlight: 67_108_864,
			maxDescriptionLength: 200,
			egress: { allow: [], deny: [], ports: [[1, 65_535]] },
			egressCa: null,
			logLevel: "info",
		},
	});
});

// The part after the / or # was taken for a host, and shown: "getaddrinfo ENOTFOUND ss".
test.each(["12/cd", "p@ss:/?#[]", "p#w", "ab/cd"])(
	"the password %s must be percent-encoded in a database URL",
	(password) => {
		const urlWith = (text: string) => ({
			...{ POSTHORN_DATABASE_URL: `postgres://posthorn:${text}@db.internal/posthorn?user=a@b` },
			...{ POSTHORN_SEAL_KEY: Buffer.alloc(32).toString("base64") },
		});
		const [fault, ...others] = faultsOf(urlWith(password));
		expect(fault).toMatch(
			/^POSTHORN_DATABASE_URL is not valid; .* percent-encoded, such as %2F for \/ and %23 for #\.$/,
		);
		expect(others).toEqual([]);
		expect(faultsOf(urlWith(encodeURIComponent(password)))).toEqual([]);
	},
);

// Lines that end with CR LF, or a space, gave a database of another name: docker's --env-file and shells keep them.
test("space around a variable's value is dropped", () => {
	const key = "k".repeat(32);
	const env = { POSTHORN_DATABASE_URL: "sqlite:/data/posthorn.db\r", POSTHORN_OPERATOR_KEY: `${key}\r` };
	const result = readConfig({ env: { ...env, POSTHORN_PORT: " 9000 ", POSTHORN_TRUST_PROXY: "\r" } });
	expect(result).toMatchObject({
		config: {
			...{ database: { path: "/data/posthorn.db" }, sealKeyFile: "/data/posthorn.sealkey" },
			...{ operatorKey: key, port: 9000, trustProxy: [] },
		},
	});
	expect(faultsOf({ POSTHORN_BRAND: " " })).toEqual([expect.stringMatching(/^POSTHORN_BRAND is empty; /)]);
});

const WRONG: Record<string, readonly string[]> = {
	POSTHORN_HOST: ["", "a b"],
	POSTHORN_PORT: ["80a", "-1", "65536", "1.5"],
	POSTHORN_PUBLIC_URL: ["", "hooks.example.com", "ftp://hooks.example.com", "https://hooks.example.com/dashboard"],
	POSTHORN_TRUST_PROXY: ["10.0.0.0/33", "localhost"],
	POSTHORN_DATABASE_URL: [
		"",
		"sqlite:",
		"mysql://x",
		"./posthorn.db",
		"postgres://a,b:x/d",
		"postgres://a,b/d?target_session_attrs=standby",
	],
	POSTHORN_OPERATOR_KEY: ["short", `${"x".repeat(32)} y`],
	POSTHORN_SEAL_KEY: ["", "AAAA", "*".repeat(44)],
	POSTHORN_BRAND: ["", "a b", "-a", "x".repeat(33)],
	POSTHORN_RETRY_DELAYS: ["", "30,,60", "30;60", "-1", "1e9", Array(51).fill("1").join(",")],
	POSTHORN_ATTEMPT_TIMEOUT: ["0", "15s", "301"],
	POSTHORN_LOG_RETENTION_DAYS: ["0", "1.5", "99999"],
	POSTHORN_BASKET_IDLE: ["0", "x"],
	POSTHORN_MAX_EVENT_BYTES: ["12", "x"],
	POSTHORN_EGRESS_ALLOW: ["10.0.0.0/33", "localhost", "1.2.3"],
	POSTHORN_EGRESS_DENY: ["10.0.0.0/33", "localhost", "1.2.3"],
	POSTHORN_EGRESS_PORTS: ["", "0", "25", "443,25", "65536", "x", "9-8", "1-", "-1", "443,,80", "1-2-3", "4 4"],
	POSTHORN_EGRESS_CA_FILE: ["/no/such/file", import.meta.filename],
	POSTHORN_LOG_LEVEL: ["loud"],
};

test("each wrong value gives one line with the variable and what it must be", () => {
	for (const [name, values] of Object.entries(WRONG))
		for (const value of values) {
			const faults = faultsOf({ [name]: value });
			expect(faults, `${name}=${value}`).toHaveLength(1);
			expect(faults[0]).toMatch(new RegExp(`^${name} .*it must be .+\\.$`));
		}
});

// It was a folder of that name in the working directory, which its owner could only delete with care.
test("refuses ~ in the path of a database, which nothing replaces", () => {
	for (const path of ["~/posthorn.db", "./~/posthorn.db", "~posthorn/posthorn.db"])
		expect(faultsOf({ POSTHORN_DATABASE_URL: `sqlite:${path}` }), path).toEqual([
			"POSTHORN_DATABASE_URL is not valid; it must be sqlite: and a file's path without ~, which is only a shell's name of your home folder.",
		]);
	expect(faultsOf({ POSTHORN_DATABASE_URL: "sqlite:data/posthorn~/x.db" })).toEqual([]);
});

test("reports all faults together, including unknown variables", () => {
	const faults = faultsOf({
		POSTHORN_PORT: "x",
		POSTHORN_BRAND: "",
		POSTHORN_RETRY_DELAY: "1",
		POSTHORN_NONSENSE_AT_ALL: "1",
	});
	expect(faults).toHaveLength(4);
	expect(faults).toContain("POSTHORN_NONSENSE_AT_ALL is not a Posthorn setting. posthorn serve --help lists them all.");
});

test("suggests the setting that a misspelt one resembles", () => {
	for (const [wrong, right] of [
		["RETRY_DELAY", "RETRY_DELAYS"],
		["HOTS", "HOST"],
		["DATABSE_URL", "DATABASE_URL"],
		["DB_URL", "DATABASE_URL"],
		["DATABASE_URLFILE", "DATABASE_URL_FILE"],
		["SEALKEY", "SEAL_KEY"],
		["operator_key", "OPERATOR_KEY"],
		["EGRESS_ALLOWED", "EGRESS_ALLOW"],
	])
		expect(faultsOf({ [`POSTHORN_${wrong}`]: "1" })).toEqual([
			`POSTHORN_${wrong} is not a Posthorn setting. Did you mean POSTHORN_${right}? posthorn serve --help lists them all.`,
		]);
	// It was ignored, and the service used the default.
	expect(faultsOf({ posthorn_log_level: "debug" })).toEqual([
		"posthorn_log_level is not a Posthorn setting. Did you mean POSTHORN_LOG_LEVEL? posthorn serve --help lists them all.",
	]);
	for (const unlike of ["", "X", "TOKEN", "\u{1f3ba}"])
		expect(faultsOf({ [`POSTHORN_${unlike}`]: "1" })).toEqual([expect.not.stringContaining("Did you mean")]);
});

// A Service named posthorn used to keep every pod in its namespace from starting.
test("ignores what Kubernetes injects for Services, and nothing else", () => {
	const links = {
		POSTHORN_SERVICE_HOST: "10.0.0.1",
		POSTHORN_SERVICE_PORT: "8420",
		POSTHORN_SERVICE_PORT_HTTP: "8420",
		POSTHORN_PORT: "tcp://10.0.0.1:8420",
		POSTHORN_PORT_8420_TCP: "tcp://10.0.0.1:8420",
		POSTHORN_PORT_8420_TCP_PROTO: "tcp",
		POSTHORN_PORT_8420_TCP_PORT: "8420",
		POSTHORN_PORT_8420_TCP_ADDR: "10.0.0.1",
		POSTHORN_POSTGRES_SERVICE_HOST: "10.0.0.2",
		POSTHORN_POSTGRES_PORT: "tcp://10.0.0.2:5432",
		POSTHORN_POSTGRES_PORT_5432_TCP_ADDR: "10.0.0.2",
	};
	const result = readConfig({ env: links });
	expect(result).toMatchObject({ ok: true, config: { port: 8420, host: "127.0.0.1" } });
	expect(faultsOf({ POSTHORN_PORT: "tcp:8420" })).toHaveLength(1);
	expect(faultsOf({ POSTHORN_SERVICE_NAME: "x" })).toHaveLength(1);
	expect(faultsOf({ POSTHORN_POSTGRES_PORT: "5432" })).toHaveLength(1);
});

test("a flag wins over its variable, and its faults name the flag", () => {
	const env = { POSTHORN_PORT: "1" };
	expect(readConfig({ env, flags: { port: "2" } })).toMatchObject({ ok: true, config: { port: 2 } });
	expect(readConfig({ env, flags: { port: "x" } })).toMatchObject({
		ok: false,
		faults: [expect.stringMatching(/^--port /)],
	});
});

test("PostgreSQL needs a seal key, and secrets are never quoted", () => {
	expect(faultsOf({ POSTHORN_DATABASE_URL: "postgres://u:hunter2@h/d" })).toEqual([
		expect.stringContaining("POSTHORN_SEAL_KEY"),
	]);
	const faults = faultsOf({
		POSTHORN_OPERATOR_KEY: "hunter2",
		POSTHORN_SEAL_KEY: "hunter2",
		POSTHORN_DATABASE_URL: "x:hunter2",
	});
	expect(faults).toHaveLength(3);
	expect(faults.join()).not.toContain("hunter2");
});

test("alerts need an https URL and a secret as Posthorn makes them, both or neither", () => {
	const [url, secret] = ["https://shop.example/alerts", createSecret()];
	expect(readConfig({ env: { POSTHORN_ALERT_URL: url, POSTHORN_ALERT_SECRET: secret } })).toMatchObject({
		ok: true,
		config: { alerts: { url, secret } },
	});
	expect(faultsOf({ POSTHORN_ALERT_URL: url })).toEqual([
		expect.stringMatching(/^POSTHORN_ALERT_SECRET is not set; .* posthorn alert --new-secret\.$/),
	]);
	expect(faultsOf({ POSTHORN_ALERT_SECRET: secret })).toEqual([
		expect.stringMatching(/^POSTHORN_ALERT_URL is not set/),
	]);
	for (const wrong of ["http://shop.example/", "https://ada:pw@shop.example/", "https://shop.example:25/", "shop"])
		expect(faultsOf({ POSTHORN_ALERT_URL: wrong, POSTHORN_ALERT_SECRET: secret })).toEqual([
			// Without the value, which may contain a password.
			expect.stringMatching(/^POSTHORN_ALERT_URL is not valid; it must be an https:\/\/ URL/),
		]);
	const faults = faultsOf({ POSTHORN_ALERT_URL: url, POSTHORN_ALERT_SECRET: secret.slice(0, -1) });
	expect(faults).toEqual([expect.stringMatching(/^POSTHORN_ALERT_SECRET is not valid; it must be whsec_ and/)]);
	expect(faults.join()).not.toContain(secret.slice(6, 40));
});

test("secrets come from files, whose surrounding space is dropped", () => {
	const inFile = (name: string, text: string): string => {
		writeFileSync(join(folder, name), text);
		return join(folder, name);
	};
	const key = Buffer.alloc(32, 1);
	const env = {
		POSTHORN_DATABASE_URL_FILE: inFile("url", "postgres://u:hunter2@h/d\n"),
		POSTHORN_OPERATOR_KEY_FILE: inFile("operator", `${"x".repeat(32)}\n`),
		POSTHORN_SEAL_KEY_FILE: inFile("seal", `  ${key.toString("base64")}\r\n`),
	};
	expect(readConfig({ env })).toMatchObject({
		ok: true,
		config: { database: { url: "postgres://u:hunter2@h/d" }, operatorKey: "x".repeat(32), sealKeys: [key] },
	});
	expect(readConfig({ env })).toMatchObject({ config: { databaseUrlFile: join(folder, "url") } });
	expect(readDatabaseUrl(inFile("url", "postgres://u:swordfish@h/d\n"))).toBe("postgres://u:swordfish@h/d");
	for (const text of ["", "sqlite:./a.db", "postgres://u:p/w@h/d"])
		expect(readDatabaseUrl(inFile("url", text))).toBeNull();
	expect(readDatabaseUrl(join(folder, "none"))).toBeNull();
	inFile("url", "postgres://u:hunter2@h/d\n");
	const wrong = faultsOf({ ...env, POSTHORN_OPERATOR_KEY_FILE: inFile("short", "hunter2") });
	expect(wrong).toEqual([expect.stringMatching(/^POSTHORN_OPERATOR_KEY_FILE is not valid; it must be 32/)]);
	const absent = faultsOf({ ...env, POSTHORN_OPERATOR_KEY_FILE: join(folder, "none") });
	expect(absent).toEqual([expect.stringMatching(/^POSTHORN_OPERATOR_KEY_FILE is .*must be a file .*ENOENT/)]);
	const both = faultsOf({ ...env, POSTHORN_SEAL_KEY: key.toString("base64") });
	expect(both).toEqual(["POSTHORN_SEAL_KEY and POSTHORN_SEAL_KEY_FILE are both set; set one of them."]);
	expect(faultsOf({ POSTHORN_PORT_FILE: "x" })).toEqual([expect.stringContaining("POSTHORN_PORT_FILE is not")]);
});

// Without a writer, reading the pipe blocked the whole service.
test.skipIf(process.platform === "win32")("a URL in a pipe isn't read again", async () => {
	const pipe = join(folder, "pipe");
	expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
	// With a writer, reading it would succeed.
	const writer = spawn("sh", ["-c", `echo ready; echo postgres://u:hunter2@h/d > "$1"`, "sh", pipe]);
	onTestFinished(async () => {
		writer.kill();
		if (writer.exitCode === null && writer.signalCode === null) await once(writer, "exit");
	});
	await once(writer.stdout, "data");
	expect(readDatabaseUrl(pipe)).toBeNull();
});

// `ps` showed them to every user of the machine.
test("secrets are refused as flags, and not quoted", () => {
	const sealKeys = Buffer.alloc(32, 1).toString("base64");
	for (const [flags, start] of [
		[
			{ operatorKey: "hunter2".repeat(5) },
			"--operator-key would show a secret in the list of processes; set POSTHORN_OPERATOR_KEY, or",
		],
		[{ sealKeys }, "--seal-key would"],
		[{ database: "postgres://u:hunter2@h/d" }, "--database-url would"],
		[{ database: "postgres://u:hun%2Fter2@a:1,b:2/d" }, "--database-url would"],
		// A user's name with an @ hid the password.
		[{ database: "postgres://u@corp:hunter2@h/d" }, "--database-url would"],
		[{ database: "postgres://u@a,v:hunter2@b/d" }, "--database-url would"],
		[{ database: "postgres://u@h/d?password=hunter2" }, "--database-url would"],
		[{ database: "postgres://u@h/d?p%61ssword=hunter2" }, "--database-url would"],
		[{ database: "postgres://u@h/d?sslmode=require&PASSWORD=hunter2" }, "--database-url would"],
	] as const) {
		const result = readConfig({ env: { POSTHORN_SEAL_KEY: sealKeys }, flags });
		const faults = result.ok ? [] : result.faults;
		expect(faults, JSON.stringify(flags)).toEqual([expect.stringMatching(new RegExp(`^${start}`))]);
		expect(faults[0]).not.toMatch(/hunter2|ter2|AQEB/);
	}
	const harmless = [
		...["sqlite:./a.db", "sqlite:./a:b@c.db", "postgres://u@h:5432/d", "postgres://h:5432/d"],
		...["postgres:///d?host=/run", "postgres://u@[::1]:5432/d", "postgres://u@h/d?passfile=/run/pgpass"],
	];
	for (const database of harmless)
		expect(faultsFor({ database }), database).not.toContainEqual(expect.stringContaining("secret"));
});

// PostgreSQL said that there is no database "a%3Fb".
test("refuses a ? or # in a database's name, which the driver can't connect to", () => {
	for (const name of ["a%3Fb", "a%3fb", "%23"])
		expect(faultsFor({ database: `postgres://u@h/${name}?application_name=x` })).toEqual([
			expect.stringContaining("whose name has no ? or #"),
		]);
	expect(faultsFor({ database: "postgres://u@h/d?application_name=%3F%23" }).join()).not.toContain("name has no");
});

test("a database URL may name several servers and a target", () => {
	for (const url of ["postgres://u@a:5432,b:5433/d", "postgresql://a,[::1]/d?target_session_attrs=read-write"]) {
		const env = { POSTHORN_DATABASE_URL: url, POSTHORN_SEAL_KEY: Buffer.alloc(32).toString("base64") };
		expect(readConfig({ env })).toMatchObject({ ok: true, config: { database: { engine: "postgres", url } } });
	}
});

test("reads seconds to the nearest millisecond", () => {
	// 1.005 * 1000 is a little less than 1005.
	for (const [text, ms] of [
		["1.005", 1_005],
		["0.0504", 50],
	] as const)
		expect(readConfig({ env: { POSTHORN_RETRY_DELAYS: text } })).toMatchObject({
			config: { retryDelaysMs: [ms] },
		});
});

test("accepts single addresses, fractional delays, and ranges", () => {
	const env = {
		POSTHORN_EGRESS_ALLOW: "10.0.0.0/8, ::1,127.0.0.1",
		POSTHORN_EGRESS_DENY: "203.0.113.9",
		POSTHORN_EGRESS_PORTS: "443, 8000-8999",
		POSTHORN_RETRY_DELAYS: "0.05,1",
		POSTHORN_DATABASE_URL: "sqlite:///a/b.db",
	};
	expect(readConfig({ env })).toMatchObject({
		ok: true,
		config: {
			egress: {
				allow: ["10.0.0.0/8", "::1/128", "127.0.0.1/32"],
				deny: ["203.0.113.9/32"],
				ports: [
					[443, 443],
					[8_000, 8_999],
				],
			},
			retryDelaysMs: [50, 1000],
			database: { engine: "sqlite", path: "/a/b.db" },
			sealKeyFile: "/a/posthorn.sealkey",
		},
	});
});

test("reading never throws, and every fault names a variable or a flag", () => {
	const settings = Object.entries(SETTINGS);
	const names = settings.flatMap(([, setting]) =>
		[variableOf(setting), fileVariableOf(setting) ?? [], flagOf(setting)].flat(),
	);
	const some = fc.dictionary(
		fc.constantFrom(...settings.flatMap(([, setting]) => [variableOf(setting), fileVariableOf(setting) ?? []].flat())),
		fc.string({ unit: "binary" }),
	);
	const flags = fc.dictionary(fc.constantFrom(...settings.map(([key]) => key)), fc.string());
	fc.assert(
		fc.property(some, flags, (env, given) => {
			const result = readConfig({ env, flags: given });
			if (!result.ok)
				for (const fault of result.faults)
					expect(
						names.some((name) => fault.startsWith(name)),
						fault,
					).toBe(true);
		}),
	);
});

test("creates a private seal key once, and refuses a readable or damaged one", () => {
	const file = join(folder, "new", "posthorn.sealkey");
	const made = readOrMakeSealKeys(file, join(folder, "new", "posthorn.db"));
	expect(made.made).toBe(true);
	expect(made.keys.map(({ length }) => length)).toEqual([32]);
	expect(statSync(file).mode & 0o777).toBe(0o600);
	// As if the process had died before it wrote anything to the database.
	expect(readOrMakeSealKeys(file, join(folder, "new", "posthorn.db"))).toEqual({ ...made, made: false });
	chmodSync(file, 0o644);
	expect(() => readOrMakeSealKeys(file, join(folder, "new", "posthorn.db"))).toThrow(`chmod 600 ${file}`);
	chmodSync(file, 0o600);
	writeFileSync(file, "AAAA\n");
	expect(() => readOrMakeSealKeys(file, join(folder, "new", "posthorn.db"))).toThrow("damaged");
});

test("reads several seal keys, with commas or line breaks between them", () => {
	const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
	const [a, b] = [first.toString("base64"), second.toString("base64")];
	for (const text of [`${a},${b}`, `${a}, ${b}\n`, `${a}\r\n${b}\r\n`])
		expect(readConfig({ env: { POSTHORN_SEAL_KEY: text } })).toMatchObject({ config: { sealKeys: [first, second] } });
	for (const text of [`${a},`, `${a} ${b}`, `${a},${b.slice(4)}`, ","]) {
		const [fault] = faultsOf({ POSTHORN_SEAL_KEY: text });
		expect(fault, text).toMatch(/^POSTHORN_SEAL_KEY is not valid; it must be 32 bytes in base64, or several such keys/);
		expect(fault).not.toContain(a);
	}
	const file = join(folder, "two.sealkey");
	writeFileSync(file, `${b}\n${a}\n`, { mode: 0o600 });
	writeFileSync(join(folder, "two.db"), "rows");
	const read = readOrMakeSealKeys(file, join(folder, "two.db"));
	expect(read).toEqual({ keys: [second, first], made: false });
});

test("says that the seal key is a link that leads nowhere", () => {
	const file = join(folder, "link.sealkey");
	symlinkSync(join(folder, "absent.sealkey"), file);
	expect(() => readOrMakeSealKeys(file, join(folder, "linked.db"))).toThrow(`${file} is a link to a file`);
	// An empty one was left behind. Once the link led to the key again, the service began with it.
	expect(existsSync(join(folder, "linked.db"))).toBe(false);
});

// It said that the folder of the seal key can't be written to.
test("says that the database is a link into a folder that doesn't exist", () => {
	const [file, database] = [join(folder, "first.sealkey"), join(folder, "first.db")];
	symlinkSync(join(folder, "disk", "first.db"), database);
	expect(() => readOrMakeSealKeys(file, database)).toThrow(`${database} is a link to a file that cannot be created`);
	expect(existsSync(file)).toBe(false);
});

// With a new key, no webhook's secret in an existing database could be opened.
test("creates no new seal key for an existing database", () => {
	const database = join(folder, "old.db");
	writeFileSync(database, "rows");
	expect(() => readOrMakeSealKeys(join(folder, "lost.sealkey"), database)).toThrow("restore your copy of the key");
});

// Supervisors restarted the service on an empty database after the real one was deleted, or while its disk was missing.
test("begins no new database for an existing seal key", () => {
	const [file, database] = [join(folder, "kept.sealkey"), join(folder, "unmounted.db")];
	writeFileSync(file, `${Buffer.alloc(32, 1).toString("base64")}\n`, { mode: 0o600 });
	const refused = `its database ${database} is missing: put it back, or restore a backup with posthorn restore`;
	expect(() => readOrMakeSealKeys(file, database)).toThrow(refused);
	symlinkSync(join(folder, "disk", "posthorn.db"), database);
	expect(() => readOrMakeSealKeys(file, database)).toThrow(refused);
});

// Of two first starts, the second could find the key of the first one, but no database.
test("a start isn't refused if another one has just created the seal key and its database", () => {
	const [file, database] = [join(folder, "race.sealkey"), join(folder, "race.db")];
	const { readFileSync } = fs;
	const readBy = (read: typeof readFileSync) => {
		fs.readFileSync = read;
		syncBuiltinESMExports();
	};
	onTestFinished(() => readBy(readFileSync));
	readBy(((...given: Parameters<typeof readFileSync>) => {
		readBy(readFileSync);
		expect(readOrMakeSealKeys(file, database).made).toBe(true);
		return readFileSync(...given);
	}) as typeof readFileSync);
	expect(readOrMakeSealKeys(file, database)).toMatchObject({ made: false });
});

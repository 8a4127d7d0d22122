import { argon2Sync } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { beforeAll, expect, test } from "vitest";
import { SIGN_IN } from "../base/budgets.ts";
import { Argon2 } from "./argon2.ts";
import { Passwords, PasswordsBusy } from "./password.ts";

const PASSWORD = "correct horse battery staple";
const OWNER = "192.0.2.1";
const PHC = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

let passwords: Passwords;
let hash: string;
beforeAll(async () => {
	passwords = new Passwords();
	hash = await passwords.hash(PASSWORD, OWNER);
});

test("a hash is argon2id with its own salt, and contains its parameters", async () => {
	const [, salt = "", digest = ""] = PHC.exec(hash) ?? [];
	const expected = argon2Sync("argon2id", {
		message: Buffer.from(PASSWORD),
		nonce: Buffer.from(salt, "base64"),
		memory: 19_456,
		passes: 2,
		parallelism: 1,
		tagLength: 32,
	});
	expect(Buffer.from(digest, "base64")).toEqual(expected);
	expect(await passwords.hash(PASSWORD, OWNER)).not.toBe(hash);
});

test.runIf(process.platform === "linux")("hashes at a lower priority than the rest of the service", () => {
	const threads = readdirSync("/proc/self/task").map((thread) => {
		const fields = readFileSync(`/proc/self/task/${thread}/stat`, "utf8").split(") ")[1]!.split(" ");
		// "nice", field 19 of proc_pid_stat(5), whose second field ends with ") ".
		return Number(fields[16]);
	});
	expect(threads).toContain(10);
	expect(getPriority()).toBeLessThan(10);
});

test("accepts only the right password", async () => {
	expect(await passwords.verify(PASSWORD, hash, OWNER)).toBe(true);
	for (const wrong of ["", ` ${PASSWORD}`, PASSWORD.toUpperCase(), `${PASSWORD}\0`, PASSWORD.slice(0, -1)])
		expect(await passwords.verify(wrong, hash, OWNER), wrong).toBe(false);
});

test("composed and decomposed letters are equal", async () => {
	const composed = await passwords.hash("caf\u00e9 au lait", OWNER);
	expect(await passwords.verify("cafe\u0301 au lait", composed, OWNER)).toBe(true);
	expect(await passwords.verify("cafe au lait", composed, OWNER)).toBe(false);
});

test("without a hash no password is right, not even that of the decoy", async () => {
	expect(await passwords.verify(PASSWORD, null, OWNER)).toBe(false);
	expect(await passwords.verify("", null, OWNER)).toBe(false);
});

test("checks a hash with its own parameters", async () => {
	const salt = Buffer.alloc(16, 1);
	const parameters = {
		message: Buffer.from(PASSWORD),
		nonce: salt,
		memory: 64,
		passes: 3,
		parallelism: 2,
		tagLength: 16,
	};
	const text = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");
	const digest = text(argon2Sync("argon2id", { ...parameters, tagLength: 32 }));
	const old = `$argon2id$v=19$m=64,t=3,p=2$${text(salt)}$${digest}`;
	expect(await passwords.verify(PASSWORD, old, OWNER)).toBe(true);
	expect(await passwords.verify("wrong password", old, OWNER)).toBe(false);
});

test("an invalid hash is an error, not a wrong password", async () => {
	for (const broken of ["", "x", hash.slice(0, -1).replace("argon2id", "argon2i"), hash.replace("v=19", "v=16")])
		await expect(passwords.verify(PASSWORD, broken, OWNER)).rejects.toThrow(/not in the form/);
});

// A viewer's parallel password changes once kept the operator from signing in.
test("owners take turns: one with many passwords doesn't keep others waiting", async () => {
	const many = new Passwords({ memory: 8, passes: 1, lanes: 1 });
	const order: string[] = [];
	const check = (owner: string) => many.verify(PASSWORD, null, owner).then(() => order.push(owner));
	await Promise.all([...Array.from({ length: 60 }, () => check("flood")), check("operator")]);
	expect(order.indexOf("operator")).toBeLessThan(4);
});

// An owner could invite four accounts of their own, and change all their passwords all the time.
test("a few owners with many passwords don't keep others out", async () => {
	const many = new Passwords({ memory: 8, passes: 1, lanes: 1 });
	const owners = SIGN_IN.hashesWaiting / SIGN_IN.hashesWaitingOfOwner;
	const check = (owner: string) => many.verify(PASSWORD, null, owner);
	const flood = Array.from({ length: owners * (SIGN_IN.hashesWaitingOfOwner + 1) }, (_, i) =>
		check(`acc_${i % owners}`),
	);
	const operator = check("operator");
	const results = await Promise.allSettled(flood);
	await expect(operator).resolves.toBe(false);
	const refused = results.filter(({ status }) => status === "rejected");
	// One made room; the others were too many from the start.
	expect(refused).toHaveLength(owners);
	for (const each of refused) expect((each as PromiseRejectedResult).reason).toBeInstanceOf(PasswordsBusy);
});

test("limits how many wait in all", async () => {
	const many = new Passwords({ memory: 8, passes: 1, lanes: 1 });
	const most = SIGN_IN.hashes + SIGN_IN.hashesWaiting;
	const asked = Array.from({ length: most + 1 }, (_, i) => many.verify(PASSWORD, null, `192.0.2.${i % 200}`));
	const results = await Promise.allSettled(asked);
	expect(results.filter(({ status }) => status === "rejected")).toHaveLength(1);
	expect(results.at(-1)!.status).toBe("rejected");
});

test("limits how many wait, reports busy beyond that, and recovers", async () => {
	const many = new Passwords();
	const asked = Array.from({ length: 70 }, (_, i) =>
		many.verify(i % 2 === 0 ? PASSWORD : "wrong password", hash, OWNER),
	);
	const results = await Promise.allSettled(asked);
	// One is being hashed, and 64 wait.
	for (const [i, result] of results.entries())
		expect(result).toEqual(
			i < 65
				? { status: "fulfilled", value: i % 2 === 0 }
				: { status: "rejected", reason: expect.any(PasswordsBusy) as PasswordsBusy },
		);
	expect(await many.verify(PASSWORD, hash, OWNER)).toBe(true);
});

test("a thread that ends fails only the hash that it was making", async () => {
	const argon2 = new Argon2();
	const parameters = {
		...{ message: Buffer.from(PASSWORD), nonce: Buffer.alloc(16) },
		...{ memory: 8, passes: 1, parallelism: 1, tagLength: 16 },
	};
	await expect(argon2.hash({ ...parameters, tagLength: 0 })).rejects.toThrow(/thread .* ended/);
	expect(await argon2.hash(parameters)).toEqual(argon2Sync("argon2id", parameters));
});

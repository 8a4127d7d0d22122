import { execFileSync } from "node:child_process";
import {
	chownSync,
	linkSync,
	mkdirSync,
	mkdtempSync,
	openSync,
	readdirSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import os, { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { configFolder, forget, localSecret, loginFile, readLogin, readStored, store } from "./stored.ts";

vi.mock("node:fs", { spy: true });

const isAnything = () => true;

afterEach(() => {
	vi.unstubAllEnvs();
	vi.restoreAllMocks();
});

// The API key was stored in the folder that the command was run in.
test("an empty or relative home doesn't name a folder in the current one", () => {
	vi.stubEnv("XDG_CONFIG_HOME", "config");
	for (const home of ["", "home"]) {
		vi.stubEnv("HOME", home);
		expect(isAbsolute(configFolder()), home).toBe(true);
	}
	vi.stubEnv("APPDATA", "roaming");
	vi.spyOn(process, "platform", "get").mockReturnValue("win32");
	expect(isAbsolute(configFolder())).toBe(true);
	// As in a line of /etc/passwd without a home.
	vi.spyOn(os, "userInfo").mockReturnValue({ ...os.userInfo(), homedir: "" });
	expect(isAbsolute(configFolder())).toBe(true);
});

// In a folder such as /tmp, another user had created it, and read the key.
test("writes to no file that someone else has created", () => {
	const folder = mkdtempSync(join(tmpdir(), "posthorn-stored-"));
	try {
		const path = join(folder, "login.json");
		const theirs = join(folder, "theirs");
		writeFileSync(theirs, "");
		linkSync(theirs, `${path}.${process.pid}`);
		store(path, { key: "phk_1" });
		expect([readFileSync(theirs, "utf8"), readStored(path, isAnything)]).toEqual(["", { key: "phk_1" }]);
	} finally {
		rmSync(folder, { recursive: true });
	}
});

// Commands ended with EISDIR, and "login" left another file with the key.
test("says what to do about a folder in a file's place", () => {
	const folder = mkdtempSync(join(tmpdir(), "posthorn-stored-"));
	try {
		const path = join(folder, "login.json");
		mkdirSync(path);
		const calls = [() => readStored(path, isAnything), () => store(path, { key: "phk_1" }), () => forget(path)];
		for (const call of calls) expect(call).toThrow(`${path} is a folder. Delete it, and run the command again.`);
		expect(readdirSync(folder)).toEqual(["login.json"]);
	} finally {
		rmSync(folder, { recursive: true });
	}
});

// Keys of the environment went to the service that it named.
test.skipIf(process.platform === "win32")("takes no login that another user has left", () => {
	const folder = mkdtempSync(join(tmpdir(), "posthorn-stored-"));
	try {
		const path = join(folder, "login.json");
		store(path, { url: "https://theirs.example" });
		expect(readStored(path, isAnything)).not.toBeNull();
		if (process.getuid!() === 0) chownSync(path, 65_534, 65_534);
		vi.spyOn(process, "getuid").mockReturnValue(12_345);
		expect(readStored(path, isAnything)).toBeNull();
	} finally {
		rmSync(folder, { recursive: true });
	}
});

// Every command waited forever.
test.skipIf(process.platform === "win32")("doesn't wait for a pipe in place of the login", () => {
	const folder = mkdtempSync(join(tmpdir(), "posthorn-stored-"));
	try {
		const path = join(folder, "login.json");
		execFileSync("mkfifo", [path]);
		expect(() => readStored(path, isAnything)).toThrow("is damaged");
	} finally {
		rmSync(folder, { recursive: true });
	}
});

// Even with all settings in the environment, commands ended with the system's error.
test("there is no login in a home that this user may not enter, such as the one that sudo keeps", () => {
	vi.mocked(openSync).mockImplementationOnce(() => {
		throw Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
	});
	expect(readLogin()).toBeNull();
});

// `posthorn logout` ended with the system's error.
test("there is nothing to forget in a home that is a device", () => {
	expect(() => forget(join(os.devNull, "login.json"))).not.toThrow();
});

// It was "undefined", which receivers were then given.
test("a secret of this machine that isn't one is named", () => {
	const folder = mkdtempSync(join(tmpdir(), "posthorn-stored-"));
	try {
		vi.stubEnv("HOME", folder);
		vi.stubEnv("APPDATA", folder);
		vi.stubEnv("XDG_CONFIG_HOME", undefined);
		for (const damaged of [{}, { secret: 5 }]) {
			store(join(configFolder(), "local-secret.json"), damaged);
			expect(localSecret).toThrow(/local-secret\.json is damaged\. Delete it, and run the command again\.$/);
		}
	} finally {
		rmSync(folder, { recursive: true });
	}
});

// Every command that calls the service ended with "uv_os_homedir returned ENOENT".
test("users without a home, as in containers, have no login, and learn how to store one", () => {
	vi.stubEnv("XDG_CONFIG_HOME", undefined);
	vi.spyOn(os, "homedir").mockImplementation(() => {
		throw new Error("uv_os_homedir returned ENOENT");
	});
	expect(readLogin()).toBeNull();
	expect(() => store(loginFile(), {})).toThrow("Set HOME to another folder");
});

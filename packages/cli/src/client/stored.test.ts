import os from "node:os";
import { isAbsolute } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { configFolder, loginFile, readStored, store } from "./stored.ts";

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
});

// Every command that calls the service ended with "uv_os_homedir returned ENOENT".
test("users without a home, as in containers, have no login, and learn how to store one", () => {
	vi.stubEnv("XDG_CONFIG_HOME", undefined);
	vi.spyOn(os, "homedir").mockImplementation(() => {
		throw new Error("uv_os_homedir returned ENOENT");
	});
	expect(readStored(loginFile())).toBeNull();
	expect(() => store(loginFile(), {})).toThrow("Set HOME to another folder");
});

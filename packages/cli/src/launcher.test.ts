import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { launcherGone } from "./launcher.ts";

vi.mock("node:fs", { spy: true });

beforeEach(() => {
	vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});
afterEach(() => {
	vi.useRealTimers();
	vi.mocked(readFileSync).mockReset();
});

const failing = (code: string) => () => {
	throw Object.assign(new Error(code), { code });
};

// Receivers that keep connections open can use up file descriptors: a service started by npx then stopped.
test("a launcher isn't taken for gone while its process can't be read", async () => {
	vi.mocked(readFileSync).mockImplementation((path) => {
		if (path === `/proc/${process.ppid}/stat`) return `${process.ppid} (npx (1) sh) S 4242 1 1`;
		return path === "/proc/4242/cmdline" ? "node\0npx" : failing("ENOENT")();
	});
	const gone = vi.fn();
	// The first file is one of another user.
	vi.mocked(readFileSync).mockImplementationOnce(failing("EACCES"));
	void launcherGone({ LAUNCHED_BY_POSTHORN: "1", npm_command: "exec" }).then(gone);
	void launcherGone({ LAUNCHED_BY_POSTHORN: "1", npm_command: "exec" }).then(gone);
	for (const code of ["EMFILE", "ENFILE", "EACCES"]) {
		vi.mocked(readFileSync).mockImplementation(failing(code));
		await vi.advanceTimersByTimeAsync(2_000);
		expect(gone).not.toHaveBeenCalled();
	}
	vi.mocked(readFileSync).mockImplementation(failing("ENOENT"));
	await vi.advanceTimersByTimeAsync(2_000);
	expect(gone).toHaveBeenCalledOnce();
});

// `npm run test:container`: builds deploy/Containerfile and runs the image. Skipped in `npm test`, because it needs a
// container engine and the base image.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createAuthority, startReceiver, until, unusedPort, writeCaFile } from "@posthorn/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
// @ts-expect-error: it is plain JavaScript, which has no types
import { writeArchive } from "../scripts/archive.mjs";
// @ts-expect-error: it is plain JavaScript, which has no types
import { PUBLISHED, pack } from "../scripts/pack.mjs";
import { purchase } from "./shop.ts";

const { POSTHORN_TEST_CONTAINER: ENGINE, POSTHORN_TEST_CONTAINER_BASE: BASE } = process.env;
const RUN_OPTIONS = process.env.POSTHORN_TEST_CONTAINER_RUN?.split(" ") ?? [];
const [PROGRAM = "", ...GLOBAL_OPTIONS] = ENGINE?.split(" ") ?? [];
const ROOT = dirname(import.meta.dirname);
const NAME = `posthorn-test-${randomBytes(4).toString("hex")}`;
/** Building copies a few hundred megabytes, and some storage drivers copy them again for every container. */
const SLOW_MS = 600_000;

interface Ended {
	readonly code: number;
	readonly out: string;
	readonly err: string;
}

function engine(...args: string[]): Promise<Ended> {
	return new Promise((resolve) => {
		execFile(PROGRAM, [...GLOBAL_OPTIONS, ...args], { maxBuffer: 1e8 }, (error, out, err) => {
			resolve({ code: error === null ? 0 : Number(error.code), out, err });
		});
	});
}

async function done(...args: string[]): Promise<string> {
	const { code, out, err } = await engine(...args);
	if (code !== 0) throw new Error(`${PROGRAM} ${args.join(" ")} ended with ${code}:\n${out}${err}`);
	return out.trim();
}

describe.runIf(ENGINE)("the image", { timeout: SLOW_MS }, () => {
	const folder = mkdtempSync(join(tmpdir(), "posthorn-container-"));
	const key = randomBytes(24).toString("hex");
	let settings: string[] = [];
	let url = "";
	let caFile = "";

	/** Like the manifests: a read-only root, no capabilities. Only the volume is writable. */
	const options = () => {
		const locked = ["--read-only", "--cap-drop=all", "--security-opt=no-new-privileges", "--network=host"];
		const mounts = [`--volume=${NAME}:/data`, `--volume=${caFile}:/ca.pem:ro`];
		return [...RUN_OPTIONS, ...locked, ...mounts, ...settings.map((setting) => `--env=${setting}`)];
	};
	const posthorn = (...args: string[]) => engine("run", "--rm", ...options(), NAME, ...args);
	const call = async (method: string, path: string, body?: object) => {
		const headers = { Authorization: `Bearer ${key}`, ...(body && { "Content-Type": "application/json" }) };
		const response = await fetch(url + path, { method, headers, body: body ? JSON.stringify(body) : null });
		if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
		return (await response.json()) as { readonly id: string; readonly secret: string };
	};
	const start = async () => {
		await done("run", "--detach", `--name=${NAME}`, ...options(), NAME);
		await until("the service to be ready", () =>
			fetch(`${url}/readyz`).then(
				({ ok }) => ok,
				() => false,
			),
		);
	};
	/** @returns its exit code and its log */
	const stop = async () => {
		await done("stop", "--time=30", NAME);
		const code = await done("inspect", "--format={{.State.ExitCode}}", NAME);
		const { out } = await engine("logs", NAME);
		await done("rm", NAME);
		return { code, log: out };
	};

	beforeAll(async () => {
		const archive = writeArchive(await pack(PUBLISHED.find(({ command }: { command?: string }) => command)), folder);
		const base = BASE ? [`--build-arg=BASE=${BASE}`] : [];
		const name = `--build-arg=ARCHIVE=${archive.slice(folder.length + 1)}`;
		await done("build", "--file", join(ROOT, "deploy/Containerfile"), ...base, name, "--tag", NAME, folder);
		caFile = writeCaFile(await createAuthority(), folder);
		chmodSync(folder, 0o755);
		const port = await unusedPort();
		url = `http://127.0.0.1:${port}`;
		settings = [
			"POSTHORN_HOST=127.0.0.1",
			`POSTHORN_PORT=${port}`,
			`POSTHORN_OPERATOR_KEY=${key}`,
			"POSTHORN_EGRESS_ALLOW=127.0.0.0/8,::1/128",
			"POSTHORN_EGRESS_CA_FILE=/ca.pem",
		];
	}, SLOW_MS);
	afterAll(async () => {
		await engine("rm", "--force", NAME);
		await engine("volume", "rm", "--force", NAME);
		await engine("rmi", "--force", NAME);
		rmSync(folder, { recursive: true });
	}, SLOW_MS);

	test("has a user with a number, a volume, and posthorn on its PATH", async () => {
		const [{ Config: config }] = JSON.parse(await done("inspect", "--type=image", NAME));
		expect(config).toMatchObject({
			User: "10001:10001",
			Entrypoint: ["posthorn"],
			Cmd: ["serve"],
			Volumes: { "/data": {} },
			ExposedPorts: { "8420/tcp": {} },
		});
		expect(await posthorn("--version")).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+/) });
		// The health check of compose.yaml runs it.
		const node = await engine("run", "--rm", ...options(), "--entrypoint=/opt/posthorn/lib/node", NAME, "--version");
		expect(node).toMatchObject({ code: 0, out: expect.stringMatching(/^v\d+/) });
	});

	test("delivers, stops cleanly, and keeps its data", async () => {
		const authority = await createAuthority();
		caFile = writeCaFile(authority, folder);
		const receiver = await startReceiver({ authority });
		try {
			await start();
			const { services } = parse(readFileSync(join(ROOT, "deploy/compose.yaml"), "utf8"));
			const [, ...check] = services.posthorn.healthcheck.test as string[];
			await done("exec", NAME, ...check.map((part) => part.replace("127.0.0.1:8420", new URL(url).host)));
			expect((await posthorn("serve")).err).toMatch(/in use by process/);
			const { id } = await call("POST", "/v1/projects", { name: "A store" });
			const webhook = { url: receiver.url("/hook"), events: ["purchase.completed"] };
			receiver.setSecret((await call("POST", `/v1/projects/${id}/webhooks`, webhook)).secret);
			await call("POST", `/v1/projects/${id}/events`, purchase(1));
			await receiver.waitFor((requests) => requests.length === 1);
			expect(receiver.requests[0]!.verified).toBe(true);
			const doctor = await posthorn("doctor", "--json");
			const findings = doctor.out
				.trim()
				.split("\n")
				.map((line) => JSON.parse(line));
			expect(findings.filter(({ state }) => state === "fault")).toEqual([]);
			expect(await stop()).toEqual({ code: "0", log: expect.stringContaining('"msg":"stopped"') });

			await start();
			await call("POST", `/v1/projects/${id}/events`, purchase(2));
			await receiver.waitFor((requests) => requests.length === 2);
			expect(receiver.requests[1]!.verified).toBe(true);
			expect((await stop()).code).toBe("0");
		} finally {
			await receiver.close();
		}
	});
});

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
	existsSync,
	globSync,
	lstatSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { fileVariableOf, SETTINGS, variableOf } from "@posthorn/server/config";
import { VERSION } from "@posthorn/server/version";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
// @ts-expect-error: it is plain JavaScript, which has no types
import { writeArchive } from "../../../scripts/archive.mjs";
// @ts-expect-error: it is plain JavaScript, which has no types
import { PUBLISHED, pack } from "../../../scripts/pack.mjs";

const RESTRICT_FAMILIES = fileURLToPath(new URL("restrict-families.py", import.meta.url));
const DEPLOY = fileURLToPath(new URL("../../../deploy/", import.meta.url));
/** Where the files expect the archive. */
const PLACE = "/opt/posthorn/";

const textOf = (file: string): string => readFileSync(join(DEPLOY, file), "utf8");
const files = globSync("**/*.*", { cwd: DEPLOY }).concat("Containerfile");
const manifests = files.filter((name) => /\.ya?ml$/.test(name));

test.each(manifests)("%s is valid YAML", (file) => {
	const documents = parseAllDocuments(textOf(file), { strict: true, uniqueKeys: true });
	expect(documents).not.toEqual([]);
	for (const { errors, warnings } of documents as readonly { errors: unknown[]; warnings: unknown[] }[])
		expect([...errors, ...warnings]).toEqual([]);
});

test("every variable in these files is a setting", () => {
	const settings = Object.values(SETTINGS).flatMap((setting) => [variableOf(setting), fileVariableOf(setting)]);
	const used = files.flatMap((file) =>
		[...textOf(file).matchAll(/\bPOSTHORN_[A-Z_]+\b(?!…)/g)].map(([name]) => ({ file, name })),
	);
	expect(used.length).toBeGreaterThan(10);
	// An example of what Kubernetes injects.
	const unknown = used.filter(({ name }) => !settings.includes(name));
	expect(unknown).toEqual([]);
});

// With a missing file, the service started on its defaults: on a new, empty database.
test("the unit doesn't start the service without the file of its settings", () => {
	expect(textOf("posthorn.service")).toMatch(/^EnvironmentFile=\/etc\/posthorn\/posthorn\.env$/m);
});

// An unquoted `: ` in the command made it an object, so compose refused the file.
test("health checks of compose.yaml are commands", () => {
	const { services } = parse(textOf("compose.yaml")) as {
		services: Record<string, { healthcheck: { test: unknown[] } }>;
	};
	for (const { healthcheck } of Object.values(services))
		for (const part of healthcheck.test) expect(part).toEqual(expect.any(String));
});

test("the database in compose.yaml is only reachable for the service", () => {
	const { services, networks } = parse(textOf("compose.yaml")) as {
		services: Record<string, { ports?: unknown; networks: string[] }>;
		networks: Record<string, { internal?: boolean } | null>;
	};
	const { posthorn, postgres } = services;
	expect(postgres!.ports).toBeUndefined();
	expect(postgres!.networks.map((name) => networks[name]?.internal)).toEqual([true]);
	expect(posthorn!.networks).toContain("default");
	// Only from this machine.
	expect(posthorn!.ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)]);
});

test("the network policy for Kubernetes applies to the nodes, and their port", () => {
	const policy = parse(textOf("kubernetes/networkpolicy.yaml"));
	const { template } = parse(textOf("kubernetes/deployment.yaml")).spec;
	expect(parse(textOf("kubernetes/kustomization.yaml")).resources).toContain("networkpolicy.yaml");
	expect(template.metadata.labels).toMatchObject(policy.spec.podSelector.matchLabels);
	const [{ ports, from }] = policy.spec.ingress;
	expect(from).toHaveLength(1);
	expect(template.spec.containers[0].ports.map(({ name }: { name: string }) => name)).toContain(ports[0].port);
	// What the egress guard refuses, and a cluster has.
	const [{ ipBlock }] = policy.spec.egress.at(-1).to;
	for (const range of ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"])
		expect(ipBlock.except).toContain(range);
});

test("these files name this version", () => {
	for (const file of ["Containerfile", "compose.yaml", "kubernetes/kustomization.yaml"])
		expect(textOf(file), file).toContain(VERSION);
});

test.skipIf(spawnSync("kubectl", ["version", "--client"]).status !== 0)("kustomize renders the manifests", () => {
	const { status, stdout, stderr } = spawnSync("kubectl", ["kustomize", join(DEPLOY, "kubernetes")], {
		encoding: "utf8",
	});
	expect([status, stderr]).toEqual([0, ""]);
	expect(stdout).toContain(`image: registry.example.com/posthorn:${VERSION}`);
});

describe.runIf(process.platform === "linux")("the archive", () => {
	const folder = mkdtempSync(join(tmpdir(), "posthorn-archive-"));
	let root: string;
	beforeAll(async () => {
		const tarball = await pack(PUBLISHED.find(({ command }: { command?: string }) => command));
		const usual = process.umask(0o077);
		try {
			const archive = writeArchive(tarball, folder, { quick: true });
			spawnSync("tar", ["-xpzf", archive, "-C", folder]);
		} finally {
			process.umask(usual);
		}
		root = join(folder, `posthorn-${VERSION}-${process.platform}-${process.arch}`);
	});
	afterAll(() => rmSync(folder, { recursive: true }));

	test("has what the unit, the image and compose start", () => {
		const paths = files.flatMap((file) => [...textOf(file).matchAll(/\/opt\/posthorn\/[\w./-]*\w/g)]);
		expect(paths.length).toBeGreaterThan(3);
		for (const [path] of paths) expect(existsSync(join(root, path.slice(PLACE.length))), path).toBe(true);
		for (const name of ["LICENSE", "README.md", "lib/node.LICENSE"]) expect(existsSync(join(root, name))).toBe(true);
	});

	// Other paths would have to be quoted in a unit.
	const isAnalyzable = /^[\w./-]+$/.test(folder) && spawnSync("systemd-analyze", ["--version"]).status === 0;
	test.runIf(isAnalyzable)("has what systemd finds in the unit", () => {
		const unit = join(folder, "posthorn.service");
		writeFileSync(unit, textOf("posthorn.service").replaceAll(PLACE, `${root}/`), { mode: 0o644 });
		const analyze = (...args: string[]) => {
			const { status, stdout, stderr } = spawnSync("systemd-analyze", [...args, unit], { encoding: "utf8" });
			return { status, said: stdout + stderr };
		};
		expect(analyze("verify")).toEqual({ status: 0, said: "" });
		// Exposure, in tenths: 20 is the end of "OK".
		expect(analyze("security", "--offline=true", "--threshold=20")).toMatchObject({ status: 0 });
	});

	// Built with a private umask, it could only be run by root.
	test("can be read by all users, and changed only by its owner", () => {
		const names = globSync("**", { cwd: root });
		expect(names.length).toBeGreaterThan(100);
		const modeOf = (name: string) => lstatSync(join(root, name)).mode & 0o077;
		const wrong = names.filter((name) => ![0o044, 0o055].includes(modeOf(name)));
		expect(wrong).toEqual([]);
		for (const name of ["", "bin", "bin/posthorn", "lib/node", "lib/posthorn/dist"])
			expect(modeOf(name), name).toBe(0o055);
	});

	describe.skipIf(spawnSync("python3", ["--version"]).status !== 0)("with the sockets that the unit allows", () => {
		const [, families = ""] = /^RestrictAddressFamilies=(.+)$/m.exec(textOf("posthorn.service")) ?? [];
		const run = (allowed: string, ...args: string[]) => {
			const restricted = [RESTRICT_FAMILIES, allowed, join(root, "bin/posthorn"), ...args];
			return spawn("python3", restricted, {
				cwd: folder,
				env: { PATH: process.env.PATH },
				stdio: ["ignore", "pipe", "pipe"],
			});
		};

		// The unit allowed no netlink sockets, and the service didn't start.
		test("the service starts", async () => {
			const service = run(families, "serve", "--port", "0");
			let log = "";
			service.stdout.on("data", (part) => {
				log += part;
				if (log.includes('"msg":"started"')) service.kill("SIGTERM");
			});
			const [said, [code]] = await Promise.all([text(service.stderr), once(service, "close")]);
			expect([code, said]).toEqual([0, expect.stringContaining("is ready")]);
		});

		test("doctor says which one is missing", async () => {
			const doctor = run(families.replace("AF_NETLINK ", ""), "doctor", "--port", "0");
			const [said, [code]] = await Promise.all([text(doctor.stdout), once(doctor, "close")]);
			expect([code, said]).toEqual([1, expect.stringMatching(/^✘ Egress .*AF_NETLINK in RestrictAddressFamilies=/m)]);
		});
	});

	test("runs through a link, in an empty environment, as one process that a signal reaches", async () => {
		symlinkSync(join(root, "bin/posthorn"), join(folder, "posthorn"));
		const child = spawn(join(folder, "posthorn"), ["serve", "--port", "0"], {
			cwd: folder,
			env: { PATH: "/usr/bin:/bin" },
			stdio: ["ignore", "pipe", "ignore"],
		});
		let log = "";
		const stopped = new Promise((resolve) => child.on("close", resolve));
		child.stdout.setEncoding("utf8").on("data", (part: string) => {
			log += part;
			if (part.includes('"msg":"started"')) child.kill("SIGTERM");
		});
		expect([await stopped, log]).toEqual([0, expect.stringContaining('"msg":"stopped"')]);
	});
});

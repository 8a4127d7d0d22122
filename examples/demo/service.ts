import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isUnused, unusedPort } from "@posthorn/testkit";

export interface ServiceOptions {
	readonly port: number;
	/** An empty folder for the database and the keys. */
	readonly folder: string;
	readonly operatorKey: string;
	/** PEM file of the authority that issued the receivers' certificates. */
	readonly caFile: string;
	readonly retryDelays: readonly number[];
	readonly attemptTimeout: number;
	readonly basketIdle: number;
}

/** The service, running in its own process, as it would when installed. */
export interface Service {
	/** Resolves once the process has ended, for whatever reason. */
	readonly ended: Promise<void>;
	/** The token of the setup link that it left in its folder. */
	setupToken(): string;
	/** How the process ended, and the last lines that it printed. */
	lastWords(): string;
	/** Stops the service gracefully and waits for it; kills it after 30 s. */
	stop(): Promise<void>;
	/** Kills it immediately. */
	kill(): void;
}

const COMMAND = fileURLToPath(new URL("../../packages/cli/bin/posthorn.mjs", import.meta.url));
export const PREFERRED_PORT = 8420;
const START_TIMEOUT_MS = 30_000;
const READY_POLL_MS = 50;
const STOP_TIMEOUT_MS = 30_000;
/** Characters of output kept for `lastWords`. */
const KEPT_OUTPUT = 8_000;

/** Starts `posthorn serve`, which is listening once `waitUntilReady` has resolved. */
export function startService(options: ServiceOptions): Service {
	const child = spawn(process.execPath, [COMMAND, "serve"], {
		env: environment(options),
		stdio: ["ignore", "pipe", "pipe"],
		// Ctrl-C reaches the terminal's whole process group, but only `stop` should stop the service.
		detached: process.platform !== "win32",
		windowsHide: true,
	});
	let output = "";
	let failure: Error | undefined;
	for (const stream of [child.stdout, child.stderr]) {
		stream.setEncoding("utf8").on("data", (text: string) => {
			output = (output + text).slice(-KEPT_OUTPUT);
		});
	}
	const ended = new Promise<void>((resolve) => {
		child.once("error", (error) => {
			failure = error;
			resolve();
		});
		child.once("close", () => resolve());
	});
	return {
		ended,
		setupToken() {
			return readFileSync(join(options.folder, "posthorn.setuplink"), "utf8").trim().split("#")[1]!;
		},
		lastWords: () => `${howItEnded(child, failure)}\n${output.trimEnd() || "(it printed nothing)"}`,
		async stop() {
			child.kill("SIGTERM");
			const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
			await ended;
			clearTimeout(timer);
		},
		kill: () => void child.kill("SIGKILL"),
	};
}

/** Polls `isReady` until it is true. Rejects after 30 s with the service's output, or with the signal's reason. */
export async function waitUntilReady(
	service: Service,
	isReady: () => Promise<boolean>,
	signal: AbortSignal,
): Promise<void> {
	const patience = AbortSignal.timeout(START_TIMEOUT_MS);
	while (!(await isReady())) {
		signal.throwIfAborted();
		if (patience.aborted) throw new Error(`The service was not ready in time. ${service.lastWords()}`);
		await delay(READY_POLL_MS);
	}
}

/** The service's default port if it is free, otherwise any unused one. */
export async function choosePort(): Promise<number> {
	return (await isUnused(PREFERRED_PORT)) ? PREFERRED_PORT : await unusedPort();
}

/** The caller's environment without Posthorn's settings, which aren't meant for a demonstration. */
function environment(options: ServiceOptions): NodeJS.ProcessEnv {
	const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("POSTHORN_"));
	return {
		...Object.fromEntries(inherited),
		POSTHORN_HOST: "127.0.0.1",
		POSTHORN_PORT: String(options.port),
		POSTHORN_DATABASE_URL: `sqlite:${join(options.folder, "posthorn.db")}`,
		POSTHORN_OPERATOR_KEY: options.operatorKey,
		POSTHORN_RETRY_DELAYS: options.retryDelays.join(","),
		POSTHORN_ATTEMPT_TIMEOUT: String(options.attemptTimeout),
		POSTHORN_BASKET_IDLE: String(options.basketIdle),
		POSTHORN_EGRESS_ALLOW: "127.0.0.0/8",
		POSTHORN_EGRESS_CA_FILE: options.caFile,
	};
}

function howItEnded(child: ChildProcess, failure: Error | undefined): string {
	if (failure !== undefined) return `Its process failed: ${failure.message}`;
	if (child.signalCode !== null) return `It was killed by ${child.signalCode} after printing:`;
	if (child.exitCode !== null) return `It exited with code ${child.exitCode} after printing:`;
	return "It is still running, and has printed:";
}

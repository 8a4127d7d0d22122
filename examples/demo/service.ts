import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { isUnused, unusedPort } from "@posthorn/testkit";

export interface ServiceOptions {
	readonly port: number;
	/** An empty folder for the database and the keys. */
	readonly folder: string;
	readonly operatorKey: string;
	/** PEM file of the authority that the receivers' certificates come from. */
	readonly caFile: string;
	readonly retryDelays: readonly number[];
	readonly attemptTimeout: number;
	readonly basketIdle: number;
}

/** The service, running as a process of its own, the way it is installed. */
export interface Service {
	/** Resolves once the process has ended, whoever ended it. */
	readonly ended: Promise<void>;
	/** The token of the set-up link that it has printed. */
	setupToken(): string;
	/** How the process ended and the last lines that it printed, for people. */
	lastWords(): string;
	/** Asks the service to finish what it is doing and waits until it has; after 30 s it is ended by force. */
	stop(): Promise<void>;
	/** Ends it at once. */
	kill(): void;
}

const COMMAND = fileURLToPath(new URL("../../packages/cli/bin/posthorn.mjs", import.meta.url));
const PREFERRED_PORT = 8420;
const START_TIMEOUT_MS = 30_000;
const READY_POLL_MS = 50;
const STOP_TIMEOUT_MS = 30_000;
/** Characters of output kept for `lastWords`. */
const KEPT_OUTPUT = 8_000;

/** Starts `posthorn serve`. It listens when `waitUntilReady` has resolved. */
export function startService(options: ServiceOptions): Service {
	const child = spawn(process.execPath, [COMMAND, "serve"], {
		env: environment(options),
		stdio: ["ignore", "pipe", "pipe"],
		// A Ctrl-C reaches the terminal's whole process group; the service is asked to stop by `stop` alone.
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
			const token = /\/setup#([\w-]+)/.exec(stripVTControlCharacters(output))?.[1];
			if (token === undefined) throw new Error(`The service printed no set-up link.\n${output}`);
			return token;
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

/** Asks `isReady` until it says yes. Rejects after 30 s with what the service printed, or with the signal's reason. */
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

/** 8420, the service's own default, if nothing listens there; else any that is unused. */
export async function choosePort(): Promise<number> {
	return (await isUnused(PREFERRED_PORT)) ? PREFERRED_PORT : await unusedPort();
}

/** The caller's environment without its own settings for the service, which are not meant for a demonstration. */
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
	if (child.signalCode !== null) return `It was ended by ${child.signalCode}, after printing:`;
	if (child.exitCode !== null) return `It ended with exit code ${child.exitCode}, after printing:`;
	return "It still runs, and has printed:";
}

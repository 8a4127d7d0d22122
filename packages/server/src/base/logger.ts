/** The part of pino that the service uses. */
export interface Logger {
	debug(fields: object, message: string): void;
	info(fields: object, message: string): void;
	warn(fields: object, message: string): void;
	error(fields: object, message: string): void;
	/** Whether lines of this level are written, to be checked before an expensive line is built. */
	isLevelEnabled(level: "debug" | "info" | "warn" | "error"): boolean;
}

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {}, isLevelEnabled: () => false };

/** A warning on its way from a thread to the main one. */
export interface ThreadWarning {
	readonly warning: Readonly<Record<"name" | "message" | "stack" | "code" | "detail", string | undefined>>;
}

/**
 * Called in a thread: passes its warnings to `send` instead of printing them as Node does. Does nothing if Node was told
 * to print none.
 */
export function sendWarnings(send: (warning: ThreadWarning) => void): void {
	if (process.listenerCount("warning") === 0) return;
	process.removeAllListeners("warning");
	process.on("warning", (warning: Error & { readonly code?: string; readonly detail?: string }) => {
		const { name, message, stack, code, detail } = warning;
		send({ warning: { name, message, stack, code, detail } });
	});
}

/** Called in the main thread: emits a thread's warning there, so that it is reported like any other. */
export const emitWarningOf = ({ warning }: ThreadWarning): void =>
	process.emitWarning(Object.assign(new Error(warning.message), warning));

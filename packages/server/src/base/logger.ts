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

import { DatabaseError } from "pg";
import { StorageError, type StorageErrorCode } from "../../port.ts";

/** PostgreSQL's error codes that matter here (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const DISK_FULL = "53100";
/** A class: codes begin with it. */
const INVALID_AUTHORIZATION = "28";
const TOO_MANY_CONNECTIONS = "53300";
const INTERNAL_ERROR = "XX000";
const SERIALIZATION_FAILURE = "40001";
const DEADLOCK_DETECTED = "40P01";
const CHECK_VIOLATION = "23514";
const LOCK_NOT_AVAILABLE = "55P03";
const UNDEFINED_TABLE = "42P01";
const INVALID_OBJECT = "42P17";
const PROTOCOL_VIOLATION = "08P01";
/** A prepared statement is missing or exists unexpectedly: the connection leads to a different session than before. */
const OTHER_SESSION = /^(26000|42P05)$/;
const READ_ONLY = "25006";
/** A schema, a table, a column, a key or a function doesn't exist, or has another type. */
const OTHER_SCHEMA = /^(3F000|42P01|42703|42P10|42883|42804)$/;

/** Codes and classes of a database that is unavailable, shutting down, a standby, or too busy; it may recover soon. */
const AWAY = /^(08|53|57P0[1-5]|57014|25P0[2-4]|25006|58|72)/;
/** … and of one that refuses this program, or lacks something that it needs; a refused login has codes of its own. */
const CLOSED_TO_US = /^(3D000|42501)/;
/**
 * … and of one that prevents a correct statement with correct values: because of others' triggers, event triggers,
 * functions or views, a table in the wrong state, a foreign server, or damage.
 */
const HINDERED = /^(09|2B|38|39|55|HV|P0|XX)/;
/** Others' views or constraints prevent a table from being dropped. The detail names them, and contains no rows. */
const DEPENDENT_OBJECTS = "2BP01";
/** Codes of errors that end a session. The severity says so as well, but in the server's language. */
const ENDS_SESSION = /^(57P0[1245]|25P0[34])/;
const FATAL = /^(FATAL|PANIC)$/;
/** PostgreSQL refuses to assign transaction ids when they are about to wrap around. */
const LIMIT_EXCEEDED = "54000";
const ASSIGNS_IDS = /^GetNew(Transaction|MultiXact)Id$/;
/** A prepared statement would return other types than before, because a table was altered. */
const UNSUPPORTED = "0A000";
const CHECKS_PLAN = "RevalidateCachedQuery";

/** The driver's messages when a connection breaks or can't be opened; its errors have no code. */
const BROKEN =
	/^(Connection terminated|timeout e|Query read timeout|Client (has encountered|was closed)|This socket has been ended)/;

/** The pool's message when all of its connections were busy for too long. */
const BUSY = "timeout exceeded when trying to connect";
/** Its message when a new connection wasn't open in time. */
const UNCONNECTED = "timeout expired";
/** Its message when a statement got no response, not even the database's own timeout. */
const UNANSWERED = "Query read timeout";

/** pgbouncer's message for what it doesn't pass on; other messages with the same code aren't matched. */
const STARTUP_REFUSED = /^unsupported startup parameter: (.+)$/;
/** … and for a login that it refuses, or for which the server refuses it. */
const LOGIN_REFUSED = /authentication failed|login rejected|no such user/i;
const STATEMENT_POOL = /^transaction blocks not allowed in statement pooling mode/;

export const SHARED_SESSIONS =
	"The pool in front of PostgreSQL runs each transaction in a different session (like pgbouncer with pool_mode=transaction), " +
	"but Posthorn needs persistent sessions: point POSTHORN_DATABASE_URL at PostgreSQL itself, or at a pool in session mode.";

export const LOCKED =
	"A long transaction in the database has locked this project's log or the state of its deliveries. It will be retried.";

/** The SQLSTATE of an error that the database reported, or null. */
export function sqlState(error: unknown): string | null {
	return error instanceof DatabaseError ? (error.code ?? null) : null;
}

/** Another transaction conflicted with this one: a retry may succeed. */
export function isConflict(error: unknown): boolean {
	const state = sqlState(error);
	return state === SERIALIZATION_FAILURE || state === DEADLOCK_DETECTED;
}

/** Another session held a row for longer than a statement may wait. */
export const isLocked = (error: unknown): boolean => error instanceof StorageError && error.code === "locked";

/** The server, the database or the user has no connection left. */
export const isOutOfConnections = (error: unknown): boolean => sqlState(error) === TOO_MANY_CONNECTIONS;

/** The server, or a pool in front of it, refuses this user or password. */
export function isLoginRefused(error: unknown): boolean {
	if (error instanceof StorageError) return isLoginRefused(error.cause);
	const state = sqlState(error);
	if (state === PROTOCOL_VIOLATION) return LOGIN_REFUSED.test((error as DatabaseError).message);
	return state?.startsWith(INVALID_AUTHORIZATION) === true;
}

/** A statement waited for longer than its `lock_timeout`. */
export const isLockTimeout = (error: unknown): boolean => sqlState(error) === LOCK_NOT_AVAILABLE;

/** A row for a day without a partition. */
export function isPartitionMissing(error: unknown): boolean {
	return sqlState(error) === CHECK_VIOLATION && (error as DatabaseError).table === "attempts";
}

/** A partition can't be attached: another one has its range, or (of all other rows) rows of it. */
export const isOverlap = (error: unknown): error is DatabaseError =>
	sqlState(error) === INVALID_OBJECT || sqlState(error) === CHECK_VIOLATION;

/** A table is missing, such as a partition that was dropped between a statement's planning and its execution. */
export const isTableMissing = (error: unknown): boolean =>
	sqlState(error instanceof StorageError ? error.cause : error) === UNDEFINED_TABLE;

/** A pooler refuses startup settings. */
export const isStartupRefused = (error: unknown): boolean =>
	sqlState(error) === PROTOCOL_VIOLATION && STARTUP_REFUSED.test((error as DatabaseError).message);

const isFatal = ({ severity = "", code = "" }: DatabaseError): boolean =>
	FATAL.test(severity) || ENDS_SESSION.test(code);

/** The session keeps the outdated statement, so only another session can run it. */
const isPlanOutdated = ({ code, routine }: DatabaseError): boolean => code === UNSUPPORTED && routine === CHECKS_PLAN;

/** Whether the connection is gone or can't be used again. The result of its last statement may be unknown. */
export function isConnectionLost(error: unknown): boolean {
	if (error instanceof DatabaseError) return isFatal(error) || isPlanOutdated(error);
	return error instanceof Error && (isSystemError(error) || BROKEN.test(error.message));
}

/** Whether the connection leads to a server that no longer takes writes, or that didn't respond in time. */
export function isWayLost(error: unknown): boolean {
	return sqlState(error) === READ_ONLY || (error instanceof Error && error.message === UNANSWERED);
}

/** Whether a server didn't respond in time on a connection opened to check that. */
export const isSilence = (error: unknown): boolean =>
	error instanceof Error && (error.message === UNANSWERED || error.message === UNCONNECTED);

/** No connection became free in time, which says nothing about the server. */
export const isPoolBusy = (error: unknown): boolean => error instanceof Error && error.message === BUSY;

const isSystemError = (error: Error): boolean =>
	"syscall" in error || ("code" in error && /^E[A-Z]+$/.test(String(error.code)));

/** Of a name with several addresses, one for each of them. */
const reasonsOf = (error: Error): string =>
	error instanceof AggregateError ? error.errors.map(({ message }: Error) => message).join(", ") : error.message;

/** The driver reads certificates and keys when it connects. */
const isUnreadFile = (error: unknown): error is Error =>
	error instanceof Error &&
	"syscall" in error &&
	(error.syscall === "open" || error.syscall === "read") &&
	"path" in error;

/** Codes of TLS and certificates, of Node and OpenSSL. */
const TLS =
	/^(CERT_|CRL_|DEPTH_ZERO_|ERR_(TLS|SSL|OSSL)_|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|SELF_SIGNED_|UNABLE_TO_)/;
const isTls = (error: unknown): error is Error =>
	error instanceof Error && "code" in error && TLS.test(String(error.code));
/** Node's advice, which is about other programs. */
const NODE_ADVICE = /; if the root CA is installed locally, .*$/;

/** Without the place in OpenSSL's source. */
const tlsReason = (error: Error): string =>
	"reason" in error ? String(error.reason) : error.message.replace(NODE_ADVICE, "");

/**
 * A full disk. Quotas and limits on file sizes have no code, and are recognized by the routine that failed to extend a
 * table.
 */
function isFull({ code, file, routine = "" }: DatabaseError): boolean {
	return code === DISK_FULL || (code === INTERNAL_ERROR && file === "md.c" && routine.endsWith("extend"));
}

const closed = (message: string): string =>
	`PostgreSQL refuses (${message}): check the database URL and its user's permissions.`;

/**
 * Translates a failure of the database, or of the connection to it, for the service; any other error is returned
 * unchanged.
 */
export function storageError(error: unknown): unknown {
	if (error instanceof StorageError) return error;
	const failure = (code: StorageErrorCode, text: string) => new StorageError(code, text, { cause: error });
	const state = sqlState(error);
	if (state === null) {
		if (isUnreadFile(error))
			return failure(
				"unusable",
				`A file that the database URL names can't be read (${error.message}): check sslrootcert, sslcert and sslkey in POSTHORN_DATABASE_URL.`,
			);
		if (isTls(error))
			return failure(
				"lost",
				`There is no secure connection to PostgreSQL (${tlsReason(error)}): check the server's ` +
					"certificate, and sslrootcert, sslcert and sslkey in POSTHORN_DATABASE_URL.",
			);
		if (error instanceof URIError)
			return failure(
				"unusable",
				"POSTHORN_DATABASE_URL has a % that doesn't begin an encoded character: write a % in a name or a password as %25.",
			);
		if (!isConnectionLost(error)) return error;
		if ((error as Error).message === UNANSWERED)
			return failure(
				"lost",
				`PostgreSQL didn't complete a statement in time (${UNANSWERED}), because it is frozen or overloaded, or waits for a synchronous standby: retrying.`,
			);
		return failure("lost", `PostgreSQL cannot be reached (${reasonsOf(error as Error)}): retrying.`);
	}
	const { message, hint, detail } = error as DatabaseError;
	const hinted = hint ? `${message}: ${hint}` : message;
	if (isFull(error as DatabaseError))
		return failure(
			"full",
			`PostgreSQL has no space left (${message}): free some. The service then continues automatically.`,
		);
	if (OTHER_SESSION.test(state) || (state === PROTOCOL_VIOLATION && STATEMENT_POOL.test(message)))
		return failure("unusable", SHARED_SESSIONS);
	if (isStartupRefused(error)) {
		const [, parameter] = STARTUP_REFUSED.exec(message)!;
		return failure(
			"unusable",
			`The pool in front of PostgreSQL refuses the parameter ${parameter} of POSTHORN_DATABASE_URL: remove it, or ` +
				"point the URL at PostgreSQL itself.",
		);
	}
	if (isLoginRefused(error) || CLOSED_TO_US.test(state)) return failure("unusable", closed(hinted));
	if (OTHER_SCHEMA.test(state))
		return failure(
			"unusable",
			`The database schema doesn't fit this version of Posthorn (${message}): another version has migrated it, or it was ` +
				"changed by hand. Run the version that migrated it last, or undo the change; pending work then continues.",
		);
	if (isLockTimeout(error)) return failure("locked", LOCKED);
	if (state === LIMIT_EXCEEDED && ASSIGNS_IDS.test((error as DatabaseError).routine ?? ""))
		return failure(
			"lost",
			`PostgreSQL accepts no writes until it is vacuumed (${message}): see its own log, and end old transactions. ` +
				"The service then continues automatically.",
		);
	if (AWAY.test(state) || isConflict(error) || isPlanOutdated(error as DatabaseError))
		return failure("lost", `PostgreSQL failed temporarily (${hinted}): retrying.`);
	if (HINDERED.test(state) && !isFatal(error as DatabaseError))
		return failure(
			"unusable",
			`PostgreSQL refuses (${detail && state === DEPENDENT_OBJECTS ? `${message}: ${detail}` : message}): something in the database ` +
				"prevents it, such as a trigger, a view, a publication or damage. " +
				"Remove the cause; pending work then continues.",
		);
	// What remains refuses a new connection.
	if (isFatal(error as DatabaseError)) return failure("unusable", closed(message));
	return error;
}

/**
 * Translates errors of opening a connection that {@link storageError} doesn't recognize: the server stopped offering TLS,
 * or isn't PostgreSQL. Returns all others unchanged.
 */
export function connectError(error: unknown): unknown {
	const isUnknown = error instanceof DatabaseError || (error instanceof Error && error.constructor === Error);
	if (!isUnknown || storageError(error) instanceof StorageError) return error;
	return new StorageError(
		"unusable",
		`A connection to PostgreSQL could not be opened (${error.message}): check POSTHORN_DATABASE_URL.`,
		{ cause: error },
	);
}

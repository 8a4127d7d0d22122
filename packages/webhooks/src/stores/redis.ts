import { type Claim, checkedKeepDays, DAY_MS, KEEP_DAYS, type Store } from "../store.ts";

/**
 * The caller's own client: node-redis (`sendCommand`), ioredis and iovalkey (`call`), or a function that sends one
 * command and resolves to its reply.
 */
export type RedisClient =
	| { call(command: string, ...args: string[]): Promise<unknown> }
	| { sendCommand(args: string[]): Promise<unknown> }
	| ((args: string[]) => Promise<unknown>);

export interface RedisStoreOptions {
	/** What keys begin with. `posthorn:` by default. */
	readonly prefix?: string;
	/** How long finished events are remembered, days. 31 by default. */
	readonly keepDays?: number;
}

/** The value of a finished event. Tokens are UUIDs, so none equals it. */
const DONE = "done";
const RENEW =
	"if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";
/** A claim that expired without a successor can still be finished: the event was handled. */
const FINISH = `local held = redis.call('GET', KEYS[1])
if held == ARGV[1] or held == false then redis.call('SET', KEYS[1], '${DONE}', 'PX', ARGV[2]) return 1 end return 0`;
const RELEASE = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if tonumber(ARGV[2]) > 0 then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return redis.call('DEL', KEYS[1])`;

/**
 * Remembers events in Redis or Valkey, whose clock decides about leases. An event may be handled twice if the server loses
 * its last writes, as it may with asynchronous replication.
 */
export function redisStore(
	client: RedisClient,
	{ prefix = "posthorn:", keepDays = KEEP_DAYS }: RedisStoreOptions = {},
): Store {
	const send = commandOf(client);
	const keepMs = checkedKeepDays(keepDays) * DAY_MS;
	const run = async (script: string, key: string, ...args: string[]): Promise<boolean> =>
		Number(await send(["EVAL", script, "1", prefix + key, ...args])) === 1;

	return {
		async claim(key, token, leaseMs): Promise<Claim> {
			const isClaimed = await send(["SET", prefix + key, token, "NX", "PX", milliseconds(leaseMs)]);
			if (isClaimed !== null) return "claimed";
			return String(await send(["GET", prefix + key])) === DONE ? "done" : "in_progress";
		},
		renew: (key, token, leaseMs) => run(RENEW, key, token, milliseconds(leaseMs)),
		finish: (key, token) => run(FINISH, key, token, milliseconds(keepMs)),
		async release(key, token, delayMs) {
			await run(RELEASE, key, token, String(Math.ceil(delayMs)));
		},
	};
}

/** Redis takes whole milliseconds from 1. */
function milliseconds(duration: number): string {
	return String(Math.max(1, Math.ceil(duration)));
}

function commandOf(client: RedisClient): (args: string[]) => Promise<unknown> {
	if (typeof client === "function") return client;
	const isObject = typeof client === "object" && client !== null;
	// ioredis has `sendCommand`, too, but it takes something else.
	if (isObject && "call" in client) return ([command = "", ...args]) => client.call(command, ...args);
	if (isObject && "sendCommand" in client) return (args) => client.sendCommand(args);
	throw new TypeError(
		"redisStore needs a client of node-redis, ioredis or iovalkey, or a function that sends a command.",
	);
}

/** Budgets of the API. */
const KIB = 1_024;
const MIB = 1_024 * KIB;

/** Limits on incoming API requests. */
export const REQUESTS = {
	/** The data of an event: `POSTHORN_MAX_EVENT_BYTES`. */
	eventBytes: 256 * KIB,
	/** The body of a request that publishes several events: `POSTHORN_MAX_BATCH_BYTES`. */
	batchBytes: 2 * MIB,
	/** Events in a batch. Counted in the bytes, before anything is parsed. */
	batchEvents: 1_000,
	/** The body of any other request. */
	bodyBytes: 64 * KIB,
	/** Allowance for an event or report apart from its data, and for a batch apart from its events, bytes. */
	envelopeBytes: 16 * KIB,
	/** Larger bodies are parsed in slices of about this size, bytes; projects take turns. */
	sliceBytes: 64 * KIB,
	/** What each event or order of a batch adds to such a slice, apart from its bytes. */
	pieceBytes: 512,
	/** List elements that together count for at most this are parsed together, bytes. */
	groupBytes: 32 * KIB,
	/** Each project has one larger body processed at a time. This is how long others wait for it, milliseconds. */
	largeBodyWaitMs: 10_000,
	/** How long slices run per turn of the event loop, milliseconds: the one that reaches it is the last of that turn. */
	turnMs: 2,
	/** Maximum nesting of arrays and objects in any body. */
	nesting: 64,
	/** Bodies being received or processed: of one project, and of the node (`POSTHORN_MAX_BODY_BYTES_IN_FLIGHT`). */
	bodyBytesPerProject: 8 * MIB,
	bodyBytesInFlight: 64 * MIB,
	/**
	 * The same for unauthenticated clients: for one body, for one network (an IPv4 address or an IPv6 /48), and for all.
	 * It takes 128 networks to fill this.
	 */
	unauthenticatedBodyBytes: 8 * KIB,
	unauthenticatedBodyBytesPerNetwork: 32 * KIB,
	unauthenticatedBodyBytesInFlight: 4 * MIB,
	/** Number of chunks that a body may have, however small, plus one for each of these bytes. */
	smallChunks: 2_048,
	chunkBytes: 64,
	/** A request's header with its path, bytes. */
	headerBytes: 16 * KIB,
	/** Time limit for receiving a request's header, milliseconds. */
	headerMs: 10_000,
	/** Time limit for receiving a whole request, milliseconds. */
	requestMs: 30_000,
} as const;

/** Limits on API responses. */
export const RESPONSES = {
	/** Response bytes that clients haven't read: of one principal, of a project with all its keys, and of the node. */
	bytesPerPrincipal: 8 * MIB,
	bytesPerProject: 16 * MIB,
	bytesInFlight: 64 * MIB,
	/**
	 * Concurrent reads of lists and statistics: for one principal, one project and all; and how many of a principal may
	 * wait.
	 */
	readsPerPrincipal: 2,
	readsPerProject: 4,
	reads: 8,
	readsWaiting: 128,
	/** A page of events or attempts ends early, after at least one, so as not to hold more bytes of bodies than this. */
	pageBytes: 4 * MIB,
	/** A list counts as one more of {@link RATES.reads} for each of these bytes. */
	countedBytes: 256 * KIB,
	/** Larger responses are written in slices of this size, bytes: a client that doesn't read can't hold more. */
	sliceBytes: 64 * KIB,
	/** A response is aborted if the client reads nothing of it for this long, milliseconds. */
	stallMs: 30_000,
	/**
	 * It is also aborted if it isn't read to its end in this time, milliseconds; for a stream, what was written by then.
	 */
	readMs: 55_000,
} as const;

/** Exports of the delivery log, which are written as fast as they are read. */
export const EXPORTS = {
	/** Concurrent exports per principal, per project and per node. */
	perPrincipal: 1,
	perProject: 2,
	node: 16,
	/** Rows of a file, and rows read at a time. */
	rows: 100_000,
	page: 200,
	/** A file ends after this time, milliseconds. */
	ms: 300_000,
	/** How often to check that its reader may still read, milliseconds. */
	recheckMs: 5_000,
	/** How soon to try again when all slots are taken, seconds. */
	retryS: 10,
} as const;

/** Limits on a call's reads of the delivery log. */
export const LOG_READS = {
	/** Attempts scanned for a filter by status code, which has no index, among those that the other filters match. */
	attemptsScanned: 500,
	/** Combinations of a list's filter values, each of which is a query. */
	combinations: 30,
	/** Attempts read per step of a list of deliveries, of all combinations together, even if fewer are requested. */
	attemptsPerStep: 100,
} as const;

/** Finding events by what is in them. */
export const SEARCH = {
	/** Events read per step of indexing, and the bytes of their bodies. */
	indexStep: { maxEvents: 500, maxBytes: 1_048_576 },
	/** How much of the time indexing may take in the background. */
	indexShare: 0.05,
	/** Steps of indexing that a search waits for, so that it finds what was published just before. */
	catchUpSteps: 8,
	/** The newest events of an order id or an e-mail address that a filter considers. */
	eventsOfReference: 200,
	/** … for a list of their attempts, the newest of them with as many attempts together: all are sorted for each page. */
	attemptsOfReference: 500,
	/** Events with more bytes aren't read for their order id when deliveries, attempts or pending retries are listed. */
	orderIdBytes: 16_384,
	/** Values of one filter. */
	values: 20,
	/**
	 * Events or attempts read per step of a search for text, and the bytes of their bodies or responses: a few
	 * milliseconds, for which other reads of the node wait. They have a turn in between.
	 */
	textStep: { maxEvents: 250, maxBytes: 131_072 },
	/** How long one call searches for text, milliseconds. */
	textMs: 400,
} as const;

/** Limits on the storage queries that unauthenticated clients cause. */
export const UNAUTHENTICATED = {
	/** Invalid API keys and sessions from one network. Valid ones are never counted. */
	wrongTokensPerMinute: 300,
	/** Concurrent lookups of tokens, one for each address. Lookups of known tokens don't count. */
	lookups: 2,
	/** How many lookups of one address may wait, normally and once it has sent too many invalid tokens. */
	lookupsWaiting: 1_024,
	lookupsWaitingThen: 16,
	/** Hashes of tokens that were valid when last looked up. Beyond this, the least recently used is dropped. */
	knownTokens: 10_000,
	/** Addresses whose networks are remembered. */
	knownAddresses: 1_000,
} as const;

/** `/metrics`, which anyone may read. */
export const METRICS = {
	/** How often the text is made. Between that, everyone gets the last one. */
	renders: { burst: 30, perMinute: 60 },
} as const;

/** The API keys that a node caches. */
export const API_KEYS = {
	/** Recently found keys. Beyond this, the oldest is dropped. */
	cached: 10_000,
	/**
	 * How long a cached key is trusted without asking storage, unless a node reports a change in its project,
	 * milliseconds.
	 */
	trustedMs: 5_000,
	/**
	 * The same after such a report: a hint doesn't say whether a key changed or an event was published, and a busy
	 * project's hints must not make every request query storage.
	 */
	trustedAfterHintMs: 250,
	/** Projects whose last hint is remembered. Beyond this, the oldest is dropped. */
	hintedProjects: 10_000,
	/** How often the keys' last use is written, milliseconds; sooner if this many keys are pending. */
	lastUseMs: 60_000,
	lastUsesWaiting: 10_000,
} as const;

/** Calls and streams that stay open, and cost nothing while nothing happens. */
export const WAITERS = {
	/**
	 * Calls of one project that wait for events (`wait`), and how many of them users may hold. The rest is for API keys.
	 */
	calls: 100,
	callsOfPeople: 50,
	/** Streams of changes for one account or key, and for one project with all its keys and members. */
	streams: 20,
	streamsOfProject: 200,
} as const;

/** Limits on failed sign-ins and password checks. */
export const SIGN_IN = {
	/**
	 * Wrong passwords for one account from one network, and wrong passwords and links from a network in all, within the
	 * window. An account has no limit of its own: strangers could use it up and lock its owner out.
	 */
	wrongForAccount: 10,
	wrongFromNetwork: 100,
	windowMs: 15 * 60_000,
	/**
	 * Passwords hashed at a time, each with 19 MiB, all on one thread, and how many may wait for an owner (a network, or
	 * a signed-in account) and in all.
	 */
	hashes: 1,
	hashesWaitingOfOwner: 64,
	hashesWaiting: 256,
	/** Sessions of an account. A further sign-in ends the oldest. */
	sessions: 100,
} as const;

/** Open invitations of a project, which are listed all at once. */
export const INVITATIONS = { open: 500 } as const;

/** Writes to projects by the API in PostgreSQL. They share the `people` pool with the API's reads. */
export const PROJECT_WRITES = {
	/** Concurrent writes: of one project, and of all. */
	perOwner: 1,
	running: 3,
	/** How many of one project may wait. */
	waiting: 1_000,
	/**
	 * How long such a write waits for rows locked by another session, milliseconds, before it moves to the pool
	 * `waiting`.
	 */
	lockMs: 100,
	/**
	 * Concurrent writes that wait for such rows in the pool `waiting`, and how many further projects may queue for it.
	 */
	apart: 1,
	apartWaiting: 4,
	/** Projects remembered as locked. Beyond this, the oldest is dropped. */
	lockedRemembered: 1_000,
} as const;

/**
 * Rates of a project's actions: `burst` at once after a pause, and `perMinute` in the long run. `reads` and
 * `lookups` apply to each principal.
 */
export const RATES = {
	/** Every write, including those with a rate of their own, except publishing and store facts. */
	changes: { burst: 200, perMinute: 600 },
	/** Reports to the store: each is a transaction of its own. A batch of orders counts as one. */
	facts: { burst: 2_000, perMinute: 30_000 },
	testEvents: { burst: 20, perMinute: 60 },
	urlChecks: { burst: 20, perMinute: 60 },
	replays: { burst: 100, perMinute: 600 },
	bulkReplays: { burst: 10, perMinute: 12 },
	reads: { burst: 600, perMinute: 6_000 },
	/** Reads of single objects. */
	lookups: { burst: 1_000, perMinute: 12_000 },
	/** Reads that the audit log records: each adds a row. */
	recordedReads: { burst: 40, perMinute: 60 },
} as const;

export type RateName = keyof typeof RATES;

/** The same for all projects of the node together. */
export const NODE_RATES: Partial<Record<RateName, { readonly burst: number; readonly perMinute: number }>> = {
	changes: { burst: 1_000, perMinute: 6_000 },
	facts: { burst: 6_000, perMinute: 90_000 },
	recordedReads: { burst: 200, perMinute: 600 },
};

/** Connections to the API. */
export const CONNECTIONS = {
	/** All of them, if the limit on open files allows that many (descriptors.ts). */
	most: 10_000,
	/** The fraction of them that is closed when none are left (api/http/connections.ts). */
	freedAtOnce: 1 / 32,
	/** Requests of one connection that are processed at a time, and that may wait for that. One more closes it. */
	requestsInWork: 4,
	requestsWaiting: 16,
	/** Requests with the same known credentials that start immediately in one turn of the event loop. */
	startsPerTurn: 4,
	/**
	 * Others wait, as do all of unknown clients: how long such requests are started per turn of the event loop,
	 * milliseconds. Credentials and networks take turns.
	 */
	turnMs: 0.5,
	/** How often to check for slow clients, milliseconds. */
	checkMs: 2_500,
	/** An idle connection is closed after this time, milliseconds, even if its client vanished silently. */
	idleMs: 55_000,
	/** The same for trusted proxies: longer than the minute after which load balancers close theirs. */
	proxyIdleMs: 75_000,
	/** How long a rejected client has to read why before the connection is closed, milliseconds. */
	lingerMs: 500,
	/** While the API shuts down: how long a client may take to send its request or read its response, milliseconds. */
	endMs: 3_000,
} as const;

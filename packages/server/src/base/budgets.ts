/**
 * All budgets of a node: the bytes, time and connections that one project, publisher, receiver or anonymous client may
 * use, and that all of them may use together. At a limit, only the one that reached it waits or is refused.
 *
 * A body that could never fit gets 413, one over its own budget 429, one over the node's 503; the latter two say when
 * to retry. Operators can change those that name a setting (config/settings.ts). `/metrics` shows each budget that
 * fills and drains under its name (`posthorn_budget_*`).
 */

const KIB = 1_024;
const MIB = 1_024 * KIB;

// ── what all parts of a node share ──

/** Names (networks, accounts, principals) that a rate limit or throttle remembers. */
export const NAMES = 10_000;

/** Names of each kind (projects, webhooks, event types) whose numbers storage caches. Others are looked up again. */
export const CACHED_NAMES = 20_000;

/** Maximum number of a node's connections to PostgreSQL, by their user. One more listens. */
export const POOLS = { publish: 2, settle: 2, engine: 3, access: 1, people: 4, waiting: 5 } as const;

/**
 * A node's connections to PostgreSQL: those that stay open, additional ones that briefly check the server, and the fewest
 * with which it works (one for each pool, one to listen, one to check).
 */
export const DATABASE_CONNECTIONS = {
	lasting: Object.values<number>(POOLS).reduce((sum, count) => sum + count, 1),
	brief: 2,
	least: Object.keys(POOLS).length + 2,
} as const;

/** File descriptors; each connection takes one. descriptors.ts divides them. */
export const DESCRIPTORS = {
	/** For the database, files, name servers and the runtime; a quarter of the limit where that is less. */
	reserved: 128,
	/** Assumed if the operating system doesn't report the limit. */
	assumed: 1_024,
	/** What a node needs to start. With SQLite, it holds about 45 before its first connection. */
	least: 64,
} as const;

/** Limits on the shutdown of a node. */
export const STOP = {
	/** Time in addition to an attempt's timeout, to commit the last outcomes and release leases, milliseconds. */
	graceMs: 10_000,
} as const;

/** How a node whose database had no room for a write finds out that there is some again. */
export const ROOM = {
	/** What it tries to write, bytes. */
	probeBytes: MIB,
	/** How often, milliseconds. */
	probeEveryMs: 3_000,
} as const;

// ── the API ──

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
	/** Concurrent reads of lists and statistics: of a principal, a project and the node; and how many a principal may queue. */
	readsPerPrincipal: 2,
	readsPerProject: 4,
	reads: 8,
	readsWaiting: 128,
	/** A page of events or attempts ends early, after at least one, so as not to hold more bytes of bodies than this. */
	pageBytes: 4 * MIB,
	/** A list counts as one more of {@link RATES.reads} for each of these bytes. */
	countedBytes: 256 * KIB,
	/** What a response says about a published event, or about a recorded order, at most, bytes. */
	publishedBytes: 256,
	recordedBytes: 1 * KIB,
	/** Larger responses are written in slices of this size, bytes: a client that doesn't read can't hold more. */
	sliceBytes: 64 * KIB,
	/** A response is aborted if the client reads nothing of it for this long, milliseconds. */
	stallMs: 30_000,
	/** It is also aborted if the client takes longer than this to read all of it, or all that a stream wrote, milliseconds. */
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
	/** Attempts read per step of a list of deliveries, of all its filters' combinations, even if fewer are requested. */
	attemptsPerStep: 100,
	/** Webhooks whose health is read at a time: others' reads wait for these, and a project may have thousands. */
	webhooksPerStep: 50,
	/** The same for their statistics. */
	statsPerStep: 8,
	/** After this time, a call for the health of several projects starts no other one, milliseconds. */
	projectsHealthMs: 10_000,
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
	/** … how many of their attempts a list considers, from the newest event on, since each page sorts all of them, … */
	attemptsOfReference: 500,
	/** … and fewer of a value that more events have: most likely, that isn't one order or one customer. */
	ofCommonReference: { events: 50, attempts: 150 },
	/** Events with more bytes aren't read for their order id when deliveries, attempts or pending retries are listed. */
	orderIdBytes: 16_384,
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
	/** How long a cached key is trusted unless a node reports a change in its project, milliseconds. */
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
	/** Calls of one project that wait for events (`wait`), and how many of them users, not API keys, may hold. */
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
	/** How long such a write waits for locked rows, milliseconds, before it moves to the pool `waiting`. */
	lockMs: 100,
	/** Concurrent writes that wait for such rows in the pool `waiting`, and how many further projects may queue. */
	apart: 1,
	apartWaiting: 4,
	/** Projects remembered as locked. Beyond this, the oldest is dropped. */
	lockedRemembered: 1_000,
} as const;

/** A project's rows in PostgreSQL that another session has locked. */
export const LOCKED_ROWS = {
	/** How long a transaction in the pool `waiting` waits for them, milliseconds. */
	waitMs: 500,
} as const;

/** Rows per transaction of bulk actions. Everyone's events wait for it. Named deliveries are looked up one by one. */
export const BULK_ACTIONS = {
	replays: 250,
	/** Transactions in a step of a replay by filter: few, so that progress shows. */
	replayTransactions: 4,
	retries: 500,
	/** Retries that one read counts before. The engine's reads wait for it on SQLite. */
	retriesCounted: 10_000,
	/** Replays between checks of the caller's rights. Each is a transaction of its own. */
	namedReplays: 50,
	namedRetries: 50,
	dismissals: 50,
} as const;

/**
 * Rates of a project's actions: `burst` at once after a pause, and `perMinute` in the long run; `node` is for all
 * projects of the node together. `reads` and `lookups` apply to each principal.
 */
export const RATES = {
	/** Every write, including those with a rate of their own, except publishing and store facts. */
	changes: { burst: 200, perMinute: 600, node: { burst: 1_000, perMinute: 6_000 } },
	/** Reports to the store: each is a transaction of its own. A batch of orders counts as one. */
	facts: { burst: 2_000, perMinute: 30_000, node: { burst: 6_000, perMinute: 90_000 } },
	testEvents: { burst: 20, perMinute: 60 },
	urlChecks: { burst: 20, perMinute: 60 },
	replays: { burst: 100, perMinute: 600 },
	bulkReplays: { burst: 10, perMinute: 12 },
	reads: { burst: 600, perMinute: 6_000 },
	/** Reads of single objects. */
	lookups: { burst: 1_000, perMinute: 12_000 },
	/** Reads that the audit log records: each adds a row. */
	recordedReads: { burst: 40, perMinute: 60, node: { burst: 200, perMinute: 600 } },
} as const;

export type RateName = keyof typeof RATES;

/** Connections to the API. */
export const CONNECTIONS = {
	/** All of them, if the limit on open files allows that many (descriptors.ts). */
	most: 10_000,
	/** The fraction of them that is closed when none are left (api/http/connections.ts). */
	freedAtOnce: 1 / 32,
	/** Requests of one connection that are processed at a time, and that may wait for that. One more closes it. */
	requestsInWork: 4,
	requestsWaiting: 16,
	/**
	 * Requests of known clients that start immediately in one turn of the event loop: of one project's keys or one
	 * account, and of all.
	 */
	startsPerTurn: 4,
	startsPerTurnOfAll: 32,
	/**
	 * Others wait, as do all of unknown clients: how long such requests are started per turn of the event loop,
	 * milliseconds. Projects, accounts and networks take turns.
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

// ── publishing, sending and settling ──

/** Limits on what a receiver can make this node do. */
export const RECEIVERS = {
	/** Status lines and header lines of a response, including interim responses. */
	headBytes: 16 * KIB,
	/** Interim (1xx) responses before the final one. */
	interimResponses: 16,
	/** The framing of a chunked body: sizes, their extensions, and trailers. */
	framingBytes: 16 * KIB,
	/** Bytes read from one connection per turn of the event loop. The remainder waits for the next turn. */
	readBytesPerTurn: 64 * KIB,
	/** The minimum that a read counts for, however few bytes it returns. */
	leastBytesPerRead: 256,
	/** Reads of one response, however little they return: a read costs much more than the byte that it may return. */
	reads: 512,
	/** Stored part of a response's body, bytes. */
	keptBytes: 1_024,
	/** Stored header fields of a response that isn't 2xx: bytes of each value, and of all names and values. */
	headerValueBytes: 512,
	headerBytes: 1_024,
	/** Stored text of a certificate that was rejected: characters of each name, and how many of its host names. */
	certificateNameLength: 128,
	certificateNames: 10,
	/** How long to wait for the body after the status line, milliseconds; never past the attempt's deadline. */
	bodyMs: 1_000,
	/**
	 * After the kept part of a body of at most this size, its rest is read for at most this many milliseconds and in at
	 * most this many reads, so that the connection can be reused. The attempt doesn't wait for it. Any other response
	 * closes the connection. That many reads, however small, cost less than the handshake that they save.
	 */
	drainedBytes: 64 * KIB,
	drainMs: 1_000,
	drainReads: 100,
	/** Addresses of a host tried in one attempt, and how many are examined to find those: name servers may send thousands. */
	addresses: 8,
	addressesExamined: 64,
	/** Hosts and ports for which the address that the next connection tries first is kept. */
	firstAddresses: 1_000,
	/**
	 * Connections to one host and port kept open between sends: as many as fast sends may have had in flight. With fewer,
	 * a burst of responses closes connections that the next sends open again.
	 */
	idleConnections: 256,
	/** Hosts whose TLS session is kept for resumption. */
	tlsSessions: 1_000,
	/** Maximum size of a kept session, bytes. A receiver chooses its size: a ticket of up to 64 KiB and a certificate. */
	sessionBytes: 16 * KIB,
	/** TLS sessions that a receiver may issue on one connection. Servers usually issue two or four. */
	sessionsPerConnection: 16,
	/** Key updates (TLS 1.3) and requests to renegotiate (TLS 1.2) on one connection. Most receivers send neither. */
	keyUpdates: 16,
	renegotiations: 16,
} as const;

/** Limits on TLS handshakes, whose certificates can be expensive to check; net/tls/handshakes.ts explains them. */
export const HANDSHAKES = {
	/**
	 * A metered handshake is costly if it takes more CPU time than this, milliseconds, or more bytes from the receiver.
	 * Usual ones take 1 to 2 ms and 5 KiB.
	 */
	cpuMs: 10,
	bytes: 32 * KIB,
	/** One with too many bytes is charged this CPU time, milliseconds, because checking them all would have taken it. */
	longChainMs: 250,
	/**
	 * What a connection is charged that the receiver floods with TLS records without data, milliseconds: OpenSSL can't be
	 * stopped before it has handled all that were read together.
	 */
	floodMs: 50,
	/** The receiver's bytes are processed in chunks of at most this size, so that the limit on bytes applies in time. */
	chunkBytes: 16 * KIB,
	/** How long such chunks are processed per turn of the event loop, milliseconds; projects take turns. */
	msPerTurn: 1,
	/** A project's other new hosts wait this many times as long as its costly handshakes took. */
	restFactor: 200,
	/** Hosts that have proven cheap wait only while the rest exceeds this, milliseconds: after a second of CPU time. */
	provenRestMs: 200_000,
	/** All of the project's handshakes are metered this many times as long, and never longer than a day. */
	meteredFactor: 20_000,
	longestMs: 86_400_000,
	/** How many of a project's handshakes run unmetered at a time, and which part of those that could is metered. */
	unmetered: 8,
	meteredShare: 1 / 8,
	/** Requests on a connection whose handshake was metered. It costs more per request than others. */
	requestsPerConnection: 64,
	/** Hosts, and projects with costly handshakes, that are remembered. Beyond this, the oldest is dropped. */
	hosts: 10_000,
	projects: 10_000,
} as const;

/** Limits on sends. */
export const SENDS = {
	/**
	 * Request bodies in flight on the node, including those that queued attempts are reading. One send may exceed the
	 * limit, by one body; the same applies below. Until the receiver has read a request, Node and TLS each hold another
	 * copy, so the memory is up to three times this.
	 */
	bytesInFlight: 40 * MIB,
	/** When those are used up, a project with nothing in flight may send a small body from these. */
	smallBytesInFlight: 8 * MIB,
	smallBodyBytes: 4 * KIB,
	/** For the bodies of test events and single replays. */
	requestedBytesInFlight: 16 * MIB,
	/** How long connections are started per turn of the event loop, milliseconds; projects take turns. */
	dialMsPerTurn: 1,
	/** How long requests are prepared per turn of the event loop, milliseconds; writing takes three times as long. */
	prepareMsPerTurn: 2,
	/** How long attempts are cut off at their deadlines per turn of the event loop, milliseconds; earliest first. */
	cutMsPerTurn: 2,
	/** Size of the requests that are prepared before they are written together, bytes. */
	preparedBytes: 1 * MIB,
	/** Maximum number of sends younger than `fastForMs`, milliseconds: they keep the event loop busy (slots.ts). */
	fastInFlight: 256,
	fastForMs: 250,
	/** A project may hold this many times as many fast sends as are free: one project gets at most 192. */
	fastShare: 3,
	/** Sends in flight on the node, each with a socket. Fewer if the limit on open files is lower. */
	inFlight: 8_192,
	/** Of those, reserved for test events and single replays: for the node, and for one project. */
	requestedInFlight: 1_024,
	requestedPerProject: 4,
	/** Retries of one webhook in flight, or `max_in_flight` if that is more, in addition to its first attempts. */
	retriesPerWebhook: 16,
	/** Connections to receivers kept open between sends. */
	idleConnections: 1_024,
} as const;

/** Limits on the lanes' windows in memory. */
export const WINDOWS = {
	/** All of them together. Beyond this, lanes read events again that they haven't sent yet. */
	bytes: 32 * MIB,
	/** Maximum and minimum size of a window, for any number of lanes. */
	largestBytes: 128 * KIB,
	smallestBytes: 16 * KIB,
	/** Events in a window. */
	events: 128,
	/** A window this many events ahead of a lane isn't kept for it: the lane reads it again. */
	reach: 1_024,
	/** Newly published events are kept in chunks of this size: bytes, and events. */
	freshBytes: 64 * KIB,
	freshEvents: 128,
	/** Windows of one project, however small, and how many of them are read at a time. */
	windowsPerProject: 256,
	readsPerProject: 4,
	/** How many events that were in flight when a lane was loaded are read at a time. */
	openEventsRead: 8,
	/** Retries of a lane kept in memory, for each of its queues. They hold no bodies. */
	retriesPerQueue: 256,
	/** Lanes of a project that start something per turn of the event loop. */
	lanesPerTurn: 64,
} as const;

/** Limits on pending commits. */
export const COMMITS = {
	/** Waiting published events and facts. Beyond this, publishers are asked to retry. */
	publishBytesWaiting: 64 * MIB,
	/** Those of one project, and never more than it leaves to the others. */
	publishBytesWaitingPerProject: 16 * MIB,
	/** Maximum bytes of events per commit: more would make the next one wait too long. */
	publishBytes: 2 * MIB,
	/** Outcomes that may wait before lanes stop starting; each holds the start of a response, but no event. */
	outcomesWaiting: 4_000,
	/** Those of one project, and never more than it leaves to the others. */
	outcomesWaitingPerProject: 2_000,
	/** Outcomes per commit: more would make the next one wait too long. */
	outcomes: 1_000,
	/** A project's deliveries closed without a request (because they expired, say) whose commit is pending. */
	closingPerProject: 200,
	/** Bytes per transaction of SQLite's writer, which take tens of milliseconds. */
	sqliteBytes: 4 * MIB,
} as const;

/** Projects that storage refused baskets of, and whose turn therefore comes after that of all others. */
export const BASKETS = { refusedProjects: 100 } as const;

/** A step of retention: it deletes a range, then pauses for publishing and settling. */
export const RETENTION = {
	/** Rows examined: enough that little is written for each, and few enough to cause no noticeable wait. */
	rowsPerStep: 2_000,
	/** Bodies of the events deleted, however few events that is. */
	bytesPerStep: 16 * MIB,
} as const;

/** Limits on the projects that a node owns. */
export const PROJECTS = {
	/** Projects in memory. Any more take turns. */
	active: 10_000,
	/** Additional capacity for projects in which a user requested a test event or a replay. */
	reserved: 1_000,
	/** How long a lease lasts unless renewed, milliseconds: shorter than people notice, longer than a settle takes. */
	leaseTermMs: 10_000,
	/** Leases renewed in one step; other work of the database happens between steps. */
	leasesPerStep: 1_000,
	/** Signing secrets opened per turn of the event loop when a project is loaded: about a millisecond's work. */
	secretsPerTurn: 50,
	/**
	 * How long a project rests between reads of all its webhooks, as a multiple of the time that applying them took: one
	 * with thousands of them that change all the time may not take the event loop for itself. The machine may have been
	 * asleep meanwhile, so a rest has a maximum, milliseconds.
	 */
	lanesRest: 8,
	lanesRestMs: 1_000,
	/** How long a project may run before a waiting one takes its turn, milliseconds. */
	quantumMs: 5_000,
	/** Concurrent releases of leases: more than may wait for locked rows, so that those hold up no others. */
	releases: 32,
	/** Releases that may wait for rows locked by another session. Other leases are left to expire. */
	releasesWaiting: 16,
	/** The longest pause of a project whose outcomes storage keeps rejecting, milliseconds. */
	longestRestMs: 3_600_000,
} as const;

/** Alerts to the operator's receiver. */
export const ALERTS = {
	/** The most of one project in one pass; the others follow in the next ones. */
	perProject: 10,
	/** How long a webhook must have been failing, milliseconds. */
	failingMs: 300_000,
	/** From an alert about a webhook to the next one about its dead letters, milliseconds. */
	deadLettersMs: 3_600_000,
	/** How long one may take, milliseconds. */
	timeoutMs: 10_000,
	/** After so many that weren't accepted, or after so long, milliseconds, a pass stops sending; the next continues there. */
	refusals: 3,
	sendingMs: 30_000,
} as const;

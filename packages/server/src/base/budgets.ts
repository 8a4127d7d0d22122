/**
 * Every budget of a node, in one place: the bytes, the time and the connections that one project, publisher, receiver or
 * stranger may take, and that all of them may take together. Whoever reaches a budget waits, or is refused, alone.
 *
 * A body that could never fit gets 413, one over its own budget 429, one over the node's 503; the latter two say when to
 * come back. Operators set those that a setting is named for (config/settings.ts); `/metrics` shows each budget that fills
 * and drains, by its name (`posthorn_budget_*`).
 */

const KIB = 1_024;
const MIB = 1_024 * KIB;

/** What may come in over the API. */
export const REQUESTS = {
	/** The data of an event: `POSTHORN_MAX_EVENT_BYTES`. */
	eventBytes: 256 * KIB,
	/** The body of a request that publishes several events: `POSTHORN_MAX_BATCH_BYTES`. */
	batchBytes: 2 * MIB,
	/** Events in a batch. Counted in the bytes, before anything is parsed. */
	batchEvents: 1_000,
	/** The body of any other request. */
	bodyBytes: 64 * KIB,
	/** What an event or a report may have besides its data, and a batch besides its events, bytes. */
	envelopeBytes: 16 * KIB,
	/** A larger body is parsed in slices of about this size, bytes, projects in turn. */
	sliceBytes: 64 * KIB,
	/** What each event or order of a batch counts for in such a slice, besides its bytes. */
	pieceBytes: 512,
	/** Elements of a list that together count for no more than this are parsed at once, bytes. */
	groupBytes: 32 * KIB,
	/** Of a project, one larger body is worked on at a time. So long others wait for that, milliseconds. */
	largeBodyWaitMs: 10_000,
	/** How long slices run in a turn of the event loop, milliseconds: the one that reaches it is the last of that turn. */
	turnMs: 2,
	/** Arrays and objects within each other, in any body. */
	nesting: 64,
	/** Bodies that arrive or are worked on: of one project, and of the node (`POSTHORN_MAX_BODY_BYTES_IN_FLIGHT`). */
	bodyBytesPerProject: 8 * MIB,
	bodyBytesInFlight: 64 * MIB,
	/**
	 * The same for those who have not said who they are: of one body, of one network (an IPv4 address or an IPv6 /48), and
	 * of all. It takes 128 networks to fill this.
	 */
	strangerBodyBytes: 8 * KIB,
	bodyBytesPerStranger: 32 * KIB,
	bodyBytesOfStrangers: 4 * MIB,
	/** The header of a request must have arrived within this time, milliseconds. */
	headerMs: 10_000,
	/** A whole request must have arrived within this time, milliseconds. */
	requestMs: 30_000,
} as const;

/** What may be on its way out over the API. */
export const RESPONSES = {
	/** Response bytes that the client has not read: of one principal, and of the node. */
	bytesPerPrincipal: 8 * MIB,
	bytesInFlight: 64 * MIB,
	/** Lists and statistics that are read at a time: for one principal, and for all; and how many of one may wait. */
	readsPerPrincipal: 2,
	reads: 8,
	readsWaiting: 128,
	/** A page of events or attempts ends early, after at least one, rather than hold more bytes of bodies than this. */
	pageBytes: 4 * MIB,
	/** A list counts as one more of {@link RATES.reads} for each of these bytes. */
	countedBytes: 256 * KIB,
	/** Larger responses are written in slices of this size, bytes: a client that does not read holds no more. */
	sliceBytes: 64 * KIB,
	/** A response of which nothing was read for this long is broken off, milliseconds. */
	stallMs: 30_000,
	/** So is one that was not read to its end within this time, milliseconds; of a stream, what it had to say by then. */
	readMs: 55_000,
} as const;

/** What a call may read of the delivery log. */
export const LOG_READS = {
	/** Attempts looked at for a filter by status code, which no index has. Those that the filter's other parts find. */
	attemptsScanned: 1_000,
} as const;

/** What those may ask of storage who have not shown who they are. */
export const STRANGERS = {
	/** API keys and sessions from one network address that are no one's. Right ones are never counted. */
	wrongTokensPerMinute: 300,
	/** Tokens that are looked up at a time, one of each address; known ones are looked up besides. */
	lookups: 2,
	/** Of those of one address, so many may wait, and so many once it has sent too many wrong ones. */
	lookupsWaiting: 1_024,
	lookupsWaitingThen: 16,
} as const;

/** Calls and streams that stay open without costing anything while nothing happens. */
export const WAITERS = {
	/** Calls of one project that wait for events (`wait`); of these, those that people may take. The rest is for its keys. */
	calls: 100,
	callsOfPeople: 50,
	/** Streams of changes of one account or key. */
	streams: 20,
} as const;

/** Failed sign-ins, and what checking passwords may take. */
export const SIGN_IN = {
	/** Wrong passwords and links for one account, and from one network, within the window. */
	wrongForAccount: 10,
	wrongFromAddress: 100,
	windowMs: 15 * 60_000,
	/** Passwords hashed at a time, each with 19 MiB on a thread of its own, and how many may wait. */
	hashes: 2,
	hashesWaiting: 64,
} as const;

/** Names (networks, accounts, principals) that a rate or a throttle remembers. */
export const NAMES = 10_000;

/** Names of each kind (projects, webhooks, event types) whose numbers storage remembers. Others are looked up again. */
export const CACHED_NAMES = 20_000;

/** Connections of a node to PostgreSQL at most, by who works with them. One more listens. */
export const POOLS = { publish: 2, settle: 2, engine: 3, people: 4, waiting: 5 } as const;

/** Connections of a node to PostgreSQL: those that stay, and those that it opens besides for moments, to check the server. */
export const DATABASE_CONNECTIONS = {
	lasting: Object.values(POOLS).reduce((sum, count) => sum + count, 1),
	brief: 2,
} as const;

/** Writes of projects that the API makes in PostgreSQL, on the connections for people, with all that people read. */
export const PROJECT_WRITES = {
	/** At a time: of one project, and of all. */
	perOwner: 1,
	running: 3,
	/** Of one project that may wait. */
	waiting: 1_000,
	/** How long such a write waits for rows that another session holds, milliseconds. Then it goes apart. */
	lockMs: 100,
	/** Writes that wait for such rows at a time, in the pool `waiting`, and further projects that may queue for that. */
	apart: 1,
	apartWaiting: 4,
	/** Projects remembered as locked. Beyond that, the oldest is forgotten. */
	lockedRemembered: 1_000,
} as const;

/** How often a project may do what reaches others or costs much; `reads` counts for each principal. */
export const RATES = {
	testEvents: { burst: 20, perMinute: 60 },
	urlChecks: { burst: 20, perMinute: 60 },
	replays: { burst: 100, perMinute: 600 },
	bulkReplays: { burst: 10, perMinute: 12 },
	reads: { burst: 600, perMinute: 6_000 },
} as const;

/** Connections to the API. */
export const CONNECTIONS = {
	/** All of them, where the limit on open files allows as many (descriptors.ts). */
	most: 10_000,
	/** When there are no more to be had, this part of them is closed (api/connections.ts). */
	freedAtOnce: 1 / 32,
	/** Requests of one connection that are worked on at a time, and that may wait behind them. One more closes it. */
	requestsInWork: 4,
	requestsWaiting: 16,
	/** How often slow clients are looked for, milliseconds. */
	checkMs: 2_500,
	/** An idle connection is closed after this time, milliseconds, even if its client vanished silently. */
	idleMs: 55_000,
	/** The same for those of trusted proxies: longer than the minute after which load balancers close theirs. */
	proxyIdleMs: 75_000,
	/** A client that is refused has this long to read why before the connection is gone, milliseconds. */
	lingerMs: 500,
	/** While the API closes: how long a client may take to send its request or to read its response, milliseconds. */
	endMs: 3_000,
} as const;

/** What a receiver may make this node do. */
export const RECEIVERS = {
	/** Status lines and header lines of a response, interim responses included. */
	headBytes: 16 * KIB,
	/** Interim (1xx) responses before the final one. */
	interimResponses: 16,
	/** What frames a chunked body: sizes, their extensions, and trailers. */
	framingBytes: 16 * KIB,
	/** Bytes that one connection may have read in one turn of the event loop. The rest waits for the next turn. */
	readBytesPerTurn: 64 * KIB,
	/** What a read counts for at least, however few bytes it brings. */
	leastBytesPerRead: 256,
	/** What is kept of a response's body, bytes. */
	keptBytes: 1_024,
	/** How long a body is waited for once the status line is there, milliseconds; never past the attempt's deadline. */
	bodyMs: 1_000,
	/** Addresses of a host that are tried in one attempt. */
	addresses: 8,
	/** Connections to one host and port that are kept open between sends. */
	idleConnections: 128,
	/** Hosts whose TLS session is kept, to be resumed. */
	tlsSessions: 1_000,
	/** TLS sessions that a receiver may hand out on one connection. Servers hand out two, or four. */
	sessionsPerConnection: 16,
} as const;

/** What may be on its way to receivers. */
export const SENDS = {
	/**
	 * Request bodies in flight of the node, and those that waiting attempts are reading. The send that reaches the limit
	 * goes beyond it, by one body; likewise below. Until the receiver has read a request, Node and TLS each hold a copy of
	 * it as well: the memory is up to three times this.
	 */
	bytesInFlight: 40 * MIB,
	/** When those are used up, a project that has nothing in flight sends a body of at most `smallBodyBytes` from these. */
	smallBytesInFlight: 8 * MIB,
	smallBodyBytes: 4 * KIB,
	/** For the bodies of test events and single replays. */
	requestedBytesInFlight: 16 * MIB,
	/** How long connections are begun in a turn of the event loop, milliseconds, projects in turn. */
	dialMsPerTurn: 2,
	/** Requests that are made ready before they are written together, bytes. */
	preparedBytes: 1 * MIB,
	/** Sends that are younger than `fastForMs`, milliseconds: they work, older ones wait. See slots.ts. */
	fastInFlight: 256,
	fastForMs: 250,
	/** Sends in flight of the node, each with a socket. Fewer where the limit on open files is lower. */
	inFlight: 8_192,
	/** Of those: set aside for test events and single replays, for the node and for one project. */
	requestedInFlight: 1_024,
	requestedPerProject: 4,
	/** Retries of one webhook in flight, or `max_in_flight` where that is more: beside its first attempts. */
	retriesPerWebhook: 16,
	/** Connections to receivers that are kept open between sends. */
	idleConnections: 1_024,
} as const;

/** What lanes hold of their logs in memory. */
export const WINDOWS = {
	/** All of them together. What a lane has not sent when this is reached is read again. */
	bytes: 32 * MIB,
	/** A window is read no larger than this; and, however many lanes there are, no smaller. */
	largestBytes: 128 * KIB,
	smallestBytes: 16 * KIB,
	/** Events in a window. */
	events: 256,
	/** What was just published is kept in pieces of this size: bytes, and events. */
	freshBytes: 64 * KIB,
	freshEvents: 128,
	/** Windows of one project, however small, and those that are being read. */
	windowsPerProject: 256,
	readsPerProject: 4,
	/** Events that were in flight when a lane was loaded are read so many at a time. */
	openEventsRead: 8,
	/** Retries of a lane that are kept in memory, for each of its queues. They hold no bodies. */
	retriesPerQueue: 256,
} as const;

/** What waits for a commit. */
export const COMMITS = {
	/** Published events and facts that wait; beyond, publishers are told to come again. */
	publishBytesWaiting: 64 * MIB,
	/** Those of one project, and never more than it leaves to the others. */
	publishBytesWaitingPerProject: 16 * MIB,
	/** A commit holds this many bytes of events at most: more would make the next one wait too long. */
	publishBytes: 2 * MIB,
	/** Outcomes that may wait before lanes start nothing more; each holds the start of a response and no event. */
	outcomesWaiting: 4_000,
	/** Those of one project, and never more than it leaves to the others. */
	outcomesWaitingPerProject: 2_000,
	/** Those in one commit: more would make the next one wait too long. */
	outcomes: 1_000,
	/** Deliveries of one project that are closed without a request (they expired, say) and wait for their commit. */
	closingPerProject: 200,
	/** What SQLite's writer takes into one transaction, bytes: that takes some tens of milliseconds. */
	sqliteBytes: 4 * MIB,
} as const;

/** File descriptors, of which each connection takes one. They are divided in descriptors.ts. */
export const DESCRIPTORS = {
	/** For the database, files, name servers and the runtime; a quarter of the limit where that is less. */
	reserved: 128,
	/** The limit where the operating system does not tell. */
	assumed: 1_024,
} as const;

/** What a node works at once. */
export const PROJECTS = {
	/** Projects in memory. Beyond that they take turns. */
	active: 10_000,
	/** More places, for projects for which a person requested a test event or a replay. */
	setAside: 1_000,
	/** A project may work for this long before one that waits gets its place, milliseconds. */
	quantumMs: 5_000,
	/** Releases that may wait for rows which another session holds. The other leases end with their terms. */
	releasesWaiting: 16,
	/** How long a project rests at most when storage refuses its outcomes again and again, milliseconds. */
	longestRestMs: 3_600_000,
} as const;

/** How long the end of a node may take. */
export const STOP = {
	/** Besides an attempt's timeout: to commit the last outcomes and to release leases, milliseconds. */
	graceMs: 10_000,
} as const;

/** Reads of logs at a time: on PostgreSQL the engine's connections bound them, SQLite makes one after the other. */
const LOG_READS_AT_A_TIME = POOLS.engine;

/**
 * What bodies can make a node hold, all budgets together, bytes, with the settings' defaults: bodies of requests from
 * their first byte until they are committed, of responses from the database to the client, and of events from the log to
 * the receiver. The rest of the memory that operators are told to allow (docs/operations/many-nodes.md) is for code,
 * connections and what is known of projects.
 */
export const NODE_BODY_BYTES =
	REQUESTS.bodyBytesInFlight +
	REQUESTS.bodyBytesOfStrangers +
	RESPONSES.bytesInFlight +
	// Pages that are being read.
	RESPONSES.reads * RESPONSES.pageBytes +
	COMMITS.publishBytesWaiting +
	COMMITS.publishBytes +
	COMMITS.sqliteBytes +
	COMMITS.outcomesWaiting * RECEIVERS.keptBytes +
	WINDOWS.bytes +
	LOG_READS_AT_A_TIME * WINDOWS.openEventsRead * REQUESTS.eventBytes +
	SENDS.preparedBytes +
	// Node and TLS hold copies; and each may be passed by one body.
	3 * (SENDS.bytesInFlight + SENDS.smallBytesInFlight + SENDS.requestedBytesInFlight + 2 * REQUESTS.eventBytes);

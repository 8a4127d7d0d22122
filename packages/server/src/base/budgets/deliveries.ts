/** Budgets of publishing, sending and settling. */
const KIB = 1_024;
const MIB = 1_024 * KIB;

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
	/** Addresses of a host tried in one attempt. */
	addresses: 8,
	/** Connections to one host and port kept open between sends. */
	idleConnections: 128,
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

/**
 * Limits on TLS handshakes with receivers, whose certificates can be expensive to check. net/tls/handshakes.ts
 * explains the rules.
 */
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
	/**
	 * When those are used up, a project with nothing in flight may send a body of at most `smallBodyBytes` from these.
	 */
	smallBytesInFlight: 8 * MIB,
	smallBodyBytes: 4 * KIB,
	/** For the bodies of test events and single replays. */
	requestedBytesInFlight: 16 * MIB,
	/** How long connections are started per turn of the event loop, milliseconds; projects take turns. */
	dialMsPerTurn: 1,
	/**
	 * How long requests are prepared per turn of the event loop, milliseconds; projects take turns. Writing them takes
	 * about three times as long.
	 */
	prepareMsPerTurn: 2,
	/** How long attempts are cut off at their deadlines per turn of the event loop, milliseconds; earliest first. */
	cutMsPerTurn: 2,
	/** Size of the requests that are prepared before they are written together, bytes. */
	preparedBytes: 1 * MIB,
	/**
	 * Maximum number of sends younger than `fastForMs`, milliseconds: they keep the event loop busy, older ones wait. See
	 * slots.ts.
	 */
	fastInFlight: 256,
	fastForMs: 250,
	/**
	 * A project may start another fast send while it has less than this multiple of what is free: one project gets at
	 * most 192.
	 */
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
	events: 256,
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
	/** Releases that may wait for rows locked by another session. Other leases are left to expire. */
	releasesWaiting: 16,
	/** The longest pause of a project whose outcomes storage keeps rejecting, milliseconds. */
	longestRestMs: 3_600_000,
} as const;

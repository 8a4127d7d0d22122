import { callUrl } from "./client.ts";
import { holdUntil } from "./gate.ts";
import { HINTED, type Hint } from "./keys.ts";

/** How long a page waits for its stream to open before it fetches data anyway, in milliseconds. */
const OPENING_MS = 1_500;

const HINTS = Object.keys(HINTED) as Hint[];

/** What a listener learns from a stream. */
export interface StreamEvents {
	/** Called once the stream is open. @param at when it opened, by `performance.now()` */
	readonly onOpen: (at: number) => void;
	readonly onHint: (hint: Hint) => void;
	/** Called once, when the stream can't be opened or breaks. It's closed by then. */
	readonly onLost: () => void;
}

interface Stream {
	readonly projectId: string;
	/** Passes on what happened so far, and then everything that follows. */
	readonly listen: (events: StreamEvents) => void;
	/** Resolves when it has opened or is lost. */
	readonly settled: Promise<void>;
	readonly close: () => void;
}

/** Opens a project's stream of hints (`GET …/changes`). */
function openStream(projectId: string): Stream {
	const source = new EventSource(callUrl("/v1/projects/{project_id}/changes", { path: { project_id: projectId } }));
	const missed = new Set<Hint>();
	let events: StreamEvents | null = null;
	let openedAt: number | null = null;
	let isLost = false;
	const settled = Promise.withResolvers<void>();
	source.addEventListener("open", () => {
		openedAt = performance.now();
		settled.resolve();
		events?.onOpen(openedAt);
	});
	source.addEventListener("error", () => {
		// After a response other than 200 a browser gives up for good, so it never reconnects on its own here.
		source.close();
		isLost = true;
		settled.resolve();
		events?.onLost();
	});
	for (const hint of HINTS) {
		source.addEventListener(hint, () => {
			if (events === null) missed.add(hint);
			else events.onHint(hint);
		});
	}
	return {
		projectId,
		settled: settled.promise,
		listen(listener) {
			events = listener;
			if (openedAt !== null) listener.onOpen(openedAt);
			for (const hint of missed) listener.onHint(hint);
			if (isLost) listener.onLost();
		},
		close() {
			events = null;
			source.close();
			settled.resolve();
		},
	};
}

/** The stream that was opened before its page. */
let early: Stream | null = null;
/** The project that was entered last. */
let entered: string | null = null;

/**
 * Opens a project's stream while its first page still loads. Its data is fetched once the stream is open, so that it
 * needn't be fetched again. Does nothing on the project's other pages, and in a hidden tab, which has no stream.
 */
export function openEarly(projectId: string): void {
	if (entered === projectId || document.visibilityState === "hidden") return;
	entered = projectId;
	closeEarly();
	early = openStream(projectId);
	holdUntil(early.settled, OPENING_MS);
}

/** Closes the stream that was opened early, if nothing listens to it yet: the tab may have been hidden meanwhile. */
export function closeEarly(): void {
	early?.close();
	early = null;
}

/** Listens to a project's hints, on the stream that was opened early if there is one. Returns how to stop. */
export function listenToHints(projectId: string, events: StreamEvents): () => void {
	const isEarly = early?.projectId === projectId;
	const stream = isEarly && early !== null ? early : openStream(projectId);
	if (isEarly) early = null;
	entered = projectId;
	stream.listen(events);
	return () => stream.close();
}

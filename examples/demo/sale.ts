import type { Api, Attempt } from "./api.ts";
import type { Feed } from "./feed.ts";
import { followAttempts } from "./follower.ts";
import type { Options } from "./options.ts";
import { pause, startPublishing } from "./publishing.ts";
import type { Receivers } from "./receivers.ts";
import { openStore } from "./store.ts";
import { isSettled, type Tally } from "./totals.ts";

const POLL_EVERY_MS = 300;
/** How long to wait for the last log entries at a stop, in addition to the timeout of an attempt. */
const COMMIT_ALLOWANCE_MS = 2_000;

/** How long after an attempt its event may become known. */
const NEWS_ALLOWANCE_MS = 10_000;

export interface Sale {
	readonly options: Options;
	readonly feed: Feed;
	readonly tally: Tally;
	readonly receivers: Receivers;
	readonly api: Api;
	readonly project: { readonly id: string };
	/** Seconds that an attempt may take. */
	readonly attemptTimeout: number;
	readonly maxAttempts: number;
	/** Aborts when the user stops the demonstration. */
	readonly stopping: AbortSignal;
	/** Aborts when the service dies. */
	readonly over: AbortSignal;
}

/** Publishes until told to stop, and shows the delivery log until all deliveries are settled. */
export async function sell(sale: Sale): Promise<void> {
	const { options, feed, tally, receivers, api, project, attemptTimeout, maxAttempts, stopping, over } = sale;
	const closed = new AbortController();
	const closeStore = (): void => closed.abort();
	const timer = Number.isFinite(options.seconds) ? setTimeout(closeStore, options.seconds * 1000) : undefined;
	const follower = followAttempts(api, project.id, attemptTimeout);
	const publishing = startPublishing({
		api,
		projectId: project.id,
		store: openStore(options.seed, options.speed),
		limit: options.events,
		stopping: AbortSignal.any([stopping, over]),
		closed: closed.signal,
		onPublished(event, summary, calledAt) {
			tally.published(event, calledAt);
			feed.published(event, summary);
		},
	});
	/** Attempts whose events aren't known yet. */
	const early: Attempt[] = [];
	let storeIsOpen = true;
	const publishingDone = publishing.done.then(() => {
		storeIsOpen = false;
		if (!stopping.aborted && !over.aborted) feed.say("\nThe store is closed; waiting for pending deliveries.\n");
	});

	const follow = async (): Promise<void> => {
		while (!over.aborted) {
			await showNewAttempts();
			if (!storeIsOpen && (isSettled(tally.totals()) || stopping.aborted)) break;
			await pause(POLL_EVERY_MS, AbortSignal.any([over, stopping]));
		}
		const drainedBy = Date.now() + attemptTimeout * 1000 + COMMIT_ALLOWANCE_MS;
		while (tally.totals().waiting > 0 && Date.now() < drainedBy && !over.aborted) {
			await pause(POLL_EVERY_MS, over);
			await showNewAttempts();
		}
	};
	try {
		await Promise.all([publishingDone, follow()]);
	} finally {
		clearTimeout(timer);
	}

	/** An abandoned basket's event becomes known by polling, and its delivery may be faster. */
	function isEarly({ event_id, event_type, started_at }: Attempt): boolean {
		const isUnknownBasket = event_type === "basket.abandoned" && tally.seqOf(event_id) === null;
		return isUnknownBasket && Date.parse(started_at) > Date.now() - NEWS_ALLOWANCE_MS;
	}

	async function showNewAttempts(): Promise<void> {
		const attempts = [...early.splice(0), ...(await follower.poll())];
		await publishing.answered();
		for (const attempt of attempts) {
			if (isEarly(attempt)) {
				early.push(attempt);
				continue;
			}
			tally.attempted(attempt);
			feed.attempted(attempt, {
				webhookName: receivers.nameOf(attempt.webhook_id) ?? attempt.webhook_id,
				seq: tally.seqOf(attempt.event_id),
				maxAttempts,
				verdict: receivers.takeVerdict(attempt),
			});
		}
		feed.totals(tally.totals());
	}
}

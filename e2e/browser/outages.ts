import { join } from "node:path";
import { EVENT_TYPES } from "@posthorn/protocol";
import { type PastAttempt, writePast } from "../past.ts";
import type { Dashboard } from "./dashboard.ts";

const MINUTE_MS = 60_000;
/** Delays between attempts, minutes. */
const WAITS = [0.5, 1, 2, 5, 10, 30, 60];
const OK: PastAttempt = { statusCode: 200, responseMs: 40 };
const DOWN: PastAttempt = { statusCode: 500, responseMs: 90, body: "the database is read-only" };

/** An event's attempts at a receiver that was down between two times in the recent past. */
function attemptsAcross(minutesAgo: number, from: number, until: number): PastAttempt[] {
	const attempts: PastAttempt[] = [];
	let ago = minutesAgo;
	for (const wait of [...WAITS, 0]) {
		if (ago > from || ago <= until) return [...attempts, OK];
		attempts.push(DOWN);
		if (ago - wait <= 0.5) return attempts.with(-1, { ...DOWN, retryAt: Date.now() + 30 * MINUTE_MS });
		ago -= wait;
	}
	return attempts;
}

/**
 * Three webhooks with an hour and a half of history: one that was down, one that is, and one that is flaky.
 *
 * @param alsoDown how many more are down
 */
export async function furnishOutages({ shop }: Dashboard, alsoDown = 0) {
	const events = EVENT_TYPES.map(({ type }) => type);
	const receiver = await shop.receiver();
	const add = async (description: string) => {
		const url = receiver.url(`/${description.toLowerCase()}`);
		return { id: (await shop.webhook(url, { description, events })).id, url, events };
	};
	const [accounting, shipping, chat] = [await add("Accounting"), await add("Shipping"), await add("Chat")];
	const others = [];
	for (let n = 1; n <= alsoDown; n++) others.push(await add(`Other${n}`));
	const now = Date.now();
	const minutesAgo = (at: number) => (now - at) / MINUTE_MS;
	await shop.service.stop();
	await writePast({
		path: join(shop.folder, "posthorn.db"),
		projectId: shop.projectId,
		webhooks: [
			{ ...accounting, attemptsOf: (_, at) => attemptsAcross(minutesAgo(at), 70, 50) },
			{ ...shipping, attemptsOf: (_, at) => attemptsAcross(minutesAgo(at), 14, 0) },
			...others.map((other) => ({
				...other,
				attemptsOf: (_: number, at: number) => attemptsAcross(minutesAgo(at), 14, 0),
			})),
			{ ...chat, attemptsOf: (n) => (n % 5 === 0 ? [DOWN, OK] : [OK]) },
		],
		times: Array.from({ length: 90 }, (_, i) => now - (92 - i) * MINUTE_MS),
	});
	await shop.start();
	return { receiver, accounting, shipping, chat };
}

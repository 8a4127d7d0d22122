/**
 * How many earlier events of the log hadn't arrived when an event first did: the maximum over all events. Less than
 * `max_in_flight` for a webhook whose first attempts are in order.
 *
 * @param arrivals ids in order of arrival, including all of the log's
 * @param log ids in log order
 */
export function mostOvertaken(arrivals: Iterable<string>, log: Iterable<string>): number {
	const place = new Map([...log].map((id, i) => [id, i]));
	let most = 0;
	let arrived = 0;
	const early = new Set<number>();
	for (const id of new Set(arrivals)) {
		const at = place.get(id);
		if (at === undefined) throw new Error(`${id} is not in the log`);
		early.add(at);
		// Everything before `arrived` has arrived.
		while (early.delete(arrived)) arrived += 1;
		let before = 0;
		for (const each of early) if (each < at) before += 1;
		most = Math.max(most, at - arrived - before);
	}
	return most;
}

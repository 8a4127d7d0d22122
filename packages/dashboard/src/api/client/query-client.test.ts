import { QueryObserver } from "@tanstack/react-query";
import { afterEach, expect, test } from "vitest";
import { until } from "../../../../testkit/src/until.ts";
import { ExactQueryClient } from "./query-client.ts";

const QUERY = ["project", "p1", "attempts"];
const client = new ExactQueryClient();
afterEach(() => client.clear());

/** Requests of a query that are answered by hand. */
function requests() {
	const open: PromiseWithResolvers<number>[] = [];
	const queryFn = () => {
		const request = Promise.withResolvers<number>();
		open.push(request);
		return request.promise;
	};
	return { open, options: { queryKey: QUERY, queryFn, staleTime: 15_000 } };
}

const settled = () => until("all requests to end", () => client.isFetching() === 0);

// A page that loaded while an attempt failed kept showing it as retrying: the hint came during the page's first request.
test("a first request that is invalidated on its way is made again", async () => {
	const { open, options } = requests();
	const stop = new QueryObserver(client, options).subscribe(() => {});
	void client.invalidateQueries({ queryKey: ["project"] });
	open[0]?.resolve(1);
	await until("the second request", () => open.length === 2);
	open[1]?.resolve(2);
	await settled();
	expect(client.getQueryData(QUERY)).toBe(2);
	expect(open).toHaveLength(2);
	stop();
});

test("a request ahead of its page that is invalidated on its way isn't fresh", async () => {
	const { open, options } = requests();
	const ahead = client.prefetchQuery(options);
	await client.invalidateQueries({ queryKey: QUERY });
	open[0]?.resolve(1);
	await ahead;
	const stop = new QueryObserver(client, options).subscribe(() => {});
	await until("the second request", () => open.length === 2);
	open[1]?.resolve(2);
	await settled();
	expect(client.getQueryData(QUERY)).toBe(2);
	stop();
});

test("a later request that is invalidated on its way is replaced", async () => {
	const { open, options } = requests();
	client.setQueryData(QUERY, 0, { updatedAt: 0 });
	const stop = new QueryObserver(client, options).subscribe(() => {});
	void client.invalidateQueries({ queryKey: QUERY });
	expect(open).toHaveLength(2);
	open[1]?.resolve(2);
	open[0]?.resolve(1);
	await settled();
	expect(client.getQueryData(QUERY)).toBe(2);
	expect(open).toHaveLength(2);
	stop();
});

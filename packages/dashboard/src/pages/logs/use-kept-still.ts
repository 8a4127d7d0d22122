import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

/** Whether a list has rows that someone may be reading: an empty one never keeps still. */
export const hasRows = (
	list: { readonly pages: readonly { readonly data: readonly unknown[] }[] } | undefined,
): boolean => list?.pages.some(({ data }) => data.length > 0) ?? false;

/** When a list starts to keep still, drops a refetch that is on its way: its rows would move under the pointer. */
export function useKeptStill(queryKey: QueryKey, still: boolean): void {
	const queryClient = useQueryClient();
	const key = JSON.stringify(queryKey);
	useEffect(() => {
		const query = still ? queryClient.getQueryCache().find({ queryKey: JSON.parse(key), exact: true }) : undefined;
		// The first load and older pages don't move what is shown.
		if (query?.state.data === undefined || query.state.fetchMeta?.fetchMore) return;
		void query.cancel({ revert: true, silent: true });
	}, [queryClient, key, still]);
}

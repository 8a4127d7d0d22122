interface Page<T> {
	readonly data: readonly T[];
	readonly next_cursor: string | null;
}

/** Everything in a list that the service returns page by page. `query` has the next page's cursor, if any. */
export async function allOf<T>(
	read: (query: { readonly limit: number; readonly cursor?: string }) => Promise<{ readonly data?: Page<T> }>,
	limit = 200,
): Promise<T[]> {
	const found: T[] = [];
	let cursor: string | null = null;
	do {
		const { data }: { readonly data?: Page<T> } = await read({ limit, ...(cursor !== null && { cursor }) });
		found.push(...data!.data);
		cursor = data!.next_cursor;
	} while (cursor !== null);
	return found;
}

import { Button, Center } from "@mantine/core";

interface LoadMoreProps {
	hasMore: boolean;
	loading: boolean;
	onMore: () => unknown;
	/** "Show older entries". */
	label?: string;
}

/** The next page of a list, on demand. */
export function LoadMore({ hasMore, loading, onMore, label = "Show more" }: LoadMoreProps) {
	if (!hasMore) return null;
	return (
		<Center py="md">
			<Button variant="default" size="sm" loading={loading} onClick={() => void onMore()}>
				{label}
			</Button>
		</Center>
	);
}

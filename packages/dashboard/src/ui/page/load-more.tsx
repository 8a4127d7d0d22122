import { Button, Center } from "@mantine/core";
import { useIntersection } from "@mantine/hooks";
import { useEffect, useState } from "react";

interface LoadMoreProps {
	hasMore: boolean;
	loading: boolean;
	onMore: () => unknown;
	/** "Show older entries". */
	label?: string;
}

/** The next page of a list on demand, and from then on as one scrolls. */
export function LoadMore({ hasMore, loading, onMore, label = "Show more" }: LoadMoreProps) {
	const [wanted, setWanted] = useState(false);
	const { ref, entry } = useIntersection({ rootMargin: "1200px" });
	const isNear = entry?.isIntersecting === true;
	useEffect(() => {
		if (wanted && isNear && hasMore && !loading) void onMore();
	}, [wanted, isNear, hasMore, loading, onMore]);
	if (!hasMore) return null;
	return (
		<Center py="md" ref={ref}>
			<Button
				variant="default"
				size="sm"
				loading={loading}
				onClick={() => {
					setWanted(true);
					void onMore();
				}}
			>
				{label}
			</Button>
		</Center>
	);
}

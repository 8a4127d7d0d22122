import { Button, Center } from "@mantine/core";
import { useIntersection } from "@mantine/hooks";
import { useEffect, useState } from "react";
import { ErrorState } from "./states.tsx";

interface LoadMoreProps {
	hasMore: boolean;
	loading: boolean;
	/** Why the next page couldn't be loaded; null unless that was tried last. */
	error: unknown;
	onMore: () => unknown;
	/** "Show older entries". */
	label?: string;
}

/** The next page of a list on demand, and from then on as one scrolls. */
export function LoadMore({ hasMore, loading, error, onMore, label = "Show more" }: LoadMoreProps) {
	const [wanted, setWanted] = useState(false);
	const { ref, entry } = useIntersection({ rootMargin: "1200px" });
	const isNear = entry?.isIntersecting === true;
	useEffect(() => {
		if (wanted && isNear && hasMore && !loading && error === null) void onMore();
	}, [wanted, isNear, hasMore, loading, error, onMore]);
	if (!hasMore) return null;
	const hasFailed = error !== null && !loading;
	return (
		<>
			{hasFailed ? <ErrorState error={error} /> : null}
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
					{hasFailed ? "Try again" : label}
				</Button>
			</Center>
		</>
	);
}

import { Badge } from "@mantine/core";

/** Marks what belongs to a test event. */
export const TestMark = () => (
	<Badge
		size="xs"
		variant="default"
		tt="none"
		flex="none"
		title="A test event: a sample that someone sent to this webhook"
	>
		Test
	</Badge>
);

import { Badge } from "@mantine/core";

/** What the ids of events begin with that people publish as samples. */
const SAMPLE_PREFIX = "evt_sample_";

interface EventMarkProps {
	event: { readonly event_id: string; readonly test: boolean };
}

/** Marks what belongs to a test event or a sample. */
export function EventMark({ event: { event_id, test } }: EventMarkProps) {
	if (test) return <Mark word="Test" title="A test event: a sample that someone sent to this webhook" />;
	if (!event_id.startsWith(SAMPLE_PREFIX)) return null;
	return <Mark word="Sample" title="A sample event that someone published to try out the project" />;
}

const Mark = ({ word, title }: { word: string; title: string }) => (
	<Badge size="xs" variant="default" tt="none" flex="none" title={title}>
		{word}
	</Badge>
);

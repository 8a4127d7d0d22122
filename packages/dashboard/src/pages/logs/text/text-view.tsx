import { Button, Group, Loader, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useProjectId } from "../../../api/session.ts";
import { inertText } from "../../../lib/text/inert-text.ts";
import { isolated } from "../../../lib/text/names.ts";
import { formatCount, plural } from "../../../lib/text/numbers.ts";
import { shortTime } from "../../../lib/text/time.ts";
import { useNow } from "../../../ui/hooks/use-now.ts";
import { Page, PageHeader, Section } from "../../../ui/page/page.tsx";
import { ErrorState } from "../../../ui/page/states.tsx";
import classes from "../filters/log-filters.module.css";
import { SearchField } from "../filters/search-field.tsx";
import type { LogsSearch } from "../search.ts";
import { EventList } from "./event-list.tsx";
import { type TextSearch, useTextSearch } from "./use-text-search.ts";

/** Events with a text in their bodies or in responses to them, found step by step, newest first. */
export function TextView({ text }: { text: string }) {
	const projectId = useProjectId();
	const navigate = useNavigate();
	const result = useTextSearch(projectId, text);
	const { state, found, error, stop, resume } = result;
	const show = (search: LogsSearch) =>
		void navigate({ to: "/p/$projectId/logs", params: { projectId }, search, resetScroll: false });
	return (
		<Page>
			<PageHeader title="Logs">
				“{isolated(inertText(text))}” in events and in responses (the first 1,024 bytes), newest first.
			</PageHeader>
			<search className={classes.filters} aria-label="Filters">
				<SearchField
					search={{}}
					onChange={show}
					onOpenAttempt={(attemptId) =>
						void navigate({ to: "/p/$projectId/logs/$attemptId", params: { projectId, attemptId } })
					}
				/>
				<Button variant="subtle" onClick={() => show({})}>
					Back to the deliveries
				</Button>
			</search>
			<Group gap="sm" mih={36}>
				{state === "searching" ? <Loader size={16} aria-hidden /> : null}
				<Text size="sm" c="dimmed" role="status">
					<Progress {...result} />
				</Text>
				{state === "searching" ? (
					<Button size="compact-sm" variant="default" onClick={stop}>
						Stop
					</Button>
				) : state === "stopped" ? (
					<Button size="compact-sm" variant="default" onClick={resume}>
						Search older events
					</Button>
				) : null}
			</Group>
			{error === null ? null : <ErrorState error={error} onRetry={resume} />}
			{found.length === 0 ? null : (
				<Section flush>
					<EventList events={found} label="Events" />
				</Section>
			)}
		</Page>
	);
}

/** How far the search has come. */
function Progress({ state, found, events, responses, backTo }: TextSearch) {
	const now = useNow(0);
	const read = `${plural(events, "event")} and ${plural(responses, "response")}`;
	const count = `${found.length === 0 ? "none" : formatCount(found.length)} found`;
	if (state === "over") return `Searched the whole log, ${read}: ${count}.`;
	const reached = backTo === null ? "" : `, back to ${shortTime(Date.parse(backTo), now)}`;
	return `${state === "searching" ? "Searching" : "Searched"} the newest ${read}${reached}: ${count}${state === "searching" ? " so far" : ""}.`;
}

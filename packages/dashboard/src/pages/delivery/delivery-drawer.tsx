import { Skeleton, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useRouter } from "@tanstack/react-router";
import { use, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useProjectId, useSession } from "../../api/session.ts";
import { webhooksQuery } from "../../api/webhooks.ts";
import { headline } from "../../lib/attempts/attempt-words.ts";
import { deliveryWords, eventWords } from "../../lib/attempts/event-words.ts";
import { referencesOf } from "../../lib/attempts/references.ts";
import { seriesLength } from "../../lib/attempts/track.ts";
import { holdOf } from "../../lib/health/health-facts.ts";
import { webhookName } from "../../lib/health/webhook-name.ts";
import { stepIndex } from "../../lib/keyboard.ts";
import { Breakable } from "../../ui/breakable.tsx";
import { EventMark } from "../../ui/deliveries/event-mark.tsx";
import { Outcome } from "../../ui/deliveries/outcome.tsx";
import { Drawer, plainHeader } from "../../ui/drawer.tsx";
import { focusPage } from "../../ui/focus-page.ts";
import { useShortcuts } from "../../ui/hooks/use-shortcuts.ts";
import { useBeside } from "../../ui/hooks/use-width.ts";
import { ErrorState } from "../../ui/page/states.tsx";
import { SaidOnChange } from "../../ui/said-once.tsx";
import { copyCurl } from "../logs/actions/copy-curl.ts";
import { LogContext } from "../logs/log-context.ts";
import { useLogsSearch } from "../logs/use-logs-search.ts";
import classes from "./delivery.module.css";
import { stateOf } from "./delivery-state.ts";
import { DeliveryView } from "./delivery-view.tsx";
import { byPosition, type Position, useDelivery } from "./use-delivery.ts";
import { useReplay } from "./use-replay.tsx";
import { useTitleWhile } from "./use-title-while.ts";

const DELIVERY = "/p/$projectId/logs/$attemptId";
/** The attempt's id in the address of a delivery; null in another one. */
const idIn = (pathname: string) => /\/logs\/([^/]+)$/.exec(pathname)?.[1] ?? null;

/** A delivery next to the list: its progress, what went wrong, and each request and response. */
export function DeliveryDrawer() {
	const projectId = useProjectId();
	const search = useLogsSearch();
	const { attemptId } = useParams({ from: "/signed-in/p/$projectId/developer/logs/$attemptId" });
	const navigate = useNavigate();
	const router = useRouter();
	const { rows, loadMore } = use(LogContext);
	const row = rows.find(({ id }) => id === attemptId);
	// After a replay or a retry, the last attempt before it: the next one is opened as soon as it's made.
	const [awaited, setAwaited] = useState<{ attemptId: string; after: Position } | null>(null);
	const isAwaited = awaited?.attemptId === attemptId;
	if (awaited !== null && !isAwaited) setAwaited(null);
	const { attempt, delivery, attempts, error, retry } = useDelivery(projectId, attemptId, row, isAwaited);
	const { data: webhooks } = useQuery(webhooksQuery(projectId));
	const known = attempt ?? row;
	const webhook = webhooks === undefined ? undefined : (webhooks.find(({ id }) => id === known?.webhook_id) ?? null);
	const state = known === undefined ? null : stateOf(known, delivery, webhook == null ? null : holdOf(webhook));
	const name = webhook == null ? "the webhook" : webhookName(webhook);
	const awaitNext = () => {
		const last = attempts?.toSorted(byPosition).at(-1);
		if (last !== undefined) setAwaited({ attemptId, after: last });
	};
	const references = useMemo(() => referencesOf(attempt?.request_body ?? ""), [attempt]);
	const sent = known === undefined ? undefined : { ...known, order_id: references.order };
	const replay = useReplay({ projectId, delivery: sent, state, name, onSent: awaitNext });
	const plan = useSession();
	const place = known && `attempt ${known.attempt} of ${seriesLength(known, plan)}`;
	useTitleWhile(sent === undefined ? null : `${eventWords(sent)}, ${place}`);
	// In one sentence, because what it consists of changes in many places.
	const summary =
		attempt === undefined || sent === undefined || state === null || webhook === undefined
			? null
			: `${deliveryWords(sent, name)}, ${place}: ${state.word}. ${headline(attempt)}.`;

	const close = () => void navigate({ to: "/p/$projectId/logs", params: { projectId }, search, resetScroll: false });
	const show = useCallback(
		(id: string) =>
			void navigate({
				to: DELIVERY,
				params: { projectId, attemptId: id },
				search,
				replace: true,
				resetScroll: false,
			}),
		[navigate, projectId, search],
	);
	const made = isAwaited ? attempts?.find((one) => byPosition(one, awaited.after) > 0) : undefined;
	useEffect(() => {
		// The next delivery may be about to be shown, or the drawer about to close.
		if (made !== undefined && idIn(router.latestLocation.pathname) === attemptId) show(made.id);
	}, [made, show, router, attemptId]);
	const step = (by: 1 | -1) => {
		// The next delivery may be about to be shown, or the drawer about to close.
		const id = idIn(router.latestLocation.pathname);
		if (id === null) return;
		const from = rows.findIndex((one) => one.id === id);
		const to = rows[stepIndex(from === -1 ? null : from, by, rows.length) ?? -1];
		if (from === rows.length - 1 && by === 1) loadMore();
		if (to !== undefined && to.id !== id) show(to.id);
	};
	useShortcuts(
		{ j: () => step(1), k: () => step(-1), r: replay.ask, c: () => void copyCurl(projectId, attemptId) },
		{ inDrawers: true },
	);

	const beside = useBeside();
	const inside = useRef<HTMLSpanElement>(null);
	// A row that was clicked next to it has the focus.
	const opened = useRef(attemptId);
	useEffect(() => {
		if (opened.current === attemptId) return;
		opened.current = attemptId;
		const dialog = inside.current?.closest<HTMLElement>("[role=dialog]");
		if (dialog?.contains(document.activeElement) === false) dialog.focus({ preventScroll: true });
	}, [attemptId]);

	// The focused element may be gone, such as a button of the previous delivery. A dialog above returns the focus first.
	useEffect(() => {
		if (document.activeElement !== document.body) return;
		const frame = requestAnimationFrame(() => {
			if (document.activeElement !== document.body) return;
			inside.current?.closest<HTMLElement>("[role=dialog]")?.focus({ preventScroll: true });
		});
		return () => cancelAnimationFrame(frame);
	});

	// The list returns the focus to the row; without one, it goes to the page.
	useEffect(() => () => void focusPage(), []);

	return (
		<Drawer
			opened
			onClose={close}
			size="min(880px, 100vw)"
			padding="lg"
			// On wide windows the list next to it can be scrolled and opens other rows. Elsewhere it only stays readable.
			withOverlay={!beside}
			lockScroll={!beside}
			overlayProps={{ backgroundOpacity: 0.12 }}
			classNames={{ content: classes.content, title: classes.title, header: classes.header }}
			// It describes the dialog, of which screen readers would otherwise read everything when it opens.
			attributes={{ ...plainHeader, body: { role: "group", "aria-label": summary ?? "Delivery" } }}
			title={
				<>
					<span className={classes.type} ref={inside}>
						<Breakable name={known?.event_type ?? "Delivery"} />
					</span>
					{known === undefined ? null : <EventMark event={known} />}
					{state === null ? null : <Outcome kind={state.outcome} label={state.word} />}
				</>
			}
		>
			<SaidOnChange of={attemptId}>{summary}</SaidOnChange>
			{error !== null ? (
				<ErrorState error={error} onRetry={retry} />
			) : attempt === undefined || delivery === undefined || attempts === undefined || state === null ? (
				<Loading />
			) : (
				<DeliveryView
					projectId={projectId}
					attempt={attempt}
					references={references}
					attempts={attempts}
					delivery={delivery}
					state={state}
					webhook={webhook}
					search={search}
					onReplay={replay.ask}
					onRetried={awaitNext}
				/>
			)}
			{replay.dialog}
		</Drawer>
	);
}

/** The same size as the content. */
const Loading = () => (
	<Stack gap="lg" role="status" aria-busy aria-label="Loading the delivery">
		<Skeleton height={16} width="60%" />
		<Skeleton height={118} />
		<Skeleton height={150} />
		<Skeleton height={320} />
	</Stack>
);

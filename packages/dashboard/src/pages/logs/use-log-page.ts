import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useRouter } from "@tanstack/react-router";
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { useProjectId, useRole } from "../../api/session.ts";
import { type DeletedWebhook, deletedWebhooksQuery, type Webhook, webhooksQuery } from "../../api/webhooks.ts";
import { holdOf } from "../../lib/health/health-facts.ts";
import { deletedName, webhookName } from "../../lib/health/webhook-name.ts";
import { useAttention } from "../../ui/hooks/use-attention.ts";
import { useBeside, useNarrow } from "../../ui/hooks/use-width.ts";
import type { AttemptPlaces } from "./attempts/attempt-link.tsx";
import type { NameOf } from "./filters/filter-words.ts";
import type { LogsSearch } from "./search.ts";
import type { SendState } from "./sendable.ts";
import { useLogsSearch } from "./use-logs-search.ts";
import { useSelection } from "./use-selection.ts";

/** If scrolled further than this, in pixels, the list pauses. */
const AT_TOP = 200;
/** How long the pointer stays on a row before its drawer is loaded, milliseconds; as for the router's own links. */
const INTENT_MS = 50;
/** How long the list has to itself before the drawer's code is loaded, milliseconds. */
const IDLE_MS = 1_000;
const DRAWER = "/signed-in/p/$projectId/developer/logs/$attemptId";
/** Stands for an attempt's id in an address. */
const SAMPLE = "att_sample";

function onScroll(listener: () => void): () => void {
	window.addEventListener("scroll", listener, { passive: true });
	return () => window.removeEventListener("scroll", listener);
}

/** What the views of the log have in common: their filters, the drawer, the selection, and whether someone reads. */
export function useLogPage() {
	const projectId = useProjectId();
	const search = useLogsSearch();
	const { attemptId = null } = useParams({ strict: false });
	const navigate = useNavigate();
	const router = useRouter();
	const { may } = useRole();
	const narrow = useNarrow();
	const scrolled = useSyncExternalStore(onScroll, () => window.scrollY > AT_TOP);
	const { data: webhooks } = useQuery(webhooksQuery(projectId));
	const { data: deleted } = useQuery(deletedWebhooksQuery(projectId));
	const selection = useSelection(JSON.stringify(search));
	const attention = useAttention();
	const beside = useBeside();
	const places = useMemo((): AttemptPlaces => {
		const placeOf = (attemptId: string) => ({
			to: "/p/$projectId/logs/$attemptId" as const,
			params: { projectId, attemptId },
			search,
		});
		// The path comes before the filters, so the first one is the attempt's.
		const sample = router.buildLocation(placeOf(SAMPLE)).href;
		let preload: ReturnType<typeof setTimeout> | undefined;
		return {
			hrefOf: (id) => sample.replace(SAMPLE, id),
			open: (id) => void navigate({ ...placeOf(id), resetScroll: false }),
			preload: (id) => {
				clearTimeout(preload);
				preload = setTimeout(() => void router.preloadRoute(placeOf(id)).catch(() => {}), INTENT_MS);
			},
		};
	}, [router, navigate, projectId, search]);
	useEffect(() => {
		// So that a drawer also opens offline. If it can't be loaded, it's loaded when one opens, and that says why not.
		const route = router.routesById[DRAWER];
		const timer = setTimeout(() => void (route && router.loadRouteChunk(route)?.catch(() => {})), IDLE_MS);
		return () => clearTimeout(timer);
	}, [router]);
	return {
		projectId,
		search,
		attemptId,
		may,
		narrow,
		webhooks,
		deleted,
		selection,
		attention,
		// An open drawer covers the list, unless there is room for both.
		isRead: scrolled || (attention.isHeld && (beside || attemptId === null)),
		filter: (next: LogsSearch) =>
			void navigate({ to: "/p/$projectId/logs", params: { projectId }, search: next, resetScroll: false }),
		places,
		open: places.open,
		/** Where an attempt opens in another tab; the current URL for null. */
		hrefOf: (id: string | null) => (id === null ? router.state.location.href : places.hrefOf(id)),
	};
}

/** Both undefined until they are loaded. */
interface KnownWebhooks {
	readonly webhooks: readonly Webhook[] | undefined;
	readonly deleted: readonly DeletedWebhook[] | undefined;
}

/** Names webhooks; deleted ones by the host in a row, which `urlOf` finds, until their names are known. */
export function useNames({ webhooks, deleted }: KnownWebhooks, urlOf: (webhookId: string) => string | undefined) {
	return useMemo(() => {
		const byId = new Map(webhooks?.map((webhook) => [webhook.id, webhook]));
		const deletedById = new Map(deleted?.map((webhook) => [webhook.id, webhook]));
		const nameOf: NameOf = (id) => {
			const webhook = byId.get(id);
			if (webhook !== undefined) return webhookName(webhook);
			return webhooks === undefined ? "…" : deletedName(deletedById.get(id), urlOf(id));
		};
		const stateOf = (id: string): SendState => {
			const webhook = byId.get(id);
			if (webhook !== undefined) return holdOf(webhook) ?? "active";
			return webhooks === undefined ? "unknown" : "deleted";
		};
		return { nameOf, stateOf };
	}, [webhooks, deleted, urlOf]);
}

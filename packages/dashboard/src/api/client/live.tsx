import type { Query } from "@tanstack/react-query";
import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { refreshSession } from "../session-cache.ts";
import { closeEarly, listenToHints } from "./hint-stream.ts";
import { HINTED, type Resource } from "./keys.ts";
import { Pace } from "./pace.ts";
import { queryClient } from "./query-client.ts";

/** Delays before reconnecting, in milliseconds; the last one repeats. */
const RECONNECT_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000] as const;
/** How often pages refetch while there is no connection, in milliseconds. */
export const POLL_MS = 10_000;
/**
 * How long a hidden page keeps its connection, in milliseconds. Over HTTP/1.1 a browser has six connections to a service
 * for all of its tabs, so that with six streams no further request would begin.
 */
const HIDDEN_MS = 10_000;

/** `off` without the Developer app, which is all that changes live. */
type LiveState = "live" | "connecting" | "lost" | "paused" | "off";

export interface Live {
	readonly state: LiveState;
	/** When the connection was lost, milliseconds since 1970; null unless it is. */
	readonly lostAt: number | null;
	readonly pause: () => void;
	/** Resumes, or reconnects immediately. */
	readonly resume: () => void;
}

const LiveContext = createContext<Live>({ state: "off", lostAt: null, pause: () => {}, resume: () => {} });

/** Whether the project's pages update live, and how to pause and resume. */
export const useLive = (): Live => use(LiveContext);

const LIVE_RESOURCES = new Set<unknown>(Object.values(HINTED).flat());
const isLive = (resource: unknown) => LIVE_RESOURCES.has(resource);

interface LiveProviderProps {
	projectId: string;
	/** Whether there is anything to listen to. */
	enabled: boolean;
	children: ReactNode;
}

type Connection = { readonly state: "connecting" | "live" } | { readonly state: "lost"; readonly at: number };

/**
 * Listens for the project's changes while it is mounted and the page isn't hidden, and refetches the queries they affect.
 * It reconnects with growing delays, and refetches regularly until it has, including the session. Each new connection
 * refetches what was fetched before it, and what couldn't be fetched.
 */
export function LiveProvider({ projectId, enabled, children }: LiveProviderProps) {
	const [paused, setPaused] = useState(false);
	const reconnect = useRef(() => {});
	const [connection, setConnection] = useState<Connection>({ state: "connecting" });

	const refetch = useCallback(
		(isNeeded: (resource: unknown, query: Query) => boolean) =>
			queryClient.invalidateQueries({
				predicate: (query) => {
					const [scope, project, resource] = query.queryKey;
					return scope === "project" && project === projectId && isNeeded(resource, query);
				},
			}),
		[projectId],
	);

	useEffect(() => {
		if (paused || !enabled) return;
		const pace = new Pace<Resource>((hinted) => refetch((resource) => resource === hinted));
		let reconnecting: number | undefined;
		let polling: number | undefined;
		let hiding: number | undefined;
		/** Whether the page is hidden, and has no connection because of that. */
		let resting = document.visibilityState === "hidden";
		let failures = 0;
		let stop = () => {};

		const poll = () => {
			if (document.visibilityState === "visible") void refetch(isLive);
		};
		const connect = () => {
			window.clearTimeout(reconnecting);
			reconnecting = undefined;
			stop = listenToHints(projectId, {
				onOpen(at) {
					failures = 0;
					window.clearInterval(polling);
					polling = undefined;
					setConnection({ state: "live" });
					void refetch(
						(resource, query) =>
							(isLive(resource) && !queryClient.hasFetchedSince(query, at)) || query.state.status === "error",
					);
				},
				onHint(hint) {
					for (const resource of HINTED[hint]) pace.want(resource);
				},
				onLost: lose,
			});
		};
		const lose = () => {
			const delay = RECONNECT_MS[Math.min(failures++, RECONNECT_MS.length - 1)] ?? 0;
			// Not all tabs at the same moment after a restart.
			reconnecting = window.setTimeout(connect, delay * (0.75 + Math.random() / 2));
			polling ??= window.setInterval(poll, POLL_MS);
			setConnection((before) => (before.state === "lost" ? before : { state: "lost", at: Date.now() }));
			// The stream also ends with the session or the right to see the project, without saying so.
			void refreshSession();
		};
		// The stream itself may take minutes to notice.
		const leave = () => {
			if (reconnecting !== undefined || resting) return;
			stop();
			lose();
		};
		const rest = () => {
			resting = true;
			stop();
			for (const timer of [reconnecting, polling]) window.clearTimeout(timer);
			reconnecting = undefined;
			polling = undefined;
			setConnection((before) => (before.state === "lost" ? before : { state: "connecting" }));
		};
		const hurry = () => {
			if (reconnecting !== undefined && document.visibilityState === "visible") connect();
		};
		const turn = () => {
			window.clearTimeout(hiding);
			if (document.visibilityState === "hidden") {
				if (!resting) hiding = window.setTimeout(rest, HIDDEN_MS);
			} else if (resting) {
				resting = false;
				connect();
			} else {
				hurry();
			}
		};
		reconnect.current = hurry;
		if (resting) closeEarly();
		else connect();
		window.addEventListener("offline", leave);
		window.addEventListener("online", hurry);
		document.addEventListener("visibilitychange", turn);
		return () => {
			window.removeEventListener("offline", leave);
			window.removeEventListener("online", hurry);
			document.removeEventListener("visibilitychange", turn);
			for (const timer of [reconnecting, polling, hiding]) window.clearTimeout(timer);
			pace.stop();
			reconnect.current = () => {};
			stop();
			setConnection({ state: "connecting" });
		};
	}, [projectId, paused, enabled, refetch]);

	const pause = useCallback(() => setPaused(true), []);
	const resume = useCallback(() => {
		setPaused(false);
		reconnect.current();
	}, []);
	const state: LiveState = enabled ? (paused ? "paused" : connection.state) : "off";
	const lostAt = state === "lost" && connection.state === "lost" ? connection.at : null;
	const live = useMemo(() => ({ state, lostAt, pause, resume }), [state, lostAt, pause, resume]);
	return <LiveContext value={live}>{children}</LiveContext>;
}

import { useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useState } from "react";
import { callUrl } from "./client.ts";
import { HINTED, type Hint, projectKey } from "./keys.ts";

/** Hints are collected for this long, in milliseconds, so that pages refetch at most once a second. */
const GATHER_MS = 1_000;

export type LiveState = "live" | "connecting" | "paused";

export interface Live {
	readonly state: LiveState;
	readonly pause: () => void;
	readonly resume: () => void;
}

const LiveContext = createContext<Live>({ state: "paused", pause: () => {}, resume: () => {} });

/** Whether the project's pages update live, and how to pause and resume. */
export const useLive = (): Live => use(LiveContext);

/**
 * Listens for the project's changes while it is mounted, and refetches the queries they affect. The browser reconnects
 * after a lost connection. Each new connection refetches everything once, to catch up.
 */
export function LiveProvider({ projectId, children }: { projectId: string; children: ReactNode }) {
	const queryClient = useQueryClient();
	const [paused, setPaused] = useState(false);
	const [connected, setConnected] = useState(false);

	useEffect(() => {
		if (paused) return;
		const waiting = new Set<Hint>();
		let timer: number | undefined;
		const flush = () => {
			timer = undefined;
			const resources = new Set([...waiting].flatMap((hint) => HINTED[hint]));
			waiting.clear();
			for (const resource of resources) {
				void queryClient.invalidateQueries({ queryKey: projectKey(projectId, resource) });
			}
		};
		const hear = (hint: Hint) => {
			waiting.add(hint);
			timer ??= window.setTimeout(flush, GATHER_MS);
		};
		const source = new EventSource(callUrl("/v1/projects/{project_id}/changes", { path: { project_id: projectId } }));
		source.addEventListener("open", () => {
			setConnected(true);
			// Changes before the connection opened, even the first time, sent no hints.
			hear("attempts");
			hear("webhooks");
		});
		source.addEventListener("error", () => setConnected(false));
		source.addEventListener("attempts", () => hear("attempts"));
		source.addEventListener("webhooks", () => hear("webhooks"));
		return () => {
			source.close();
			window.clearTimeout(timer);
			setConnected(false);
		};
	}, [projectId, paused, queryClient]);

	const pause = useCallback(() => setPaused(true), []);
	const resume = useCallback(() => {
		setPaused(false);
		for (const resource of HINTED.attempts) {
			void queryClient.invalidateQueries({ queryKey: projectKey(projectId, resource) });
		}
	}, [projectId, queryClient]);
	const state: LiveState = paused ? "paused" : connected ? "live" : "connecting";
	const live = useMemo(() => ({ state, pause, resume }), [state, pause, resume]);
	return <LiveContext value={live}>{children}</LiveContext>;
}

import { useCallback, useEffect, useRef, useState } from "react";
import { type EventMatch, searchTexts } from "../../../api/events.ts";

/** A search through events' bodies and recorded responses, newest first, step by step. */
export interface TextSearch {
	readonly state: "searching" | "stopped" | "over";
	readonly found: readonly EventMatch[];
	/** How many events and responses were read, and back to when everything was. */
	readonly events: number;
	readonly responses: number;
	readonly backTo: string | null;
	readonly error: unknown;
	readonly stop: () => void;
	readonly resume: () => void;
}

interface Progress extends Omit<TextSearch, "stop" | "resume"> {
	readonly cursor: string | null;
}

const BEGIN: Progress = {
	state: "searching",
	found: [],
	events: 0,
	responses: 0,
	backTo: null,
	error: null,
	cursor: null,
};
/** Stops after this many further matches, until it is resumed. */
const MATCHES_AT_ONCE = 100;

/** Searches until it is stopped, everything was searched, or the component is gone. */
export function useTextSearch(projectId: string, text: string): TextSearch {
	const [progress, setProgress] = useState<Progress>(BEGIN);
	const running = useRef<AbortController | null>(null);
	const run = useCallback(
		async (from: Progress) => {
			const controller = new AbortController();
			running.current?.abort();
			running.current = controller;
			let now: Progress = { ...from, state: "searching", error: null };
			setProgress(now);
			try {
				do {
					const page = await searchTexts(projectId, text, now.cursor, controller.signal);
					if (controller.signal.aborted) return;
					now = {
						...now,
						found: [...now.found, ...page.data],
						events: now.events + page.events_searched,
						responses: now.responses + page.attempts_searched,
						backTo: page.searched_back_to ?? now.backTo,
						cursor: page.next_cursor,
						state: page.next_cursor === null ? "over" : "searching",
					};
					if (now.state === "searching" && now.found.length - from.found.length >= MATCHES_AT_ONCE)
						now = { ...now, state: "stopped" };
					setProgress(now);
				} while (now.state === "searching");
			} catch (error) {
				if (!controller.signal.aborted) setProgress({ ...now, state: "stopped", error });
			}
		},
		[projectId, text],
	);
	useEffect(() => {
		void run(BEGIN);
		return () => running.current?.abort();
	}, [run]);
	const stop = useCallback(() => {
		running.current?.abort();
		setProgress((now) => (now.state === "searching" ? { ...now, state: "stopped" } : now));
	}, []);
	return { ...progress, stop, resume: () => void run(progress) };
}

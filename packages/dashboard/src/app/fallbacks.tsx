import { Button, Center, Group, Loader, Stack, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { createContext, type ReactNode, use, useCallback, useEffect, useState } from "react";
import { ApiError, isUnavailable } from "../api/client/error.ts";
import { problemWords } from "../api/client/problem-words.ts";
import type { SessionProject } from "../api/model.ts";
import { forgetProject } from "../api/session-cache.ts";
import { MissingPart, reloadOnce } from "../lib/part.ts";
import { isolated } from "../lib/text/names.ts";
import { useOnline } from "../ui/hooks/use-online.ts";
import { ButtonLink } from "../ui/links.tsx";
import { Mark } from "../ui/logo.tsx";

/** Whether the shell is around a page. */
export const InShell = createContext(false);

function Fallback({ title, children, actions }: { title: string; children: ReactNode; actions: ReactNode }) {
	useDocumentTitle(`${title} · Posthorn`);
	// Within the shell, its main landmark is already around this.
	const isInside = use(InShell);
	return (
		<Center component={isInside ? "div" : "main"} mih="70dvh" p="lg">
			<Stack align="center" maw={460}>
				<Mark size={44} />
				<Title order={1} size="h3" ta="center">
					{title}
				</Title>
				<Text c="dimmed" ta="center" component="div">
					{children}
				</Text>
				<Group>{actions}</Group>
			</Stack>
		</Center>
	);
}

/** Nothing has this address, or the session may not see it. */
export function NotFoundPage() {
	return (
		<Fallback title="Page not found" actions={<ButtonLink to="/">Go to the start page</ButtonLink>}>
			The address may be wrong, the item may have been deleted, or it's in a project you're not a member of.
		</Fallback>
	);
}

/** The user was removed from the project while its pages were open. */
export function AccessEndedPage({ project: { id, name } }: { project: SessionProject }) {
	useEffect(() => forgetProject(id), [id]);
	return (
		<Fallback
			title={`You no longer have access to ${isolated(name)}`}
			actions={<ButtonLink to="/projects">Go to your projects</ButtonLink>}
		>
			You were removed from this project. To come back, ask one of its owners for an invitation.
		</Fallback>
	);
}

/** How often to check whether an unavailable service is back, in milliseconds. */
const RECHECK_MS = 5_000;
/** Responds whenever the service runs. */
const HEALTH = "/healthz";
/** Every page needs it. */
const SESSION = "/v1/session";

/**
 * A page crashed, or a part of it couldn't be loaded. Everything else is safe on the server. If the service is
 * unavailable, the page opens once it's back.
 */
export function CrashPage({ error, reset }: ErrorComponentProps) {
	const router = useRouter();
	const tryAgain = useCallback(() => {
		reset();
		// The error may come from a guard or a loader.
		void router.invalidate();
	}, [reset, router]);
	const isServiceDown = isUnavailable(error);
	useEffect(() => {
		if (isServiceDown) return whenReachable(SESSION, tryAgain);
	}, [isServiceDown, tryAgain]);
	if (error instanceof MissingPart) return <MissingPartPage />;
	const known = error instanceof ApiError;
	const words = problemWords(error);
	return (
		<Fallback
			title={known ? words.title : "Something broke on this page"}
			actions={
				<>
					<Button onClick={tryAgain}>Try again</Button>
					<Button variant="default" onClick={() => window.location.assign("/")}>
						Go to the start page
					</Button>
				</>
			}
		>
			{known
				? words.detail
				: "Something in the dashboard went wrong. Deliveries aren't affected. Try again, and if it keeps happening, report it with the message below."}
			{known ? null : (
				<Text component="code" ff="monospace" size="xs" display="block" mt="sm">
					{error instanceof Error ? error.message : String(error)}
				</Text>
			)}
		</Fallback>
	);
}

/**
 * A page's code couldn't be loaded. Once the service can be reached, one reload fetches the version that replaced it. A
 * reload without a connection would leave the browser's own error page.
 */
function MissingPartPage() {
	const online = useOnline();
	const [wasOffline] = useState(!online);
	const [state, setState] = useState<"loading" | "away" | "missing">("loading");
	const isAway = wasOffline || state === "away";
	useEffect(() => {
		if (!online) return;
		let isOver = false;
		const reload = () => window.location.reload();
		void isReachable(HEALTH).then((reachable) => {
			if (isOver) return;
			if (!reachable) setState("away");
			else if (isAway) reload();
			else if (!reloadOnce(Date.now())) setState("missing");
		});
		const stop = isAway ? whenReachable(HEALTH, reload) : undefined;
		return () => {
			isOver = true;
			stop?.();
		};
	}, [online, isAway]);
	if (!online) {
		return (
			<Fallback title="You're offline" actions={null}>
				This page isn't loaded yet. It opens once you're online again. Deliveries aren't affected.
			</Fallback>
		);
	}
	if (state === "loading") return <PendingPage />;
	return (
		<Fallback
			title="This page couldn't be loaded"
			actions={<Button onClick={() => window.location.reload()}>Reload</Button>}
		>
			{state === "away"
				? "The service can't be reached right now. The page opens once it's back."
				: "The dashboard may just have been upgraded. Deliveries aren't affected."}
		</Fallback>
	);
}

/** Calls `then` each time a regular check finds that this path responds. Returns a function that ends the checks. */
function whenReachable(path: string, then: () => void): () => void {
	// Each check ends the previous one: a service that hangs isn't back, and shouldn't get more and more requests.
	let check = new AbortController();
	const timer = setInterval(() => {
		check.abort();
		check = new AbortController();
		void isReachable(path, check.signal).then((reachable) => reachable && then());
	}, RECHECK_MS);
	return () => {
		clearInterval(timer);
		check.abort();
	};
}

/** @param signal ends the check, as if the service couldn't be reached */
const isReachable = (path: string, signal: AbortSignal | null = null): Promise<boolean> =>
	fetch(path, { cache: "no-store", signal }).then(
		// A service without a session for this user works, too.
		({ ok, status }) => ok || status === 401,
		() => false,
	);

export function PendingPage() {
	return (
		<Center mih="40dvh">
			<Loader type="dots" aria-label="Loading" />
		</Center>
	);
}

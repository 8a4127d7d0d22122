import { Button, Center, Group, Loader, Stack, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ApiError } from "../api/error.ts";
import { Mark } from "../ui/logo.tsx";

function Fallback({ title, children, actions }: { title: string; children: ReactNode; actions: ReactNode }) {
	useDocumentTitle(`${title} · Posthorn`);
	return (
		<Center component="main" mih="70dvh" p="lg">
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
		<Fallback
			title="Page not found"
			actions={
				<Button component={Link} to="/">
					Go to the start page
				</Button>
			}
		>
			The address may be wrong, the item may have been deleted, or it's in a project you're not a member of.
		</Fallback>
	);
}

/** A page crashed. Everything else is safe on the server. */
export function CrashPage({ error, reset }: ErrorComponentProps) {
	const known = error instanceof ApiError;
	return (
		<Fallback
			title={known ? error.title : "Something broke on this page"}
			actions={
				<>
					<Button onClick={() => reset()}>Try again</Button>
					<Button variant="default" onClick={() => window.location.assign("/")}>
						Go to the start page
					</Button>
				</>
			}
		>
			{known
				? error.detail
				: "Something in the dashboard went wrong. Deliveries aren't affected. Try again, and if it keeps happening, report it with the message below."}
			{known ? null : (
				<Text component="code" ff="monospace" size="xs" display="block" mt="sm">
					{error instanceof Error ? error.message : String(error)}
				</Text>
			)}
		</Fallback>
	);
}

export function PendingPage() {
	return (
		<Center mih="40dvh">
			<Loader type="dots" aria-label="Loading" />
		</Center>
	);
}

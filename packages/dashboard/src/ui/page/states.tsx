import { Alert, Button, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { isStatus } from "../../api/client/error.ts";
import { problemWords } from "../../api/client/problem-words.ts";
import classes from "./states.module.css";

interface EmptyStateProps {
	title: string;
	/** What will appear here and how to get there. */
	children: ReactNode;
	icon: ReactNode;
	/** The next step. */
	action?: ReactNode;
	/** A preview of it. */
	preview?: ReactNode;
}

/** An empty page: says what will appear here, offers the next step, and may show a preview. */
export function EmptyState({ title, children, icon, action, preview }: EmptyStateProps) {
	return (
		<Stack className={classes.empty} align="center" gap="sm">
			<div className={classes.icon} aria-hidden>
				{icon}
			</div>
			<Title order={2} size="h4" ta="center">
				{title}
			</Title>
			<Text c="dimmed" ta="center" maw={460}>
				{children}
			</Text>
			{action === undefined ? null : <Group mt="xs">{action}</Group>}
			{preview === undefined ? null : (
				<div className={classes.preview} aria-hidden inert>
					{preview}
				</div>
			)}
		</Stack>
	);
}

/** Something couldn't be loaded or done: what happened, what to do, and a way to try again unless that can't help. */
export function ErrorState({ error, onRetry }: { error: unknown; onRetry?: (() => unknown) | undefined }) {
	const { title, detail } = problemWords(error);
	return (
		<Alert
			className={classes.error}
			role="alert"
			color="red"
			variant="outline"
			icon={<IconAlertTriangle size={18} aria-hidden />}
			title={title}
		>
			<Text size="sm">{detail}</Text>
			{onRetry === undefined || isStatus(error, 404) ? null : (
				<Button mt="sm" size="xs" variant="default" onClick={() => void onRetry()}>
					Try again
				</Button>
			)}
		</Alert>
	);
}

/** A placeholder of the rows' size, so that nothing jumps. */
export function SkeletonRows({ count = 5, height = 44 }: { count?: number; height?: number }) {
	return (
		<Stack gap={1} role="status" aria-busy aria-label="Loading">
			{Array.from({ length: count }, (_, row) => row).map((row) => (
				<Skeleton key={row} height={height} radius="sm" />
			))}
		</Stack>
	);
}

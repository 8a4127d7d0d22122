import { Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import type { ReactNode } from "react";
import { isolated } from "../../lib/text/names.ts";
import classes from "./page.module.css";

/** A page's column: `narrow` for forms and reading, otherwise wide enough for tables. */
export function Page({ children, narrow = false }: { children: ReactNode; narrow?: boolean }) {
	return (
		<Stack className={classes.page} data-narrow={narrow || undefined} gap="lg">
			{children}
		</Stack>
	);
}

interface PageHeaderProps {
	title: string;
	/** The first line: the page's summary, in words. Announced when it changes, except for what is `aria-live="off"`. */
	children?: ReactNode;
	actions?: ReactNode;
	/** A state, shown next to the title. Announced when it changes. */
	badge?: ReactNode;
}

/** The page's title, its summary in words, and its actions. Also sets the browser tab's title. */
export function PageHeader({ title, children, actions, badge }: PageHeaderProps) {
	useDocumentTitle(`${isolated(title)} · Posthorn`);
	return (
		<Group justify="space-between" align="flex-start" gap="md" component="header">
			<div className={classes.heading}>
				<Group gap="sm">
					<Title order={1} size="h2">
						{title}
					</Title>
					{badge === undefined ? null : <div aria-live="polite">{badge}</div>}
				</Group>
				{children === undefined ? null : (
					<Text className={classes.lead} component="div" mt={6} aria-live="polite">
						{children}
					</Text>
				)}
			</div>
			{actions === undefined ? null : (
				<Group className={classes.actions} gap="xs">
					{actions}
				</Group>
			)}
		</Group>
	);
}

interface SectionProps {
	title?: string;
	description?: ReactNode;
	actions?: ReactNode;
	children: ReactNode;
	/** Without padding, for tables that reach the edges. */
	flush?: boolean;
}

/** A card with a heading. */
export function Section({ title, description, actions, children, flush = false }: SectionProps) {
	return (
		<Paper className={classes.section} component="section" data-flush={flush || undefined}>
			{title === undefined ? null : (
				<Group className={classes.sectionHead} justify="space-between" align="flex-start" gap="sm">
					<div>
						<Title order={2} size="h5">
							{title}
						</Title>
						{description === undefined ? null : (
							<Text size="sm" c="dimmed" mt={2} component="div">
								{description}
							</Text>
						)}
					</div>
					{actions}
				</Group>
			)}
			{children}
		</Paper>
	);
}

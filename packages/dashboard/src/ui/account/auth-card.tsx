import { Paper, Stack, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import type { ReactNode } from "react";
import { Mark } from "../logo.tsx";
import classes from "./auth-card.module.css";

interface AuthCardProps {
	title: string;
	/** What this is and what happens next. */
	lead?: ReactNode;
	children: ReactNode;
}

/** The frame of the pages before the sign-in. */
export function AuthCard({ title, lead, children }: AuthCardProps) {
	useDocumentTitle(`${title} · Posthorn`);
	return (
		<main className={classes.stage}>
			<Coil />
			<div className={classes.column}>
				<div className={classes.brand}>
					<Mark size={36} />
					<span className={classes.word}>Posthorn</span>
				</div>
				<Paper className={classes.card}>
					<Stack gap="lg">
						<div>
							<Title order={1} size="h3">
								{title}
							</Title>
							{lead === undefined ? null : (
								<Text c="dimmed" size="sm" mt={6} component="div">
									{lead}
								</Text>
							)}
						</div>
						{children}
					</Stack>
				</Paper>
			</div>
		</main>
	);
}

/** The horn's coil, large and faint in the background. */
function Coil() {
	return (
		<svg className={classes.coil} viewBox="0 0 800 800" aria-hidden="true" focusable="false">
			<g fill="none" stroke="currentColor" strokeWidth="2">
				{[120, 150, 180, 210, 240].map((radius) => (
					<path key={radius} d={`M-200 ${420 - radius}H400a${radius} ${radius} 0 1 1-.1 0`} />
				))}
			</g>
		</svg>
	);
}

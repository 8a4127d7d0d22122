import { Badge, Button, Group, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconDeviceDesktop } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type AccountSession, accountSessionsQuery, endAllSessions, endSession } from "../../api/account.ts";
import { signOut } from "../../api/session.ts";
import { describeUserAgent } from "../../lib/text/user-agent.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { useAction } from "../../ui/hooks/use-action.ts";
import { notifyDone, notifyUndone } from "../../ui/notify.tsx";
import { Section } from "../../ui/page/page.tsx";
import { ErrorState, SkeletonRows } from "../../ui/page/states.tsx";
import { When } from "../../ui/when.tsx";
import classes from "./sessions.module.css";

/** Loads the sign-in page, so that no data stays in memory. */
const leave = () => window.location.assign("/sign-in");

/** Where the user is signed in, each with a way to sign out. */
export function SessionsSection() {
	const { data, error, refetch } = useQuery(accountSessionsQuery);
	const [ending, end] = useDisclosure(false);
	return (
		<Section
			title="Sessions"
			description="Where you're signed in. A session ends 30 days after its last use."
			actions={
				<Button variant="default" size="xs" onClick={end.open}>
					Sign out everywhere
				</Button>
			}
		>
			{data === undefined ? (
				error === null ? (
					<SkeletonRows count={2} height={56} />
				) : (
					<ErrorState error={error} onRetry={refetch} />
				)
			) : (
				<ul className={classes.list}>
					{data.data.map((session) => (
						<SessionRow key={session.id} session={session} />
					))}
				</ul>
			)}
			<Confirm
				opened={ending}
				onClose={end.close}
				title="Sign out everywhere?"
				action="Sign out everywhere"
				danger
				onConfirm={async () => {
					await endAllSessions();
					leave();
				}}
			>
				All sessions end, including this one. You can sign in again with your password.
			</Confirm>
		</Section>
	);
}

function SessionRow({ session }: { session: AccountSession }) {
	const { id, user_agent, address, current, created_at, last_seen_at } = session;
	const name = describeUserAgent(user_agent);
	const { busy, run } = useAction(async () => {
		if (current) {
			await signOut();
			leave();
		} else {
			if (await endSession(id)) notifyDone(`${name} is signed out.`);
			else notifyUndone(`${name} was already signed out.`);
		}
	});
	return (
		<li className={classes.row}>
			<IconDeviceDesktop size={22} stroke={1.5} aria-hidden className={classes.icon} />
			<div className={classes.text}>
				<Group gap="xs">
					<Text size="sm" fw={600} title={user_agent ?? undefined}>
						{name}
					</Text>
					{current ? <Badge>This session</Badge> : null}
				</Group>
				<Text size="sm" c="dimmed" component="div">
					{address === null ? "" : `${address} · `}
					{current ? "active now" : "last used "}
					{current ? null : <When at={last_seen_at} />} · signed in <When at={created_at} />
				</Text>
			</div>
			<Button
				variant="default"
				size="compact-sm"
				aria-label={current ? "Sign out of this session" : `Sign out ${name}`}
				loading={busy}
				onClick={() => void run()}
			>
				Sign out
			</Button>
		</li>
	);
}

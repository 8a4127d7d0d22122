import { Alert, Button, Checkbox, Group, Stack, Text } from "@mantine/core";
import { IconEyeOff } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { CopyButton } from "../copy.tsx";
import { Dialog } from "../dialog.tsx";
import classes from "./secret-once.module.css";

interface SecretOnceProps {
	/** Names it, in lower case: "signing secret". */
	what: string;
	secret: string;
	/** How to use it. */
	children?: ReactNode;
}

/** A secret that is shown only once, for copying, with a warning that it won't be shown again. */
export function SecretOnce({ what, secret, children }: SecretOnceProps) {
	return (
		<Stack>
			<Alert variant="light" color="yellow" icon={<IconEyeOff size={18} aria-hidden />} className={classes.warning}>
				This {what} is only shown now. Copy it and keep it somewhere safe; it can't be shown again.
			</Alert>
			<div className={classes.box}>
				<code className={classes.secret} data-testid="secret">
					{secret}
				</code>
				<CopyButton text={secret} label={`Copy ${what}`} />
			</div>
			{children}
		</Stack>
	);
}

interface SecretDialogProps extends SecretOnceProps {
	title: string;
	onClose: () => void;
}

/** The same in a dialog that closes only once the user confirms having stored the secret. */
export function SecretDialog({ title, onClose, ...secret }: SecretDialogProps) {
	const [kept, setKept] = useState(false);
	return (
		<Dialog
			opened
			onClose={onClose}
			title={title}
			size="lg"
			closeOnClickOutside={false}
			closeOnEscape={kept}
			withCloseButton={false}
			classNames={{ body: classes.body }}
		>
			<SecretOnce {...secret} />
			<Group className={classes.footer} justify="space-between">
				<Checkbox
					label={<Text size="sm">I've stored it</Text>}
					checked={kept}
					onChange={(event) => setKept(event.currentTarget.checked)}
				/>
				<Button onClick={onClose} disabled={!kept}>
					Done
				</Button>
			</Group>
		</Dialog>
	);
}

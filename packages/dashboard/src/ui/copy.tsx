import { ActionIcon, Button, Tooltip, VisuallyHidden } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { IconCheck, IconCopy } from "@tabler/icons-react";

interface CopyProps {
	text: string;
	/** Names the copied text, for the tooltip and for screen readers: "Copy secret". */
	label?: string;
	size?: "xs" | "sm" | "md";
}

const ICON_SIZE = { xs: 13, sm: 15, md: 17 } as const;

/** A small button that copies `text` and confirms it. */
export function Copy({ text, label = "Copy", size = "sm" }: CopyProps) {
	const { copy, copied, error } = useClipboard({ timeout: 1_500 });
	const said = error === null ? (copied ? "Copied" : label) : "Copying isn't allowed here. Select and copy manually.";
	const Icon = copied ? IconCheck : IconCopy;
	return (
		<Tooltip label={said}>
			<ActionIcon
				variant="subtle"
				color="gray"
				size={size}
				aria-label={label}
				onClick={(event) => {
					event.stopPropagation();
					copy(text);
				}}
			>
				<Icon size={ICON_SIZE[size]} aria-hidden />
				<VisuallyHidden aria-live="polite">{copied ? "Copied" : ""}</VisuallyHidden>
			</ActionIcon>
		</Tooltip>
	);
}

/** The same as a full button, for when copying is the main action. */
export function CopyButton({ text, label = "Copy" }: Pick<CopyProps, "text" | "label">) {
	const { copy, copied } = useClipboard({ timeout: 1_500 });
	return (
		<Button
			variant="default"
			leftSection={copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
			onClick={() => copy(text)}
		>
			<span aria-live="polite">{copied ? "Copied" : label}</span>
		</Button>
	);
}

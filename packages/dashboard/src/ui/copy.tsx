import { ActionIcon, Button, type ButtonProps, Tooltip, VisuallyHidden } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { useCopy } from "./hooks/use-copy.ts";

interface CopyProps {
	text: string;
	/** Names the copied text, for the tooltip and for screen readers: "Copy secret". */
	label: string;
	/** Tells it from others for screen readers: the id that it copies. */
	of?: string;
	size?: "xs" | "sm" | "md";
}

const ICON_SIZE = { xs: 13, sm: 15, md: 17 } as const;

/** A small button that copies `text` and confirms it. */
export function Copy({ text, label, of, size = "sm" }: CopyProps) {
	const { copy, copied, refused } = useCopy();
	const said = copied ? "Copied" : refused ? "Copying isn't allowed here. Select and copy manually." : "";
	const Icon = copied ? IconCheck : IconCopy;
	return (
		<Tooltip label={said === "" ? label : said}>
			<ActionIcon
				variant="subtle"
				color="gray"
				size={size}
				aria-label={of === undefined ? label : `${label} ${of}`}
				onClick={(event) => {
					event.stopPropagation();
					copy(text);
				}}
			>
				<Icon size={ICON_SIZE[size]} aria-hidden />
				<VisuallyHidden aria-live="polite">{said}</VisuallyHidden>
			</ActionIcon>
		</Tooltip>
	);
}

interface CopyButtonProps extends Pick<ButtonProps, "size"> {
	/** A function, if making it takes time. */
	text: string | (() => string);
	label: string;
	Icon?: typeof IconCopy;
}

/** The same as a full button, for when copying is the main action. */
export function CopyButton({ text, label, Icon = IconCopy, size = "sm" }: CopyButtonProps) {
	const { copy, copied, refused } = useCopy();
	return (
		<Button
			variant="default"
			size={size}
			leftSection={copied ? <IconCheck size={16} aria-hidden /> : <Icon size={16} aria-hidden />}
			onClick={() => copy(typeof text === "string" ? text : text())}
		>
			<span aria-live="polite">{copied ? "Copied" : refused ? "Copying isn't allowed here" : label}</span>
		</Button>
	);
}

import { notifications } from "@mantine/notifications";
import { IconAlertTriangle, IconCheck, IconInfoCircle } from "@tabler/icons-react";
import { problemWords } from "../api/client/problem-words.ts";

/** A notification that something was done. */
export function notifyDone(message: string): void {
	notifications.show({ message, color: "teal", icon: <IconCheck size={16} aria-hidden />, autoClose: 4_000 });
}

/** A notification that says why nothing was done. */
export function notifyUndone(message: string): void {
	notifications.show({ message, color: "gray", icon: <IconInfoCircle size={16} aria-hidden />, autoClose: 6_000 });
}

/** A notification that says what went wrong and what to do; stays until it is closed. */
export function notifyProblem(error: unknown): void {
	const { title, detail } = problemWords(error);
	notifications.show({
		title,
		message: detail,
		color: "red",
		icon: <IconAlertTriangle size={16} aria-hidden />,
		autoClose: false,
	});
}

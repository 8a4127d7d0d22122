import { notifications } from "@mantine/notifications";
import { IconAlertTriangle, IconCheck, IconInfoCircle } from "@tabler/icons-react";
import { ApiError } from "../api/client/error.ts";
import { problemWords } from "../api/client/problem-words.ts";

/** A notification that something was done. */
export function notifyDone(message: string): void {
	notifications.show({ message, color: "teal", icon: <IconCheck size={16} aria-hidden />, autoClose: 4_000 });
}

/** A notification that says why nothing was done. */
export function notifyUndone(message: string): void {
	notifications.show({ message, color: "gray", icon: <IconInfoCircle size={16} aria-hidden />, autoClose: 6_000 });
}

const OFFLINE_ID = "offline";

// From then on, it isn't true.
window.addEventListener("online", () => notifications.hide(OFFLINE_ID));

/** Says what went wrong and what to do. Stays until it is closed or, if the browser was offline, until it is back. */
export function notifyProblem(error: unknown): void {
	const { title, detail } = problemWords(error);
	notifications.show({
		...(error instanceof ApiError && error.code === "offline" ? { id: OFFLINE_ID } : {}),
		title,
		message: detail,
		color: "red",
		icon: <IconAlertTriangle size={16} aria-hidden />,
		autoClose: false,
	});
}

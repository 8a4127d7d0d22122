/** A URL's fault, if the browser can detect one; null otherwise. */
export function urlFault(text: string): string | null {
	const url = text.trim();
	if (url === "") return "Enter the URL that events are sent to.";
	if (!URL.canParse(url)) return "Enter a full URL, such as https://example.com/webhooks.";
	return new URL(url).protocol === "https:" ? null : "Use an https URL. Events are only sent encrypted.";
}

/** The URL if it has no such fault; null otherwise. */
export const usableUrl = (text: string): URL | null => (urlFault(text) === null ? new URL(text.trim()) : null);

export const eventsFault = (events: readonly string[]) =>
	events.length === 0 ? "Choose at least one event type." : null;

interface KeyTarget {
	readonly tagName?: string;
	readonly isContentEditable?: boolean;
	readonly type?: string;
}

const TYPED_INTO = new Set(["INPUT", "TEXTAREA", "SELECT"]);
const NOT_TYPED = new Set(["checkbox", "radio", "button", "submit", "reset", "range"]);

/** Whether a key press is meant for a field rather than as a shortcut. */
export function isTyping(target: KeyTarget | null): boolean {
	if (target === null) return false;
	if (target.isContentEditable === true) return true;
	if (!TYPED_INTO.has(target.tagName ?? "")) return false;
	return !NOT_TYPED.has(target.type ?? "");
}

/** The row that a step selects: stays within the list; the first step into a list selects its first row. */
export function stepIndex(current: number | null, step: 1 | -1, count: number): number | null {
	if (count === 0) return null;
	if (current === null) return 0;
	return Math.min(Math.max(current + step, 0), count - 1);
}

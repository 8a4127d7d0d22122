import { calendarDay } from "./time.ts";

export interface Day<Item> {
	readonly label: string;
	readonly items: readonly Item[];
}

/** Items in order, grouped by local day: `Today`, `Yesterday`, `19 Nov 2026`. */
export function byDay<Item>(items: readonly Item[], at: (item: Item) => number, now: number): Day<Item>[] {
	const today = calendarDay(now);
	const date = new Date(now);
	const yesterday = calendarDay(new Date(date.getFullYear(), date.getMonth(), date.getDate() - 1).getTime());
	const days = Map.groupBy(items, (item) => {
		const day = calendarDay(at(item));
		return day === today ? "Today" : day === yesterday ? "Yesterday" : day;
	});
	return [...days].map(([label, dayItems]) => ({ label, items: dayItems }));
}

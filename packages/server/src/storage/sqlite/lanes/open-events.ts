/** How a lane's open events are stored: JSON, NULL for none. */
export const encodeOpen = (open: readonly number[]): string | null => (open.length === 0 ? null : JSON.stringify(open));
export const decodeOpen = (text: unknown): number[] => (text === null ? [] : (JSON.parse(text as string) as number[]));

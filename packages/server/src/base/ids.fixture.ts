/** Changes the last character of an id, or of a path that ends in one: still valid, but unused. */
export const absentId = (id: string): string => `${id.slice(0, -1)}${id.endsWith("0") ? "1" : "0"}`;

/** An id, or a path that ends in one, that differs in its last character: as good as the given one, and nobody's. */
export const absentId = (id: string): string => `${id.slice(0, -1)}${id.endsWith("0") ? "1" : "0"}`;

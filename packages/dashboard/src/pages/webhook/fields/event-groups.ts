interface Entry {
	readonly type: string;
}

export interface EventGroup<Type extends Entry> {
	readonly name: string;
	readonly entries: readonly Type[];
}

const NAMES: Readonly<Record<string, string>> = {
	customer: "Customers",
	purchase: "Purchases",
	delivery: "Goods delivered to buyers",
	basket: "Baskets",
	subscription: "Subscriptions",
	chargeback: "Chargebacks",
};

/** Event types by subject, in the catalogue's order. Unknown subjects appear under their own name. */
export function groupEventTypes<Type extends Entry>(entries: readonly Type[]): readonly EventGroup<Type>[] {
	const groups = Map.groupBy(entries, ({ type }) => type.split(".")[0] ?? type);
	return [...groups].map(([kind, members]) => ({ name: NAMES[kind] ?? kind, entries: members }));
}

/** The chosen types in the catalogue's order, so that the same choice is always the same list. */
export const inCatalogueOrder = <Type extends string>(
	entries: readonly { readonly type: Type }[],
	chosen: ReadonlySet<string>,
): Type[] => entries.map(({ type }) => type).filter((type) => chosen.has(type));

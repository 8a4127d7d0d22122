import type { FactEvent, Order } from "../../../src/storage/port.ts";
import { OrderedSet } from "./ordered.ts";
import { HashIndex, type Journal, Table } from "./table.ts";

/** What is kept of every fact, under {@link factKey}. */
export interface ToldRow {
	readonly key: string;
	/** In hex. */
	readonly digest: string;
	readonly at: number;
	readonly events: readonly FactEvent[];
}

export interface OrderRow extends ToldRow {
	readonly order: Order;
}

export interface SubscriptionRow extends ToldRow {
	readonly data: string;
	readonly canceled: { readonly at: number; readonly events: readonly FactEvent[] } | null;
}

export interface BasketRow {
	readonly no: number;
	readonly key: string;
	readonly projectNo: number;
	readonly basketId: string;
	readonly touchedAt: number;
	/** On the database's clock. */
	readonly dueAt: number;
	readonly data: string;
}

/** Ids come from the platform, in any form. */
export const factKey = (projectNo: number, ...ids: readonly string[]): string => JSON.stringify([projectNo, ...ids]);

const keyOf = ({ key }: { readonly key: string }): string => key;

export const factTables = (journal: Journal) => ({
	customers: new Table(journal, (row: { readonly key: string }) => row.key, {}),
	orders: new Table(journal, keyOf as (row: OrderRow) => string, {}),
	boughtBaskets: new Table(journal, (row: { readonly key: string }) => row.key, {}),
	refunds: new Table(journal, keyOf as (row: ToldRow) => string, {}),
	chargebacks: new Table(journal, keyOf as (row: ToldRow) => string, {}),
	deliverables: new Table(journal, keyOf as (row: ToldRow) => string, {}),
	subscriptions: new Table(journal, keyOf as (row: SubscriptionRow) => string, {}),
});

export const basketTables = (journal: Journal) => ({
	baskets: new Table(journal, ({ no }: BasketRow) => no, {
		key: new HashIndex(keyOf as (row: BasketRow) => string),
		due: new OrderedSet<BasketRow, Pick<BasketRow, "dueAt" | "no">>((a, b) => a.dueAt - b.dueAt || a.no - b.no),
	}),
});

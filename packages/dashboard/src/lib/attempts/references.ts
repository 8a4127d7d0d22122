import { parseJson } from "../text/parse-json.ts";

/** The order and the customer that an event names, by which it is found. */
export interface References {
	readonly order: string | null;
	readonly customer: string | null;
}

/** @param body an envelope, as it is sent */
export function referencesOf(body: string): References {
	const envelope = parseJson(body) as { data?: Record<string, unknown> | null } | null | undefined;
	const { order_id, customer_email } = envelope?.data ?? {};
	return { order: textOf(order_id), customer: textOf(customer_email) };
}

const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

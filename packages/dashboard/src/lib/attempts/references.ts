/** The order and the customer that an event names, by which it is found. */
export interface References {
	readonly order: string | null;
	readonly customer: string | null;
}

/** @param body an envelope, as it is sent */
export function referencesOf(body: string): References {
	let data: unknown;
	try {
		data = (JSON.parse(body) as { data?: unknown } | null)?.data;
	} catch {
		data = null;
	}
	const { order_id, customer_email } = (data ?? {}) as Record<string, unknown>;
	return { order: textOf(order_id), customer: textOf(customer_email) };
}

const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/** Limits of the delivery log's filters, which the API checks and the dashboard keeps to. */
export const LOG_FILTERS = {
	/** Webhooks of one filter, and values of any other. */
	webhooks: 10,
	values: 20,
	/** Webhooks × event types × states (or outcomes): each combination is a query. */
	combinations: 30,
	/** Characters of an order id or a customer's e-mail address. */
	referenceLength: 500,
	/** Characters of a text to search for. */
	textLength: { min: 2, max: 200 },
} as const;

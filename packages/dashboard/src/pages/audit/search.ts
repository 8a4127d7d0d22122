/** What the address bar says about the audit log. */
export interface AuditSearch {
	/** Only what was done to this webhook. */
	readonly webhook_id?: string;
	/** Only what this account or API key did, or `operator_key`. */
	readonly actor_id?: string;
}

export function validateAuditSearch({ webhook_id, actor_id }: Record<string, unknown>): AuditSearch {
	return {
		...(isId(webhook_id) ? { webhook_id } : {}),
		...(isId(actor_id) ? { actor_id } : {}),
	};
}

const isId = (value: unknown): value is string => typeof value === "string" && /^\w{1,100}$/.test(value);

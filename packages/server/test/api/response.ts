export interface ApiResponse {
	readonly status: number;
	readonly headers: Record<string, string>;
	readonly text: string;
	/** The body, if it is JSON. */
	readonly json: Json;
}

/** The members of all responses that the tests request; each response has some of them. */
export interface Json {
	readonly epoch: string;
	readonly id: string;
	readonly type: string;
	readonly status: string;
	readonly status_code: number | null;
	readonly order_id: string | null;
	readonly followed: boolean;
	readonly name: string;
	readonly created_at: string;
	readonly logged_since: string;
	readonly next_cursor: string | null;
	readonly last_seq: number;
	readonly seq: number;
	readonly n: number;
	readonly apps: string[];
	readonly key: string;
	readonly prefix: string;
	readonly secret: string;
	readonly event_id: string;
	readonly webhook_id: string;
	readonly replay: number;
	readonly test: boolean;
	readonly state: string;
	readonly recent: {
		readonly since: string;
		readonly minutes: number;
		readonly delivered: number;
		readonly failed: number;
	};
	readonly error: string;
	readonly response_body: string;
	readonly request_headers: Record<string, string>;
	readonly detail: string;
	readonly backlog: {
		readonly events: number;
		readonly oldest_seq: number | null;
		readonly oldest_at: string | null;
	};
	readonly errors: readonly { readonly pointer: string; readonly detail: string }[];
	readonly data: readonly Json[] & Json;
	readonly events: readonly Json[];
	readonly attempts: readonly Json[];
	readonly paths: Record<string, Record<string, DocumentedOperation>>;
	readonly account: Json;
	readonly account_id: string;
	readonly operator: boolean;
	readonly email: string;
	readonly role: string;
	readonly projects: readonly Json[];
	readonly csrf_token: string;
	readonly by_link: boolean;
	readonly retry_delays: readonly number[];
	readonly current: boolean;
	readonly last_seen_at: string;
	readonly url: string;
	readonly expires_at: string;
	readonly at: string;
	readonly action: string;
	readonly actor: { readonly kind: string; readonly id: string | null; readonly name: string };
	readonly invited_by: { readonly kind: string; readonly id: string | null; readonly name: string };
	readonly target: { readonly kind: string; readonly id: string; readonly name: string } | null;
	readonly count: number;
	readonly before: string;
	readonly buckets: readonly Json[];
	readonly total: Json;
	readonly delivered: number;
	readonly retrying: number;
	readonly failed: number;
	readonly since: string;
	readonly until: string;
	readonly last_attempt: Json | null;
	readonly failing_since: Json | null;
	readonly started_at: string;
	readonly due_at: string;
	readonly ok: boolean;
	readonly capped: boolean;
	readonly success_rate: number | null;
	readonly p50_ms: number | null;
	readonly p95_ms: number | null;
	readonly skipped: number;
	readonly groups: readonly { readonly webhook_id: string; readonly type: string; readonly count: number }[];
	readonly oldest_at: string;
	readonly newest_at: string;
	readonly response_ms: number;
	readonly checks: readonly { readonly name: string; readonly state: string; readonly detail: string }[];
}

/** An operation of the OpenAPI document. */
export interface DocumentedOperation {
	readonly operationId: string;
	readonly requestBody?: object;
	readonly parameters: readonly { readonly in: string; readonly name: string }[];
}

/** What varies between instances in a receiver's code. */
export interface SnippetParts {
	/** The names of the headers that the signature check needs. */
	readonly headers: { readonly signature: string; readonly timestamp: string };
}

/** The environment variable that holds the webhook's signing secret in every snippet. */
export const SECRET_VARIABLE = "WEBHOOK_SECRET";

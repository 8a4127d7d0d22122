/** What varies between instances in a receiver's code. */
export interface SnippetParts {
	/** The names of the headers that the signature check needs. */
	readonly headers: { readonly signature: string; readonly timestamp: string };
}

/** The environment variable that holds the webhook's signing secret in every snippet. */
export const SECRET_VARIABLE = "WEBHOOK_SECRET";

/** How far a request's timestamp may be from the receiver's clock (the specification's section 5), in seconds. */
export const TOLERANCE_SECONDS = 300;

/** The default word in the header names, the same as the protocol's. */
export const DEFAULT_BRAND = "Service";

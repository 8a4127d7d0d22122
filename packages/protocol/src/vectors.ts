import document from "./vectors.json" with { type: "json" };

/** One known signature. */
export interface SignatureVector {
	/** What the vector tests. */
	readonly name: string;
	/** The webhook's signing secret: all of it, prefix included, is the HMAC key. */
	readonly secret: string;
	/** The value of the timestamp header. */
	readonly timestamp: string;
	/** The request body; the signature covers its UTF-8 bytes. */
	readonly body: string;
	/** The value of the signature header. */
	readonly signature: string;
}

/** Known signatures for testing any implementation; `vectors.json` has them for other languages. */
export const SIGNATURE_VECTORS: readonly SignatureVector[] = document.vectors;

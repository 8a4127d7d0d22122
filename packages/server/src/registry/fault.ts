/** What is wrong with one field of what a person handed in. */
export interface Fault {
	/** Where: a JSON Pointer (RFC 6901) into what was handed in. */
	readonly pointer: string;
	/** What, and what to do; read after the field's name. */
	readonly detail: string;
}

/** Some fields are not acceptable; nothing was changed. */
export interface Invalid {
	readonly kind: "invalid";
	readonly faults: readonly Fault[];
}

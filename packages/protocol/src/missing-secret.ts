/**
 * What programs pass if the secret isn't set, without quotes and prefix: another value converted to text, such as a
 * promise, or a placeholder of a shell, Kubernetes, Windows or a template that nothing has replaced.
 */
const NO_SECRET =
	/^(?:|undefined|null|nil|none|nan|true|false|<no value>|\[object \w+\]|\$\w+|\$\{.*\}|\$\(.*\)|%\w+%|\{\{.*\}\})$/is;

/** Whether this isn't a signing secret, but what a program has instead of one. Anyone can guess it, and sign with it. */
export function isMissingSecret(secret: string): boolean {
	const bare = unquoted(secret.trim()).trim();
	return NO_SECRET.test(bare.replace(/^whsec_/, ""));
}

/** Removes the quotes that some readers of environment files leave around a value. */
export function unquoted(text: string): string {
	return text.replace(/^(["'])(.*)\1$/, "$2");
}

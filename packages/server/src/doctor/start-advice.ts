/**
 * What to do about an error that ends the program at startup, in its own words. The usual messages about an unavailable
 * database are for a running service, which retries; here nothing is retried.
 */
export function adviceAtStart({ message }: Error): string {
	if (/client password must be a string/.test(message))
		return "PostgreSQL requires a password, and POSTHORN_DATABASE_URL has none: add it there.";
	if (/does not support SSL/.test(message))
		return "PostgreSQL doesn't offer TLS: enable it there, or remove sslmode from POSTHORN_DATABASE_URL.";
	return message.replace(
		/: retrying\.$/,
		": check that it is running, and the host and port in POSTHORN_DATABASE_URL.",
	);
}

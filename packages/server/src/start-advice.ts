/**
 * What to do about an error that ends the program while it starts, in its own words. What is said of a database that is
 * away is meant for a service that runs: here nothing is tried again.
 */
export function adviceAtStart({ message }: Error): string {
	if (/client password must be a string/.test(message))
		return "PostgreSQL asks for a password, and there is none in POSTHORN_DATABASE_URL: put it there.";
	if (/does not support SSL/.test(message))
		return "PostgreSQL speaks no TLS here: turn it on there, or take sslmode out of POSTHORN_DATABASE_URL.";
	return message.replace(
		/: (it is|they are) tried again\.$/,
		": check that it runs, and the host and port of POSTHORN_DATABASE_URL.",
	);
}

/** The URL under which this machine reaches a service that listens there. */
export function localUrl({ host, port }: { readonly host: string; readonly port: number }): string {
	if (host === "0.0.0.0") return `http://127.0.0.1:${port}`;
	if (host === "::") return `http://[::1]:${port}`;
	return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

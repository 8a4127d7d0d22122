/** Whether a client accepts an encoding, by its `Accept-Encoding` (RFC 9110, 12.5.3). */
export function acceptedEncodings(header = ""): (encoding: string) => boolean {
	const weights = new Map(
		header.split(",").map((part) => {
			const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
			const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
			return [name, Number(weight)];
		}),
	);
	return (encoding) => (weights.get(encoding) ?? weights.get("*") ?? 0) > 0;
}

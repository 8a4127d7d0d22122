/** Crockford's base32 in lower case, as TypeID 0.3 prescribes. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const SUFFIX_LENGTH = 26;

/**
 * A new event id: `evt_` and a UUIDv7 (RFC 9562) in base32, so that ids sort by time. The client gives each event its id
 * before the first try, which makes repeating the call harmless.
 *
 * @param now milliseconds since the Unix epoch
 */
export function newEventId(now: number = Date.now()): string {
	const bytes = crypto.getRandomValues(new Uint8Array(16));
	let rest = Math.floor(now);
	for (let at = 5; at >= 0; at--, rest = Math.floor(rest / 256)) bytes[at] = rest % 256;
	bytes[6] = 0x70 | (bytes[6]! & 0x0f);
	bytes[8] = 0x80 | (bytes[8]! & 0x3f);
	let number = 0n;
	for (const byte of bytes) number = (number << 8n) | BigInt(byte);
	let suffix = "";
	for (let i = 0; i < SUFFIX_LENGTH; i++, number >>= 5n) suffix = ALPHABET[Number(number & 31n)] + suffix;
	return `evt_${suffix}`;
}

/** DER (X.690), as far as certificates need it. */

/** Tag, length, value; of at most 65,535 bytes. */
export function tlv(tag: number, ...values: Buffer[]): Buffer {
	const value = Buffer.concat(values);
	const length = value.length < 0x80 ? [value.length] : [0x82, value.length >> 8, value.length & 0xff];
	return Buffer.concat([Buffer.from([tag, ...length]), value]);
}

export const sequence = (...values: Buffer[]): Buffer => tlv(0x30, ...values);
export const octets = (value: Buffer): Buffer => tlv(0x04, value);
export const boolean = (value: boolean): Buffer => tlv(0x01, Buffer.from([value ? 0xff : 0]));
/** @param hex its encoding, which may contain spaces */
export const oid = (hex: string): Buffer => tlv(0x06, Buffer.from(hex.replaceAll(" ", ""), "hex"));
export const bits = (value: Buffer): Buffer => tlv(0x03, Buffer.from([0]), value);

/** @param at milliseconds since the epoch */
export const time = (at: number): Buffer =>
	tlv(0x18, Buffer.from(`${new Date(at).toISOString().replace(/[-:T]|\..*/g, "")}Z`));

export const commonName = (value: string): Buffer =>
	sequence(tlv(0x31, sequence(oid("55 04 03"), tlv(0x0c, Buffer.from(value)))));

export function pem(der: Buffer): string {
	const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
	return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

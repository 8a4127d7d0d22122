// Checks the signature vectors with the installed package, on any runtime. Prints how many hold.
import { readFileSync } from "node:fs";
import process from "node:process";
import { verify } from "@posthorn/webhooks";
import { signBody } from "@posthorn/webhooks/testing";

const { vectors } = JSON.parse(readFileSync(process.argv[2], "utf8"));
let held = 0;
for (const { secret, timestamp, body, signature } of vectors) {
	const now = Number(timestamp) * 1_000;
	const headers = new Headers({ "X-Service-Timestamp": timestamp, "X-Service-Signature": signature });
	const signed = await signBody(body, secret, { now });
	const genuine = await codeOf(body, headers, ["whsec_old", secret], now);
	const altered = await codeOf(`${body} `, headers, secret, now);
	const isRight = [undefined, "body_not_json", "body_not_an_event"].includes(genuine);
	const isRefused = ["body_reserialized", "signature_mismatch"].includes(altered);
	if (isRight && isRefused && signed["X-Service-Signature"] === signature) held++;
	else console.error({ body, genuine, altered, signed });
}
const bytes = [Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d), Uint8Array.of(0x7b, 0xff, 0x7d), new Uint8Array(262_144)];
for (const body of bytes) {
	const headers = await signBody(body, "whsec_test");
	if ((await codeOf(body, headers, "whsec_test", Date.now())) === "body_not_json") held++;
}
console.log(held);

/** The code of the error; undefined if the request is accepted. */
function codeOf(body, headers, secret, now) {
	return verify(body, headers, secret, { now }).then(
		() => undefined,
		({ code }) => code,
	);
}

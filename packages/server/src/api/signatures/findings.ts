/** What a check of a signature finds out about each part of a request. */
import { type BodyDifference, bodyDifference, isInMilliseconds, TIMESTAMP_TOLERANCE_S } from "@posthorn/protocol";

export const PARTS = ["secret", "signature", "body", "timestamp", "clock"] as const;
export const STATES = ["right", "wrong", "unknown"] as const;

export interface Finding {
	readonly part: (typeof PARTS)[number];
	readonly state: (typeof STATES)[number];
	/** Stable. */
	readonly code: string;
	/** What is wrong, and what to do. */
	readonly detail: string;
}

/** @param part by default, the first word of the code */
const finding =
	(state: Finding["state"]) =>
	(code: string, detail: string, part = code.split("_", 1)[0] as Finding["part"]): Finding => {
		return { part, state, code, detail };
	};
export const right = finding("right");
export const wrong = finding("wrong");
export const unknown = finding("unknown");

const BODY_DETAILS: Record<BodyDifference, string> = {
	empty: "The body is empty. Something read the request's stream before the check, such as a body parser.",
	byte_order_mark:
		"The body has a byte order mark that wasn't sent, or lacks one. Don't decode and encode it: pass the raw bytes.",
	truncated: "The body is cut off. Wait for all of it, and raise the receiver's limit on body sizes if there is one.",
	whitespace: "The body was trimmed, got a line break, or its line breaks were converted. Pass the raw bytes.",
	encoding: "The body was decoded with an encoding other than UTF-8 and encoded again. Pass the raw bytes.",
	reserialized:
		"The body was parsed and serialized again, which changes its bytes. Verify the raw bytes before any parser reads them.",
	other_event: "This is the body of another event. Compare the request with the same event id.",
	changed: "The body's content isn't what was sent. Find out what changes it, such as a proxy.",
};

/** A difference that follows from the signature, without the receiver's body. */
export const signedBodyFinding = (difference: BodyDifference): Finding =>
	wrong(`body_${difference}`, BODY_DETAILS[difference]);

/** @param isSigned whether the receiver has computed the right signature, so that it had the right body */
export function bodyFinding(sent: Uint8Array, given: Uint8Array, isSigned = false): Finding {
	const difference = bodyDifference(sent, given);
	if (difference === null) return right("body_same", `The body has exactly the ${sent.length} bytes that were sent.`);
	if (isSigned)
		return unknown(
			"body_not_signed",
			"The receiver computed the right signature, so it had the right body. This is another one, such as a copy from a log.",
		);
	let byte = 0;
	while (byte < sent.length && sent[byte] === given[byte]) byte++;
	return wrong(
		`body_${difference}`,
		`${BODY_DETAILS[difference]} It has ${given.length} bytes, ${sent.length} were sent, and they differ from byte ${byte + 1} on.`,
	);
}

/** @param sent Unix time in seconds */
export function timestampFinding(sent: number, given: string): Finding {
	if (given === String(sent)) return right("timestamp_same", "The timestamp is the one that was sent.");
	if (Math.floor(Number(given) / 1_000) === sent)
		return wrong(
			"timestamp_milliseconds",
			"The timestamp was converted to milliseconds. Sign the header's value as it is.",
		);
	if (given.trim() === String(sent))
		return wrong("timestamp_whitespace", "The timestamp has whitespace around it. Sign the header's value without it.");
	const unit = isInMilliseconds(Number(given)) ? " It looks like milliseconds; timestamps are in seconds." : "";
	return wrong("timestamp_other", `This isn't the request's timestamp, which is ${sent}.${unit}`);
}

/** @param sent the request's timestamp, Unix time in seconds like `clock` */
export function clockFinding(sent: number, clock: number): Finding {
	const ahead = Math.round(clock - sent);
	if (Math.abs(ahead) <= TIMESTAMP_TOLERANCE_S)
		return right(
			"clock_right",
			`The clock was ${Math.abs(ahead)} s from the request's timestamp; ${TIMESTAMP_TOLERANCE_S} s are allowed.`,
		);
	return wrong(
		ahead > 0 ? "clock_ahead" : "clock_behind",
		`The clock was ${Math.abs(ahead)} s ${ahead > 0 ? "after" : "before"} the request's timestamp; ${TIMESTAMP_TOLERANCE_S} s are allowed. Synchronize the receiver's clock, or check whether the request waited in a queue before it was verified.`,
	);
}

import { NOT_SENT, PER_OCTAVE } from "../../shared/response-times.ts";

/** The class of a row of `attempts`. */
export const CLASS_OF_ATTEMPT = `
	CASE WHEN sent_timestamp IS NULL THEN ${NOT_SENT}
	ELSE CAST(${PER_OCTAVE} * log2(max(response_ms, 1)) AS INTEGER) END`;

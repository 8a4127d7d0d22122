import { REQUESTS } from "../../../base/budgets.ts";
import { found, Problem } from "../../http/problem.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import { component, optional, request, Type } from "../../schema.ts";
import { diagnose } from "../../signatures/diagnose.ts";
import { PARTS, STATES } from "../../signatures/findings.ts";
import { NO_SECRET } from "../webhooks/webhooks.ts";

const route = routeIn("Delivery log", "developer");

/** Room for a request's headers: people paste all of them. */
const PASTED_LENGTH = 1_000;

const NOT_BASE64 = "must be base64 with its padding";

const SignatureSeen = request("SignatureSeen", {
	minProperties: 1,
	examples: [{ timestamp: "1795514462", clock: 1795514470 }],
})({
	...optional({
		signature: Type.String({
			minLength: 1,
			maxLength: PASTED_LENGTH,
			description: "The signature that the receiver computed: in hexadecimal, or in base64 for Standard Webhooks.",
		}),
		body: Type.String({
			pattern: "^[A-Za-z0-9+/]*={0,2}$",
			errorMessage: NOT_BASE64,
			description: "The bytes of the body that the receiver saw, in base64 with its padding.",
		}),
		timestamp: Type.String({
			minLength: 1,
			maxLength: PASTED_LENGTH,
			description: "The timestamp that the receiver used.",
		}),
		clock: Type.Integer({
			minimum: 0,
			// Milliseconds since 1973 are beyond it.
			maximum: 99_999_999_999,
			errorMessage: "must be in seconds, not in milliseconds",
			description: "The receiver's clock when it checked the request, Unix time in seconds.",
		}),
	}),
});

const SignatureDiagnosis = component("SignatureDiagnosis")({
	findings: Type.Array(
		Type.Object({
			part: Type.Enum([...PARTS]),
			state: Type.Enum([...STATES]),
			code: Type.String({ description: "Stable." }),
			detail: Type.String({ description: "What is wrong, and what to do." }),
		}),
	),
});

export function signatureCheckRoutes({ storage, engine, config }: ApiParts): Route[] {
	return [
		route("POST", "/v1/projects/{project_id}/attempts/{attempt_id}/signature-check", "checkSignature", {
			summary: "Find out why a receiver refuses a signature",
			description:
				"Compares what a receiver saw and computed for a request with what was sent, and says whether its secret, body, timestamp or clock is wrong. It takes no secret and returns no signature.",
			rate: "urlChecks",
			body: SignatureSeen,
			// A pattern with groups of four characters would overflow the stack with a few MiB.
			faults: ({ body = "" }) => (body.length % 4 === 0 ? [] : [{ pointer: "/body", detail: NOT_BASE64 }]),
			// In base64.
			bodyLimit: Math.ceil((config.maxEventBytes + REQUESTS.envelopeBytes) * 1.5),
			success: { status: 200, description: "The findings.", schema: SignatureDiagnosis },
			problems: { conflict: "Nothing was sent in this attempt, or the webhook's secret can't be read." },
			async handler({ params: { projectId, attemptId }, body }) {
				const { eventId, webhookId, sent, requestBody } = found(
					"attempt",
					await storage.getAttempt({ projectId, attemptId }),
				);
				if (sent === null) throw new Problem("conflict", "Nothing was sent in this attempt, so nothing was signed.");
				const checks = await engine.signatureChecks(projectId, webhookId);
				if (checks === "no_secret") throw new Problem("conflict", NO_SECRET);
				const { body: given, ...rest } = body;
				const seen = { ...rest, ...(given !== undefined && { body: Buffer.from(given, "base64") }) };
				return { findings: diagnose({ eventId, sent, body: requestBody }, checks, seen) };
			},
		}),
	];
}

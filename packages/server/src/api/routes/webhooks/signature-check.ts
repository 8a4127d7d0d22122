import { REQUESTS } from "../../../base/budgets.ts";
import { found, Problem } from "../../http/problem.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import { closed, Type } from "../../schema.ts";
import { diagnose } from "../../signature-doctor.ts";

const route = routeIn("Delivery log");

const SignatureSeen = Type.Object(
	{
		signature: Type.Optional(
			Type.String({ minLength: 1, maxLength: 200, description: "The signature that the receiver computed." }),
		),
		body: Type.Optional(
			Type.String({
				pattern: "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
				description: "The bytes of the body that the receiver saw, in base64.",
			}),
		),
		timestamp: Type.Optional(
			Type.String({ minLength: 1, maxLength: 30, description: "The timestamp that the receiver used." }),
		),
		clock: Type.Optional(
			Type.Integer({
				minimum: 0,
				maximum: 999_999_999_999,
				description: "The receiver's clock when it checked the request, Unix time in seconds.",
			}),
		),
	},
	{ ...closed, minProperties: 1, title: "SignatureSeen", examples: [{ timestamp: "1795514462", clock: 1795514470 }] },
);

const SignatureDiagnosis = Type.Object(
	{
		findings: Type.Array(
			Type.Object({
				part: Type.Enum(["secret", "signature", "body", "timestamp", "clock"], { type: "string" }),
				state: Type.Enum(["right", "wrong", "unknown"], { type: "string" }),
				code: Type.String({ description: "Stable." }),
				detail: Type.String({ description: "What is wrong, and what to do." }),
			}),
		),
	},
	{ title: "SignatureDiagnosis" },
);

type DoctorParts = Pick<ApiParts, "storage" | "engine" | "config">;

export function signatureCheckRoutes({ storage, engine, config }: DoctorParts): Route[] {
	return [
		route("POST", "/v1/projects/{project_id}/attempts/{attempt_id}/signature-check", "checkSignature", {
			summary: "Find out why a receiver refuses a signature",
			description:
				"Compares what a receiver saw and computed for a request with what was sent, and says whether its secret, body, timestamp or clock is wrong. It takes no secret and returns no signature.",
			access: "developer",
			rate: "urlChecks",
			body: SignatureSeen,
			// In base64.
			bodyLimit: Math.ceil((config.maxEventBytes + REQUESTS.envelopeBytes) * 1.5),
			success: { status: 200, description: "The findings.", schema: SignatureDiagnosis },
			problems: { conflict: "Nothing was sent in this attempt." },
			async handler({ params: { project_id, attempt_id }, body }) {
				const { signature, timestamp, clock } = body;
				const attempt = found("attempt", await storage.getAttempt({ projectId: project_id, attemptId: attempt_id }));
				if (attempt.sent === null)
					throw new Problem("conflict", "Nothing was sent in this attempt, so nothing was signed.");
				const check = await engine.signatureCheck(project_id, attempt.webhookId);
				const seen = {
					...{ signature, timestamp, clock },
					body: body.body === undefined ? undefined : Buffer.from(body.body, "base64"),
				};
				return { findings: diagnose(attempt.sent, attempt.requestBody, check, seen) };
			},
		}),
	];
}

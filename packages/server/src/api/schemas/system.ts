import { Type } from "./type.ts";

export const ProblemSchema = Type.Object(
	{
		type: Type.String({ description: "A stable code, as a relative URI." }),
		title: Type.String(),
		status: Type.Integer(),
		detail: Type.String({ description: "What happened and what to do." }),
		last_seq: Type.Optional(Type.Integer({ description: "With `log-behind`: the last `seq` of the log." })),
		continue_after: Type.Optional(Type.Integer({ description: "With `log-behind`: pass it as `after` to continue." })),
		epoch: Type.Optional(Type.String({ description: "With `log-behind`: pass it along with `continue_after`." })),
		errors: Type.Optional(
			Type.Array(
				Type.Object({
					pointer: Type.String({
						description: "A JSON Pointer into the body (empty for the whole body), or `?name` for a query parameter.",
					}),
					detail: Type.String(),
				}),
			),
		),
	},
	{ title: "Problem", description: "RFC 9457." },
);
export const Health = Type.Object(
	{
		status: Type.Enum(["ok"], { type: "string" }),
		notice: Type.Optional(Type.String({ description: "What delays some deliveries without making the node unready." })),
	},
	{ title: "Health" },
);

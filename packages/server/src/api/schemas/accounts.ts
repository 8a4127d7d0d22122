import { PASSWORD_LENGTH } from "../../accounts/index.ts";
import { ROLES } from "../../storage/port.ts";
import { closed, id, list, Name, Time } from "./common.ts";
import { Type } from "./type.ts";

const Email = Type.String({ maxLength: 400, examples: ["owner@example.com"] });
const Password = Type.String({
	maxLength: 1_000,
	description: `${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters.`,
	examples: ["correct horse battery staple"],
});
const Token = Type.String({
	minLength: 1,
	maxLength: 200,
	description: "What stands behind the # of a one-time link.",
});

export const RoleName = Type.Enum([...ROLES], {
	type: "string",
	title: "Role",
	description:
		"`viewer` reads everything but secrets; `developer` also changes webhooks and keys and replays; `owner` may do everything, apps and members included.",
});

export const Account = Type.Object(
	{
		id: id("acc", "account"),
		email: Email,
		name: Name,
		operator: Type.Boolean({ description: "Runs the instance: an owner of every project." }),
		created_at: Time,
	},
	{ title: "Account" },
);
export const AccountPatch = Type.Object({ name: Name }, { ...closed, title: "AccountPatch" });
export const PasswordChange = Type.Object(
	{
		current: Type.Optional(
			Type.String({
				maxLength: 1_000,
				description: "May be left out within a quarter of an hour after signing in by a one-time link.",
			}),
		),
		password: Password,
	},
	{ ...closed, title: "PasswordChange" },
);

export const SetupState = Type.Object(
	{ needed: Type.Boolean({ description: "Nobody has an account yet." }) },
	{ title: "SetupState" },
);
export const Setup = Type.Object(
	{ token: Token, email: Email, name: Name, password: Password },
	{ ...closed, title: "Setup" },
);

export const SignIn = Type.Union(
	[
		Type.Object({ email: Email, password: Type.String({ maxLength: 1_000 }) }, closed),
		Type.Object({ token: Token }, closed),
	],
	{ title: "SignIn", examples: [{ email: "owner@example.com", password: "correct horse battery staple" }] },
);
export const Session = Type.Object(
	{
		account: Account,
		csrf_token: Type.String({
			description: "To be sent as `X-CSRF-Token` with every change that a cookie authorizes.",
		}),
		by_link: Type.Boolean({ description: "Begun by a one-time link." }),
		projects: Type.Array(
			Type.Object({
				id: id("proj", "project"),
				name: Name,
				apps: Type.Array(Type.Enum(["developer"], { type: "string" })),
				role: RoleName,
			}),
			{ description: "Those that the account is a member of; for the operator the first 200 of all." },
		),
		retry_delays: Type.Array(Type.Number({ minimum: 0 }), {
			description:
				"How this service retries: the waits between the attempts of a series, in seconds. A series has one attempt more than there are of them, at most.",
		}),
	},
	{ title: "Session" },
);

export const SessionInfo = Type.Object(
	{
		id: id("ses", "session"),
		created_at: Time,
		last_seen_at: Time,
		user_agent: Type.String(),
		address: Type.String(),
		current: Type.Boolean({ description: "The one that asks." }),
	},
	{ title: "SessionInfo" },
);
export const SessionList = list(SessionInfo);

export const NewSignInLink = Type.Object({ email: Email }, { ...closed, title: "NewSignInLink" });
export const SignInLink = Type.Object(
	{ url: Type.String({ description: "Signs in once." }), expires_at: Time },
	{ title: "SignInLink" },
);

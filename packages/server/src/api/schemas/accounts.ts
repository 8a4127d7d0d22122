import type { Static } from "typebox";
import { EMAIL_PATTERN, MAX_EMAIL, PASSWORD_LENGTH } from "../../accounts/index.ts";
import type * as port from "../../storage/port.ts";
import { ROLES } from "../../storage/port.ts";
import { formatTime } from "../http/time.ts";
import { closed, id, list, Name, Time } from "./common.ts";
import { Type } from "./type.ts";

/** To look an account up: any text, since an unknown address and a malformed one get the same response. */
const Email = Type.String({ maxLength: 400, examples: ["owner@example.com"] });
export const NewEmail = Type.String({
	maxLength: MAX_EMAIL,
	pattern: EMAIL_PATTERN,
	description: "An e-mail address. Spaces around it are dropped.",
	errorMessage: "must be an e-mail address, such as owner@example.com",
	examples: ["owner@example.com"],
});
export const NewPassword = Type.String({
	minLength: PASSWORD_LENGTH.min,
	maxLength: PASSWORD_LENGTH.max,
	description: "Passwords that are easy to guess are refused: common words, runs of keys, or your own name or address.",
	examples: ["correct horse battery staple"],
});
export const Token = Type.String({
	minLength: 1,
	maxLength: 200,
	description: "The part of a one-time link after the #.",
	examples: ["Wx_HP7TsO7IqaRWtNMGpnvTG-UQtFWw1wgi-2EiDW_I"],
});

export const RoleName = Type.Enum([...ROLES], {
	type: "string",
	title: "Role",
	description:
		"`viewer` may read everything except secrets. `developer` may also change webhooks and keys, and replay. `owner` may do everything, including apps and members.",
});

export const Account = Type.Object(
	{
		id: id("acc", "account"),
		email: Email,
		name: Name,
		operator: Type.Boolean({ description: "Whether this is the operator, who has the owner role in every project." }),
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
				description: "The current password. Optional within 15 minutes of signing in by a one-time link.",
			}),
		),
		password: NewPassword,
	},
	{ ...closed, title: "PasswordChange" },
);

export const SetupState = Type.Object(
	{ needed: Type.Boolean({ description: "Whether the operator's account has yet to be created." }) },
	{ title: "SetupState" },
);
export const Setup = Type.Object(
	{ token: Token, email: NewEmail, name: Name, password: NewPassword },
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
			description: "Send it as `X-CSRF-Token` with every change that a cookie authorizes.",
		}),
		by_link: Type.Boolean({ description: "Whether it was started by a one-time link." }),
		projects: Type.Array(
			Type.Object({
				id: id("proj", "project"),
				name: Name,
				apps: Type.Array(Type.Enum(["developer"], { type: "string" })),
				role: RoleName,
			}),
			{ description: "The projects that the account is a member of. For the operator, the first 200 of all projects." },
		),
		retry_delays: Type.Array(Type.Number({ minimum: 0 }), {
			description:
				"The delays between the attempts of a series, in seconds. A series has at most one attempt more than there are delays.",
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
		current: Type.Boolean({ description: "Whether this is the calling session." }),
	},
	{ title: "SessionInfo" },
);
export const SessionList = list(SessionInfo);

export const NewSignInLink = Type.Object({ email: Email }, { ...closed, title: "NewSignInLink" });
export const SignInLink = Type.Object(
	{ url: Type.String({ description: "The link. It works once." }), expires_at: Time },
	{ title: "SignInLink" },
);

export function presentAccount({ id, email, name, operator, createdAt }: port.Account): Static<typeof Account> {
	return { id, email, name, operator, created_at: formatTime(createdAt) };
}

export function presentSessionInfo(session: port.Session, currentId: string): Static<typeof SessionInfo> {
	return {
		id: session.id,
		created_at: formatTime(session.createdAt),
		last_seen_at: formatTime(session.lastSeenAt),
		user_agent: session.userAgent,
		address: session.address,
		current: session.id === currentId,
	};
}

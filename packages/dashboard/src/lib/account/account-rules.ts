import { NAME_LENGTH, nameFaults } from "@posthorn/protocol";
import { sentence } from "../text/case.ts";
import { typedName } from "../text/names.ts";

/** The API's limits for passwords, in characters. */
const PASSWORD_LENGTH = { min: 10, max: 200 } as const;

/** What is wrong with a value, in words, or null. */
export const passwordFault = (password: string) =>
	password.length < PASSWORD_LENGTH.min
		? `At least ${PASSWORD_LENGTH.min} characters: a short sentence works well.`
		: password.length > PASSWORD_LENGTH.max
			? `At most ${PASSWORD_LENGTH.max} characters.`
			: null;

/** What the API would refuse in a line of text with these limits. */
export function textFault(given: string, limits: Parameters<typeof nameFaults>[1]): string | null {
	const text = typedName(given);
	const [fault] = nameFaults(text, limits);
	if (fault === undefined) return null;
	return text === "" ? "Enter a name." : sentence(fault);
}

export const nameFault = (name: string) => textFault(name, NAME_LENGTH);

export const emailFault = (email: string) =>
	/^\S+@\S+$/.test(email.trim()) ? null : "Enter an e-mail address, such as anna@example.com.";

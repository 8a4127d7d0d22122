import { type Fault, NAME_LENGTH, textFaults } from "../registry/index.ts";

export const PASSWORD_LENGTH = { min: 10, max: 200 } as const;
/** RFC 5321, 4.5.3.1.3. */
export const MAX_EMAIL = 254;
/**
 * Something, an `@`, and a domain with a dot, as a JSON Schema pattern. Only a message sent to an address can show whether
 * it exists. Spaces around it are dropped.
 */
export const EMAIL_PATTERN = (() => {
	const part = "[^\\s@.\\x00-\\x1f\\x7f-\\x9f]+";
	return `^\\s*[^\\s@\\x00-\\x1f\\x7f-\\x9f]+@${part}(?:\\.${part})+\\s*$`;
})();
const EMAIL = new RegExp(EMAIL_PATTERN, "u");

export interface AccountInput {
	readonly email?: string;
	readonly name?: string;
	readonly password?: string;
}

/** The faults of the fields that are present. */
export function accountFaults({ email, name, password }: AccountInput): Fault[] {
	return [
		...(email === undefined ? [] : emailFaults(email)),
		...(name === undefined ? [] : textFaults(name, "/name", NAME_LENGTH)),
		...(password === undefined ? [] : passwordFaults(password)),
	];
}

export function emailFaults(email: string): Fault[] {
	const faults = textFaults(email.trim(), "/email", { min: 1, max: MAX_EMAIL });
	if (faults.length === 0 && !EMAIL.test(email.trim()))
		faults.push({ pointer: "/email", detail: "must be an e-mail address, such as owner@example.com" });
	return faults;
}

function passwordFaults(password: string): Fault[] {
	const length = [...password].length;
	const { min, max } = PASSWORD_LENGTH;
	if (length >= min && length <= max) return [];
	return [{ pointer: "/password", detail: `must have ${min} to ${max} characters` }];
}

/** The form in which e-mail addresses are compared. */
export function normalEmail(email: string): string {
	return email.trim().normalize("NFC").toLowerCase();
}

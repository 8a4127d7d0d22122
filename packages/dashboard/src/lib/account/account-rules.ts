/** The API's limits for the fields of an account, in characters. */
export const PASSWORD_LENGTH = { min: 10, max: 200 } as const;
export const NAME_LENGTH = { min: 1, max: 100 } as const;

/** What is wrong with a value, in words, or null. */
export const passwordFault = (password: string) =>
	password.length < PASSWORD_LENGTH.min
		? `At least ${PASSWORD_LENGTH.min} characters: a short sentence works well.`
		: password.length > PASSWORD_LENGTH.max
			? `At most ${PASSWORD_LENGTH.max} characters.`
			: null;

export const nameFault = (name: string) =>
	name.trim().length < NAME_LENGTH.min
		? "Enter a name."
		: name.length > NAME_LENGTH.max
			? `At most ${NAME_LENGTH.max} characters.`
			: null;

export const emailFault = (email: string) =>
	/^\S+@\S+$/.test(email.trim()) ? null : "Enter an e-mail address, such as anna@example.com.";

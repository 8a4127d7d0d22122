import { SIGN_IN } from "../base/budgets.ts";
import type { Clock } from "../base/clock.ts";
import type { IdSource } from "../base/ids.ts";
import { Throttle } from "../base/throttle.ts";
import { type Fault, type Invalid, NAME_LENGTH, textFaults } from "../registry/index.ts";
import type { Account, AccountStorage } from "../storage/port.ts";
import { createKey, keyHash } from "./api-keys.ts";
import type { Passwords } from "./password.ts";

/** How long a printed setup link is valid. Each start of the service prints another until one has been used. */
const SETUP_LINK_MS = 7 * 86_400_000;
/** Nodes that start within this time of each other each print a valid setup link; a new link invalidates older ones. */
export const STARTS_TOGETHER_MS = 10 * 60_000;
export const SIGN_IN_LINK_MS = 15 * 60_000;
/** How long after signing in by link a new password may be set without the old one. */
const FORGOTTEN_MS = 15 * 60_000;

export interface NewPerson {
	readonly email: string;
	readonly name: string;
	readonly password: string;
}

export interface PeopleOptions {
	readonly storage: AccountStorage;
	readonly passwords: Passwords;
	readonly clock: Pick<Clock, "now">;
	readonly ids: IdSource;
}

/** The caller must wait this many seconds before the next try. */
export interface Throttled {
	readonly kind: "throttled";
	readonly wait: number;
}

/** Accounts, and how users authenticate. Rejects if storage fails, or with `PasswordsBusy`. */
export class People {
	readonly #options: PeopleOptions;
	readonly #wrongForAccount: Throttle;
	readonly #wrongFromAddress: Throttle;
	#hasOperator = false;

	constructor(options: PeopleOptions) {
		this.#options = options;
		this.#wrongForAccount = new Throttle(options.clock, SIGN_IN.wrongForAccount, SIGN_IN.windowMs);
		this.#wrongFromAddress = new Throttle(options.clock, SIGN_IN.wrongFromAddress, SIGN_IN.windowMs);
	}

	/** Whether there are no accounts yet. Once there is one, storage isn't asked again, since anyone may call this. */
	async needsSetup(): Promise<boolean> {
		this.#hasOperator ||= await this.#options.storage.hasOperator();
		return !this.#hasOperator;
	}

	/**
	 * A new token for setting up the operator's account; null if the account exists. It replaces earlier ones, except
	 * recent ones, which another node may be about to print.
	 */
	async createSetupToken(): Promise<string | null> {
		const { storage, clock } = this.#options;
		if (await storage.hasOperator()) return null;
		const token = createKey("");
		const expiresAt = clock.now() + SETUP_LINK_MS;
		const supersedes = expiresAt - STARTS_TOGETHER_MS;
		await storage.createLink({ kind: "setup", supersedes, tokenHash: keyHash(token), expiresAt });
		return token;
	}

	/** Creates the operator's account. */
	async setUp(
		token: string,
		person: NewPerson,
		address: string,
	): Promise<
		| Invalid
		| Throttled
		| { readonly kind: "created"; readonly account: Account }
		| { readonly kind: "wrong_token" | "over" | "taken" }
	> {
		const wait = this.#wrongFromAddress.wait(address);
		if (wait !== null) return { kind: "throttled", wait };
		if (!(await this.needsSetup())) return { kind: "over" };
		const faults = accountFaults(person);
		if (faults.length > 0) return { kind: "invalid", faults };
		const { storage, passwords, clock } = this.#options;
		const tokenHash = keyHash(token);
		// Checked before hashing the password, so that a caller without a link causes no work.
		if (!(await storage.holdsSetupLink({ tokenHash, at: clock.now() }))) {
			this.#wrongFromAddress.failed(address);
			return { kind: "wrong_token" };
		}
		const account = this.#account(person, true);
		const normal = normalEmail(person.email);
		const passwordHash = await passwords.hash(person.password);
		const operator = { account, normalEmail: normal, passwordHash, tokenHash, at: clock.now() };
		const kind = await storage.createOperator(operator);
		return kind === "created" ? { kind, account } : { kind };
	}

	/** Creates an account for an invited user. */
	async create(
		person: NewPerson,
	): Promise<Invalid | { readonly kind: "created"; readonly account: Account } | { readonly kind: "taken" }> {
		const faults = accountFaults(person);
		if (faults.length > 0) return { kind: "invalid", faults };
		const account = this.#account(person, false);
		const { storage, passwords } = this.#options;
		const passwordHash = await passwords.hash(person.password);
		const kind = await storage.createAccount({ account, normalEmail: normalEmail(person.email), passwordHash });
		return kind === "created" ? { kind, account } : { kind };
	}

	/**
	 * Returns the same for an unknown address and a wrong password, after the same work, so it doesn't reveal who has an
	 * account.
	 */
	async signIn(
		email: string,
		password: string,
		address: string,
	): Promise<Throttled | { readonly kind: "signed_in"; readonly account: Account } | { readonly kind: "wrong" }> {
		const name = normalEmail(email);
		const wait = this.#wrongFromAddress.wait(address) ?? this.#wrongForAccount.wait(name);
		if (wait !== null) return { kind: "throttled", wait };
		const { storage, passwords } = this.#options;
		const account = await this.#counted(name, address, async () => {
			const found = await storage.findCredentials({ normalEmail: name });
			const right = await passwords.verify(password, found?.passwordHash ?? null);
			return right && found ? found.account : null;
		});
		return account ? { kind: "signed_in", account } : { kind: "wrong" };
	}

	/** A token that signs in once, for a user who forgot the password; null if no account has this address. */
	async createSignInToken(email: string): Promise<{ readonly token: string; readonly expiresAt: number } | null> {
		const { storage, clock } = this.#options;
		const found = await storage.findCredentials({ normalEmail: normalEmail(email) });
		if (!found) return null;
		const token = createKey("");
		const expiresAt = clock.now() + SIGN_IN_LINK_MS;
		const accountId = found.account.id;
		await storage.createLink({ kind: "sign_in", accountId, tokenHash: keyHash(token), expiresAt });
		return { token, expiresAt };
	}

	async signInByToken(
		token: string,
		address: string,
	): Promise<Throttled | { readonly kind: "signed_in"; readonly account: Account } | { readonly kind: "wrong" }> {
		const wait = this.#wrongFromAddress.wait(address);
		if (wait !== null) return { kind: "throttled", wait };
		const { storage, clock } = this.#options;
		const accountId = await storage.useSignInLink({ tokenHash: keyHash(token), at: clock.now() });
		const account = accountId === null ? null : await storage.getAccount({ accountId });
		if (account) return { kind: "signed_in", account };
		this.#wrongFromAddress.failed(address);
		return { kind: "wrong" };
	}

	/** Counts a wrong token from this address; returns the seconds to wait once there are too many, else null. */
	wrongToken(address: string): number | null {
		this.#wrongFromAddress.failed(address);
		return this.#wrongFromAddress.wait(address);
	}

	/** Seconds to wait before another token from this address may be checked; null if it may be now. */
	waitForToken(address: string): number | null {
		return this.#wrongFromAddress.wait(address);
	}

	get(accountId: string): Promise<Account | null> {
		return this.#options.storage.getAccount({ accountId });
	}

	rename(accountId: string, name: string): Promise<Account | null> {
		return this.#options.storage.renameAccount({ accountId, name });
	}

	/** Sets a new password and ends the other sessions. After a recent sign-in by link, the old password isn't needed. */
	async changePassword(
		{
			account,
			session,
		}: {
			readonly account: Account;
			readonly session: { readonly id: string; readonly byLink: boolean; readonly createdAt: number };
		},
		current: string | undefined,
		password: string,
	): Promise<Invalid | Throttled | { readonly kind: "changed" | "wrong" | "current_needed" }> {
		const faults = accountFaults({ password });
		if (faults.length > 0) return { kind: "invalid", faults };
		const { storage, passwords, clock } = this.#options;
		const forgotten = session.byLink && clock.now() - session.createdAt < FORGOTTEN_MS;
		if (current === undefined && !forgotten) return { kind: "current_needed" };
		if (current !== undefined) {
			const name = normalEmail(account.email);
			const wait = this.#wrongForAccount.wait(name);
			if (wait !== null) return { kind: "throttled", wait };
			const right = await this.#counted(name, null, async () => {
				const credentials = await storage.getCredentials({ accountId: account.id });
				return (await passwords.verify(current, credentials?.passwordHash ?? null)) || null;
			});
			if (!right) return { kind: "wrong" };
		}
		const passwordHash = await passwords.hash(password);
		await storage.setPassword({ accountId: account.id, passwordHash, keepSessionId: session.id });
		return { kind: "changed" };
	}

	/**
	 * Checks a password. The try counts as wrong before the work starts, so that concurrent tries don't bypass the limit;
	 * the count is taken back if the password was right (not null) or couldn't be checked.
	 */
	async #counted<T>(name: string, address: string | null, work: () => Promise<T | null>): Promise<T | null> {
		const [forAccount, fromAddress] = [this.#wrongForAccount, this.#wrongFromAddress];
		forAccount.failed(name);
		if (address !== null) fromAddress.failed(address);
		try {
			const answer = await work();
			if (answer === null) return null;
			forAccount.forget(name);
			if (address !== null) fromAddress.takeBack(address);
			return answer;
		} catch (error) {
			forAccount.takeBack(name);
			if (address !== null) fromAddress.takeBack(address);
			throw error;
		}
	}

	#account({ email, name }: NewPerson, operator: boolean): Account {
		const { ids, clock } = this.#options;
		return { id: ids.next("account"), email: email.trim().normalize("NFC"), name, operator, createdAt: clock.now() };
	}
}

export const PASSWORD_LENGTH = { min: 10, max: 200 } as const;
/** RFC 5321, 4.5.3.1.3. */
export const MAX_EMAIL = 254;
/**
 * Something, an `@`, and a domain with a dot, as a JSON Schema pattern. Only a message to the address could show
 * whether it exists. Surrounding spaces are dropped.
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

import { NAME_LENGTH } from "@posthorn/protocol";
import { SIGN_IN } from "../base/budgets.ts";
import type { Clock } from "../base/clock.ts";
import type { IdSource } from "../base/ids.ts";
import type { Logger } from "../base/logger.ts";
import { type Fault, type Invalid, lineFaults } from "../base/text.ts";
import { Throttle } from "../base/throttle.ts";
import type { Account, AccountStorage, NewAccount, Session } from "../storage/port.ts";
import { isCommonPassword, type Passwords } from "./password.ts";
import { createKey, keyHash } from "./tokens.ts";

/** How long a printed setup link is valid. Each start of the service prints another until one has been used. */
const SETUP_LINK_MS = 7 * 86_400_000;
/** Nodes that start within this time of each other each print a valid setup link; a new link invalidates older ones. */
export const STARTS_TOGETHER_MS = 10 * 60_000;
const SIGN_IN_LINK_MS = 15 * 60_000;
/** How long after signing in by link a new password may be set without the old one. */
const FORGOTTEN_MS = 15 * 60_000;

export interface NewPerson {
	readonly email: string;
	readonly name: string;
	readonly password: string;
}

interface PeopleOptions {
	readonly storage: AccountStorage;
	readonly passwords: Passwords;
	readonly clock: Pick<Clock, "now" | "elapsed">;
	readonly ids: IdSource;
	/** Records who signs in and from where, who fails to, and what changes how an account is accessed. */
	readonly logger: Logger;
	/** Called once the operator's account exists, before the response. Must not reject. */
	onSetUp?(): Promise<void>;
}

interface SignedIn {
	readonly kind: "signed_in";
	readonly account: Account;
	/** The account's at this time. The sign-in ends if it changes before the session begins. */
	readonly passwordHash: string;
}

type SignInResult = SignedIn | Throttled | { readonly kind: "wrong" };

/** The caller must wait this many seconds before the next try. */
interface Throttled {
	readonly kind: "throttled";
	readonly wait: number;
}

/**
 * A new token for setting up the operator's account; null if the account exists. It replaces earlier ones, except recent
 * ones, which another node may be about to print.
 */
export async function createSetupToken(
	storage: Pick<AccountStorage, "hasOperator" | "createLink">,
	now: number,
): Promise<string | null> {
	if (await storage.hasOperator()) return null;
	const token = createKey("");
	const expiresAt = now + SETUP_LINK_MS;
	const supersedes = expiresAt - STARTS_TOGETHER_MS;
	await storage.createLink({ kind: "setup", supersedes, tokenHash: keyHash(token), expiresAt });
	return token;
}

/** Where a setup link leads. @param origin of the dashboard */
export const setupLink = (origin: string, token: string): string => `${origin}/setup#${token}`;

/** Accounts, and how users authenticate. Rejects if storage fails, or with `PasswordsBusy`. */
export class People {
	readonly #options: PeopleOptions;
	/** By account and network. */
	readonly #wrongForAccount: Throttle;
	/** By session. */
	readonly #wrongInSession: Throttle;
	readonly #wrongFromNetwork: Throttle;
	/** Addresses that were tried with an invitation and have an account, by the invitation. */
	readonly #taken: Throttle;
	#hasOperator = false;

	constructor(options: PeopleOptions) {
		this.#options = options;
		this.#wrongForAccount = new Throttle(options.clock, SIGN_IN.wrongForAccount, SIGN_IN.windowMs);
		this.#wrongInSession = new Throttle(options.clock, SIGN_IN.wrongForAccount, SIGN_IN.windowMs);
		this.#wrongFromNetwork = new Throttle(options.clock, SIGN_IN.wrongFromNetwork, SIGN_IN.windowMs);
		this.#taken = new Throttle(options.clock, SIGN_IN.wrongForAccount, SIGN_IN.windowMs);
	}

	/** Whether there are no accounts yet. Once there is one, storage isn't asked again, since anyone may call this. */
	async needsSetup(): Promise<boolean> {
		this.#hasOperator ||= await this.#options.storage.hasOperator();
		return !this.#hasOperator;
	}

	/** See the function {@link createSetupToken}. */
	createSetupToken(): Promise<string | null> {
		const { storage, clock } = this.#options;
		return createSetupToken(storage, clock.now());
	}

	/** @param person has no {@link accountFaults} */
	async setUp(
		token: string,
		person: NewPerson,
		network: string,
	): Promise<
		| Throttled
		| { readonly kind: "created"; readonly account: Account }
		| { readonly kind: "wrong_token" | "over" | "taken" }
	> {
		const wait = this.#wrongFromNetwork.wait(network);
		if (wait !== null) return { kind: "throttled", wait };
		if (!(await this.needsSetup())) return { kind: "over" };
		const { storage, passwords, clock } = this.#options;
		const tokenHash = keyHash(token);
		// Checked before hashing the password, so that a caller without a link causes no work.
		if (!(await storage.holdsSetupLink({ tokenHash, at: clock.now() }))) {
			this.#wrongFromNetwork.failed(network);
			return { kind: "wrong_token" };
		}
		const account = this.#account(person, true);
		const passwordHash = await passwords.hash(person.password, network);
		const credentials = { normalEmail: normalEmail(person.email), passwordHash };
		const kind = await storage.createOperator({ account, ...credentials, tokenHash, at: clock.now() });
		if (kind !== "created") return { kind };
		this.#log("the operator's account was created", account.id, { network });
		await this.#options.onSetUp?.();
		return { kind, account };
	}

	/** An account for an invited user who has no {@link accountFaults}, to be created along with the acceptance. */
	async prepare(person: NewPerson, network: string): Promise<NewAccount> {
		const account = this.#account(person, false);
		const passwordHash = await this.#options.passwords.hash(person.password, network);
		return { account, normalEmail: normalEmail(person.email), passwordHash };
	}

	/**
	 * Accepts an invitation with a new account. Its holder may try only a few addresses that have one already, for which
	 * `accept` resolves with null.
	 */
	tryAddress<T>(invitationId: string, accept: () => Promise<T | null>): Promise<Tried<T>> {
		return this.#counted([[this.#taken, invitationId]], accept);
	}

	/**
	 * Returns the same for an unknown address and a wrong password, after the same work, so it doesn't reveal who has an
	 * account.
	 */
	async signIn(email: string, password: string, network: string): Promise<SignInResult> {
		const name = normalEmail(email);
		const counts: readonly Count[] = [
			[this.#wrongFromNetwork, network],
			[this.#wrongForAccount, `${name}\n${network}`],
		];
		const { storage, passwords } = this.#options;
		let accountId: string | null = null;
		const tried = await this.#counted(counts, async () => {
			const found = await storage.findCredentials({ normalEmail: name });
			accountId = found?.account.id ?? null;
			const isRight = await passwords.verify(password, found?.passwordHash ?? null, network);
			return isRight ? found : null;
		});
		this.#log(SIGN_IN_LINES[tried.kind], accountId, { network });
		return tried.kind === "right" ? { kind: "signed_in", ...tried.result } : tried;
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
		this.#log("a sign-in link was created", accountId, {});
		return { token, expiresAt };
	}

	async signInByToken(token: string, network: string): Promise<SignInResult> {
		const wait = this.#wrongFromNetwork.wait(network);
		if (wait !== null) return { kind: "throttled", wait };
		const { storage, clock } = this.#options;
		const found = await storage.useSignInLink({ tokenHash: keyHash(token), at: clock.now() });
		this.#log(found ? "signed in by link" : "wrong sign-in link", found?.account.id ?? null, { network });
		if (found) return { kind: "signed_in", ...found };
		this.#wrongFromNetwork.failed(network);
		return { kind: "wrong" };
	}

	/** Counts a wrong token from this network; returns the seconds to wait once there are too many, else null. */
	wrongToken(network: string): number | null {
		this.#wrongFromNetwork.failed(network);
		return this.#wrongFromNetwork.wait(network);
	}

	/** Seconds to wait before another token from this network may be checked; null if it may be now. */
	waitForToken(network: string): number | null {
		return this.#wrongFromNetwork.wait(network);
	}

	/**
	 * Sets a new password and ends the other sessions, unless this one ended meanwhile (`ended`). After a recent sign-in by
	 * link, the old password isn't needed.
	 */
	async changePassword(
		{ account, session }: SignedInBy,
		current: string | undefined,
		password: string,
	): Promise<Invalid | Throttled | { readonly kind: "changed" | "wrong" | "current_needed" | "ended" }> {
		const faults = accountFaults({ password, known: account });
		if (faults.length > 0) return { kind: "invalid", faults };
		const { storage, passwords, clock } = this.#options;
		// A session from a time when the clock was ahead isn't new forever.
		const forgotten = session.byLink && Math.abs(clock.now() - session.createdAt) < FORGOTTEN_MS;
		if (current === undefined && !forgotten) return { kind: "current_needed" };
		if (current !== undefined) {
			const tried = await this.#counted([[this.#wrongInSession, session.id]], async () => {
				const credentials = await storage.getCredentials({ accountId: account.id });
				return (await passwords.verify(current, credentials?.passwordHash ?? null, account.id)) || null;
			});
			if (tried.kind === "wrong") this.#log("wrong password for a new password", account.id, {});
			if (tried.kind !== "right") return tried;
		}
		const passwordHash = await passwords.hash(password, account.id);
		const byLink = current === undefined;
		const kind = await storage.setPassword({ accountId: account.id, passwordHash, keepSessionId: session.id, byLink });
		if (kind === "changed") this.#log("the password was changed; other sessions and links have ended", account.id, {});
		return { kind };
	}

	/**
	 * Counts a try as wrong before its work starts, so that concurrent tries don't bypass the limit. The count is taken
	 * back if the try was right (not null) or the work couldn't be done.
	 */
	async #counted<T>(counts: readonly Count[], work: () => Promise<T | null>): Promise<Tried<T>> {
		for (const [throttle, name] of counts) {
			const wait = throttle.wait(name);
			if (wait !== null) return { kind: "throttled", wait };
		}
		const takeBack = () => {
			for (const [throttle, name] of counts) throttle.takeBack(name);
		};
		for (const [throttle, name] of counts) throttle.failed(name);
		try {
			const result = await work();
			if (result === null) return { kind: "wrong" };
			takeBack();
			// Earlier wrong tries were typing errors, except those for other accounts from the same network.
			for (const [throttle, name] of counts) if (throttle !== this.#wrongFromNetwork) throttle.forget(name);
			return { kind: "right", result };
		} catch (error) {
			takeBack();
			throw error;
		}
	}

	#log(message: string, accountId: string | null, fields: { readonly network?: string }): void {
		this.#options.logger.info({ accountId, ...fields }, message);
	}

	#account({ email, name }: NewPerson, operator: boolean): Account {
		const { ids, clock } = this.#options;
		return {
			id: ids.next("account"),
			email: email.trim().normalize("NFC"),
			name: name.trim(),
			operator,
			createdAt: clock.now(),
		};
	}
}

interface SignedInBy {
	readonly account: Account;
	readonly session: Pick<Session, "id" | "byLink" | "createdAt">;
}

/** A throttle, and what a try counts to. */
type Count = readonly [throttle: Throttle, name: string];

/** How a counted try ended. */
type Tried<T> = Throttled | { readonly kind: "wrong" } | { readonly kind: "right"; readonly result: T };

/** What the log says about a sign-in. */
const SIGN_IN_LINES = {
	throttled: "sign-in refused after too many wrong tries",
	wrong: "wrong password",
	right: "signed in",
} as const;

export const PASSWORD_LENGTH = { min: 10, max: 200 } as const;
/** RFC 5321, 4.5.3.1.3. */
export const MAX_EMAIL = 254;
/**
 * Something, an `@`, and a domain with a dot, as a JSON Schema pattern. Only a message to the address could show
 * whether it exists. Surrounding spaces are dropped.
 */
export const EMAIL_PATTERN = (() => {
	// Nor characters that aren't visible, with which an address could look like another.
	const never = "\\s@\\x00-\\x1f\\x7f-\\x9f\\u00ad\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f";
	const part = `[^.${never}]+`;
	return `^\\s*[^${never}]+@${part}(?:\\.${part})+\\s*$`;
})();

interface AccountInput extends Partial<NewPerson> {
	/** The account whose password changes. */
	readonly known?: Pick<Account, "email" | "name">;
}

/** The faults of the fields that are present, except those that the API's schemas find. */
export function accountFaults({ email, name, password, known }: AccountInput): Fault[] {
	const about = [email, name, known?.email, known?.name].filter((each) => each !== undefined);
	return [
		...(email === undefined ? [] : lineFaults(email.trim(), "/email", { min: 1, max: MAX_EMAIL })),
		...nameFaults({ name }),
		...(password === undefined ? [] : passwordFaults(password, about)),
	];
}

/** The faults of the name of an account, a project or an API key. */
export function nameFaults({ name }: { readonly name?: string | undefined }): Fault[] {
	return name === undefined ? [] : lineFaults(name, "/name", NAME_LENGTH);
}

function passwordFaults(password: string, known: readonly string[]): Fault[] {
	if (!isCommonPassword(password, known)) return [];
	const detail = "is easy to guess: use several unrelated words, or a password manager";
	return [{ pointer: "/password", detail }];
}

/** The form in which e-mail addresses are compared. */
export function normalEmail(email: string): string {
	return email.trim().normalize("NFC").toLowerCase();
}

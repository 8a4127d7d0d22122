import { afterEach, beforeEach, expect, test } from "vitest";
import { SIGN_IN } from "../base/budgets.ts";
import { type Logger, silentLogger } from "../base/logger.ts";
import { createAccount, openTestStorage, type TestStorage } from "./accounts.fixture.ts";
import { Passwords, PasswordsBusy } from "./password.ts";
import { People } from "./people.ts";
import { Sessions } from "./sessions.ts";

const ADA = { email: "ada@example.com", name: "Ada", password: "correct horse battery staple" };
const ADDRESS = "192.0.2.1";

/** Simulates very many concurrent sign-ins while switched on; otherwise skips the work of hashing. */
class BusyPasswords extends Passwords {
	isBusy = false;
	isQuick = false;

	override async verify(password: string, hash: string | null, owner: string): Promise<boolean> {
		if (this.isBusy) throw new PasswordsBusy();
		if (this.isQuick) return password === ADA.password;
		return super.verify(password, hash, owner);
	}
}

let rig: TestStorage;
let passwords: BusyPasswords;
let people: People;
/** Log lines. */
let lines: object[];
beforeEach(async () => {
	rig = await openTestStorage();
	passwords = new BusyPasswords();
	lines = [];
	const logger: Logger = { ...silentLogger, info: (fields, message) => lines.push({ ...fields, message }) };
	people = new People({ ...rig, passwords, logger });
	await createAccount(rig.storage, people, ADA);
});
afterEach(() => rig.close());

/** A stored session. */
async function begin(accountId: string, byLink: boolean) {
	const sessions = new Sessions({ ...rig, logger: silentLogger });
	const token = await sessions.begin(accountId, { userAgent: "", address: ADDRESS }, byLink);
	return (await sessions.find(token!))!.session;
}

test("compares addresses without case, surrounding spaces and composition", async () => {
	await createAccount(rig.storage, people, { ...ADA, email: " Ren\u00e9@Example.com " });
	for (const email of ["ren\u00e9@example.com", "RENE\u0301@EXAMPLE.COM", "\tren\u00e9@example.com\n"])
		expect(await people.signIn(email, ADA.password, ADDRESS), email).toMatchObject({
			kind: "signed_in",
			account: { email: "Ren\u00e9@Example.com" },
		});
	expect(await createAccount(rig.storage, people, { ...ADA, email: "ADA@EXAMPLE.COM" })).toEqual({ kind: "taken" });
});

test("a try rejected as busy doesn't count as wrong", async () => {
	passwords.isBusy = true;
	for (let i = 0; i < 2 * SIGN_IN.wrongFromNetwork; i++)
		await expect(people.signIn(ADA.email, ADA.password, ADDRESS)).rejects.toThrow(PasswordsBusy);
	passwords.isBusy = false;
	expect(await people.signIn(ADA.email, "wrong password", ADDRESS)).toEqual({ kind: "wrong" });
	expect(await people.signIn(ADA.email, ADA.password, ADDRESS)).toMatchObject({ kind: "signed_in" });
});

// A store's staff share an address, and start work at the same time.
test("sign-ins from an address don't change its count of wrong tries", async () => {
	passwords.isQuick = true;
	for (let i = 0; i < 2 * SIGN_IN.wrongFromNetwork; i++)
		expect(await people.signIn(ADA.email, ADA.password, ADDRESS)).toMatchObject({ kind: "signed_in" });
	for (let i = 0; i < SIGN_IN.wrongFromNetwork; i++)
		expect(await people.signIn(`someone${i}@example.com`, "wrong password", ADDRESS)).toEqual({ kind: "wrong" });
	expect(await people.signIn(ADA.email, ADA.password, ADDRESS)).toMatchObject({ kind: "throttled" });
});

test("concurrent tries are limited like successive ones", async () => {
	const tries = Array.from({ length: SIGN_IN.wrongForAccount + 5 }, () =>
		people.signIn(ADA.email, "wrong password", ADDRESS),
	);
	const kinds = (await Promise.all(tries)).map(({ kind }) => kind);
	expect(kinds).toEqual([
		...Array<string>(SIGN_IN.wrongForAccount).fill("wrong"),
		...Array<string>(5).fill("throttled"),
	]);
});

test("wrong passwords are forgotten after 15 minutes", async () => {
	for (let i = 0; i < SIGN_IN.wrongForAccount; i++) await people.signIn(ADA.email, "wrong password", ADDRESS);
	rig.clock.advance(1_000);
	expect(await people.signIn(ADA.email, ADA.password, ADDRESS)).toEqual({ kind: "throttled", wait: 899 });
	rig.clock.advance(899_000);
	expect(await people.signIn(ADA.email, ADA.password, ADDRESS)).toMatchObject({ kind: "signed_in" });
});

test("a link sign-in allows a new password without the old one for 15 minutes", async () => {
	const found = await rig.storage.findCredentials({ normalEmail: ADA.email });
	const account = found!.account;
	const session = await begin(account.id, true);
	const change = () => people.changePassword({ account, session }, undefined, "another horse battery staple");
	rig.clock.advance(15 * 60_000);
	expect(await change()).toEqual({ kind: "current_needed" });
	// Nor if the clock was ahead at the sign-in, and was set back.
	rig.clock.set(-86_400_000);
	expect(await change()).toEqual({ kind: "current_needed" });
	rig.clock.set(86_400_000 - 1);
	expect(await change()).toEqual({ kind: "changed" });
});

// Ten wrong passwords from anywhere once locked the rightful owner out.
test("wrong passwords from one network don't lock out others, or an open session", async () => {
	passwords.isQuick = true;
	for (let i = 0; i < SIGN_IN.wrongForAccount; i++) await people.signIn(ADA.email, "wrong password", "203.0.113.9");
	expect(await people.signIn(ADA.email, ADA.password, "203.0.113.9")).toMatchObject({ kind: "throttled" });
	expect(await people.signIn(ADA.email, ADA.password, ADDRESS)).toMatchObject({ kind: "signed_in" });
	const { account } = (await rig.storage.findCredentials({ normalEmail: ADA.email }))!;
	const session = await begin(account.id, false);
	const change = await people.changePassword({ account, session }, ADA.password, "another horse battery staple");
	expect(change).toEqual({ kind: "changed" });
});

test("logs sign-ins, failures, throttling, links and password changes, without what was typed", async () => {
	passwords.isQuick = true;
	const { account } = (await rig.storage.findCredentials({ normalEmail: ADA.email }))!;
	const [network, accountId] = [ADDRESS, account.id];
	await people.signIn(ADA.email, ADA.password, network);
	await people.signIn("my password by mistake", "wrong password", network);
	for (let i = 0; i <= SIGN_IN.wrongForAccount; i++) await people.signIn(ADA.email, "wrong password", network);
	const link = await people.createSignInToken(ADA.email);
	await people.signInByToken(link!.token, network);
	await people.signInByToken("guess", network);
	const session = await begin(account.id, true);
	await people.changePassword({ account, session }, "wrong password", "another horse battery staple");
	await people.changePassword({ account, session }, undefined, "another horse battery staple");
	expect(lines).toEqual([
		{ accountId, network, message: "signed in" },
		{ accountId: null, network, message: "wrong password" },
		...Array.from({ length: SIGN_IN.wrongForAccount }, () => ({ accountId, network, message: "wrong password" })),
		{ accountId: null, network, message: "sign-in refused after too many wrong tries" },
		{ accountId, message: "a sign-in link was created" },
		{ accountId, network, message: "signed in by link" },
		{ accountId: null, network, message: "wrong sign-in link" },
		{ accountId, message: "wrong password for a new password" },
		{ accountId, message: "the password was changed; other sessions and links have ended" },
	]);
});

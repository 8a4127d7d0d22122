import { randomBytes, timingSafeEqual } from "node:crypto";
import { SIGN_IN } from "../base/budgets.ts";
import { Displaced, FairQueue } from "../base/turns.ts";
import { Argon2 } from "./argon2.ts";

interface PasswordCost {
	/** KiB. */
	readonly memory: number;
	readonly passes: number;
	readonly lanes: number;
}

/** argon2id with the parameters that OWASP's Password Storage Cheat Sheet recommends first: 19 MiB, two passes, one lane. */
const COST: PasswordCost = { memory: 19_456, passes: 2, lanes: 1 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Too many passwords are being checked at once. */
export class PasswordsBusy extends Error {
	override readonly name = "PasswordsBusy";
}

/**
 * Hashes passwords one at a time, so that a flood of sign-ins doesn't take memory and CPU from deliveries. Owners take
 * turns: those of one network or account can't keep others waiting, nor a few of them keep others out.
 */
export class Passwords {
	readonly #cost: PasswordCost;
	readonly #argon2 = new Argon2();
	readonly #queue = new FairQueue({
		perOwner: 1,
		running: SIGN_IN.hashes,
		waiting: SIGN_IN.hashesWaitingOfOwner,
		waitingInAll: SIGN_IN.hashesWaiting,
	});
	/** Decoy hash, used when there is none. */
	readonly #decoy: string;

	/** @param cost of new hashes and of the decoy; only tests use less than the default */
	constructor(cost = COST) {
		this.#cost = cost;
		this.#decoy = phc(cost, randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));
	}

	/** The hash in PHC string form, `$argon2id$v=19$m=…,t=…,p=…$salt$hash`. @throws PasswordsBusy */
	async hash(password: string, owner: string): Promise<string> {
		const salt = randomBytes(SALT_BYTES);
		const hash = await this.#inTurn(owner, () => this.#derive(password, { ...this.#cost, salt }));
		return phc(this.#cost, salt, hash);
	}

	/** Whether the password matches the hash. Without a hash it doesn't, after the same work. @throws PasswordsBusy */
	async verify(password: string, hash: string | null, owner: string): Promise<boolean> {
		const { expected, ...parameters } = parse(hash ?? this.#decoy);
		const derived = await this.#inTurn(owner, () => this.#derive(password, parameters));
		return timingSafeEqual(derived, expected) && hash !== null;
	}

	async #inTurn(owner: string, work: () => Promise<Buffer>): Promise<Buffer> {
		const derived = this.#queue.run(owner, work);
		if (derived === null) throw new PasswordsBusy();
		try {
			return await derived;
		} catch (error) {
			throw error instanceof Displaced ? new PasswordsBusy() : error;
		}
	}

	#derive(password: string, { salt, memory, passes, lanes }: Parameters): Promise<Buffer> {
		// One keyboard may send composed letters, another decomposed ones (RFC 8265, 4.2).
		const message = Buffer.from(password.normalize("NFC"));
		return this.#argon2.hash({ message, nonce: salt, memory, passes, parallelism: lanes, tagLength: HASH_BYTES });
	}
}

interface Parameters extends PasswordCost {
	readonly salt: Buffer;
}

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

function phc({ memory, passes, lanes }: PasswordCost, salt: Buffer, hash: Buffer): string {
	return `$argon2id$v=19$m=${memory},t=${passes},p=${lanes}$${base64(salt)}$${base64(hash)}`;
}

function parse(text: string): Parameters & { expected: Buffer } {
	const match = PHC.exec(text);
	if (match === null) throw new Error("A stored password hash is not in the form that this version knows.");
	const [memory, passes, lanes] = match.slice(1, 4).map(Number) as [number, number, number];
	const [salt, expected] = match.slice(4).map((part) => Buffer.from(part, "base64")) as [Buffer, Buffer];
	return { memory, passes, lanes, salt, expected };
}

/** PHC strings omit the padding. */
const base64 = (bytes: Buffer): string => bytes.toString("base64").replace(/=+$/, "");

/** Words of lists of the most common passwords, and of this service. */
const WORDS: readonly string[] =
	`abc abcd abcdef access account admin administrator america amanda andrea andrew angel anthony asdf asdfgh ashley bailey
	banana baseball basketball batman buster butterfly changeme changeit charlie cheese chelsea chocolate computer cookie
	daniel dashboard default demo diamond donald dragon elephant enter family ferrari flower football forever freedom
	friends george ginger google guest hannah hello hockey hunter iloveyou internet jennifer jessica jordan joshua justin
	killer letmein liverpool login london lovely love loveme maggie manager master matrix matthew melissa michael michelle
	microsoft monkey morgan mustang mypass mypassword nicole ninja nothing oliver operator orange owner pass passphrase
	passport passw password passwort pepper phoenix please pokemon posthorn princess purple qazwsx qwer qwert qwerty
	qwertz rainbow ranger robert root samantha samsung school secret secure security server service shadow shop silver
	snoopy soccer sparky spring starwars store summer sunshine superman support sysadmin system taylor temp temporary test
	testing thomas thunder tigger toor trustno unknown user viewer webhook webhooks welcome whatever william windows winter
	yankees zaq zxcvbn`.split(/\s+/);

/** Rows of keyboards, the alphabet and digits, whose runs are typed without thought. */
const ROWS = [
	"abcdefghijklmnopqrstuvwxyz",
	"01234567890",
	"qwertyuiop[]",
	"qwertzuiopü",
	"azertyuiop",
	"asdfghjkl;'",
	"zxcvbnm,./",
	"yxcvbnm,.-",
	"1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.0p;/",
	"qazwsxedcrfvtgbyhnujmikolp",
	"1q2w3e4r5t6y7u8i9o0p",
	"q1w2e3r4t5y6u7i8o9p0",
	"!@#$%^&*()",
	'!"§$%&/()=',
].flatMap((row) => [row, [...row].reverse().join("")]);
/** Shorter runs also occur in good passwords. */
const MIN_RUN = 3;

/** Symbols and digits that stand for letters. */
const LETTERS: Readonly<Record<string, string>> = {
	"0": "o",
	"1": "i",
	"3": "e",
	"4": "a",
	"5": "s",
	"7": "t",
	"8": "b",
	"@": "a",
	$: "s",
	"!": "i",
};

/** A password needs this many different characters that aren't part of something easy to guess. */
const MIN_DIFFERENT = 4;
/** Shorter parts of names also occur in good passwords. */
const MIN_PART = 3;

/**
 * Whether a guessing program would soon find this password: apart from common words, runs of keys, years and facts about
 * its user (`known`: e-mail address, name), it has only a few different characters. Such programs' lists are long, but
 * entries of ten characters or more are mostly words with digits around them, runs of keys, and repetitions, so a few
 * rules catch more than a list would.
 */
export function isCommonPassword(password: string, known: readonly string[]): boolean {
	const text = fold(password);
	const spelled = text.map((character) => LETTERS[character] ?? character);
	const easy = new Array<boolean>(text.length).fill(false);
	const mark = (at: number, length: number) => easy.fill(true, at, at + length);
	const words = [...WORDS, ...known.flatMap(partsOf)];
	for (const form of [text.join(""), spelled.join("")])
		for (const word of words)
			for (let at = form.indexOf(word); at >= 0; at = form.indexOf(word, at + 1)) mark(at, word.length);
	for (const { index, 0: year } of text.join("").matchAll(/(?:19|20)\d\d/g)) mark(index, year.length);
	for (let at = 0; at < text.length; at++) {
		const length = Math.max(...ROWS.map((row) => runAt(text, at, row)));
		if (length >= MIN_RUN) mark(at, length);
	}
	return new Set(text.filter((character, at) => !easy[at] && character !== " ")).size < MIN_DIFFERENT;
}

/** In lower case, one UTF-16 unit for each character, so that positions agree. */
const fold = (text: string): string[] => text.normalize("NFKC").toLowerCase().split("");

/** An address or a name, and its words. */
function partsOf(known: string): string[] {
	const text = fold(known).join("");
	return [text, ...text.split(/[^\p{L}\p{N}]+/u)].filter((part) => part.length >= MIN_PART);
}

/** How many characters from `at` on follow a row. */
function runAt(text: readonly string[], at: number, row: string): number {
	const start = row.indexOf(text[at]!);
	if (start < 0) return 0;
	let length = 1;
	while (at + length < text.length && start + length < row.length && text[at + length] === row[start + length])
		length++;
	return length;
}

import { randomBytes, timingSafeEqual } from "node:crypto";
import { SIGN_IN } from "../base/budgets.ts";
import { FairQueue } from "../base/fair-queue.ts";
import { Argon2 } from "./argon2.ts";

/** The cost of a hash. */
export interface PasswordCost {
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
 * turns: those of one network or account can't keep others waiting.
 */
export class Passwords {
	readonly #cost: PasswordCost;
	readonly #argon2 = new Argon2();
	readonly #queue = new FairQueue({
		perOwner: 1,
		running: SIGN_IN.hashes,
		waiting: SIGN_IN.hashesWaitingOfOwner,
	});
	/** Running and waiting. */
	#pending = 0;
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
		if (this.#pending >= SIGN_IN.hashes + SIGN_IN.hashesWaiting) throw new PasswordsBusy();
		this.#pending += 1;
		try {
			const derived = this.#queue.run(owner, work);
			if (derived === null) throw new PasswordsBusy();
			return await derived;
		} finally {
			this.#pending -= 1;
		}
	}

	#derive(password: string, { salt, memory, passes, lanes }: Parameters): Promise<Buffer> {
		// One keyboard may send composed letters, another decomposed ones (RFC 8265, 4.2).
		const message = Buffer.from(password.normalize("NFC"));
		return this.#argon2.hash({
			message,
			nonce: salt,
			memory,
			passes,
			parallelism: lanes,
			tagLength: HASH_BYTES,
		});
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
	return {
		memory,
		passes,
		lanes,
		salt: Buffer.from(match[4]!, "base64"),
		expected: Buffer.from(match[5]!, "base64"),
	};
}

/** PHC strings omit the padding. */
const base64 = (bytes: Buffer): string => bytes.toString("base64").replace(/=+$/, "");

import { INVITATIONS } from "../base/budgets.ts";
import type { Clock } from "../base/clock.ts";
import type { IdSource } from "../base/ids.ts";
import type { Accepting, Account, AccountStorage, By, Invitation, Membership, Role } from "../storage/port.ts";
import { createKey, keyHash } from "./tokens.ts";

const INVITATION_MS = 7 * 86_400_000;

interface MembersOptions {
	readonly storage: AccountStorage;
	readonly clock: Pick<Clock, "now">;
	readonly ids: IdSource;
}

export type Invited = Pick<Invitation, "projectId" | "role" | "email" | "invitedBy"> & Required<By>;

/** Who may do what in which project, and how others become members. Rejects only if storage fails. */
export class Members {
	readonly #options: MembersOptions;

	constructor(options: MembersOptions) {
		this.#options = options;
	}

	/** An account's role in a project; the operator is an owner of every project. */
	async roleOf(projectId: string, account: Account): Promise<Role | null> {
		return account.operator ? "owner" : this.#options.storage.getRole({ projectId, accountId: account.id });
	}

	/** The created invitation comes with its token, which only the link contains. `not_member`: `by` has lost the role. */
	async invite({
		by,
		...invited
	}: Invited): Promise<
		| { readonly kind: "created"; readonly invitation: Invitation; readonly token: string }
		| { readonly kind: "not_member" | "too_many" }
	> {
		const { storage, clock, ids } = this.#options;
		const now = clock.now();
		const times = { createdAt: now, expiresAt: now + INVITATION_MS };
		const invitation = { id: ids.next("invitation"), ...invited, ...times };
		const token = createKey("");
		const about = { tokenHash: keyHash(token), by, most: INVITATIONS.open };
		const kind = await storage.createInvitation({ ...invitation, ...about });
		return kind === "created" ? { kind, invitation, token } : { kind };
	}

	invitations(projectId: string): Promise<Invitation[]> {
		return this.#options.storage.listInvitations({ projectId, at: this.#options.clock.now() });
	}

	/** Null if it is unknown, accepted or expired. */
	findInvitation(token: string): Promise<Invitation | null> {
		return this.#options.storage.findInvitation({ tokenHash: keyHash(token), at: this.#options.clock.now() });
	}

	/**
	 * Adds an account, which may be new, to the project that it is invited to. Null if the invitation has ended; `taken`:
	 * the new account's address has an account.
	 */
	accept(token: string, projectId: string, by: Accepting): Promise<Membership | "taken" | null> {
		const { storage, clock } = this.#options;
		return storage.acceptInvitation({ projectId, tokenHash: keyHash(token), by, at: clock.now() });
	}
}

import type { Account, Actor, KeyScope, Session } from "../storage/port.ts";

/** Who makes a request. */
export type Principal =
	| { readonly kind: "operator" }
	| {
			readonly kind: "project";
			readonly projectId: string;
			readonly keyId: string;
			readonly keyName: string;
			readonly scopes: readonly KeyScope[];
	  }
	| Person;

/** A signed-in user. */
export interface Person {
	readonly kind: "person";
	readonly account: Account;
	readonly session: Session;
	/** What unsafe requests must carry in addition to the cookie. */
	readonly csrfToken: string;
}

/** How the audit log identifies them. */
export function actorOf(principal: Principal): Actor {
	switch (principal.kind) {
		case "operator":
			return { kind: "operator_key", id: null, name: "The operator's key" };
		case "project":
			return { kind: "api_key", id: principal.keyId, name: principal.keyName };
		case "person":
			return { kind: "account", id: principal.account.id, name: principal.account.name };
	}
}

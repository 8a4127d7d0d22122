import type { Account, Actor, Session } from "../storage/port.ts";

/** Who speaks. */
export type Principal =
	| { readonly scope: "operator" }
	| {
			readonly scope: "project";
			readonly projectId: string;
			readonly keyId: string;
			readonly keyName: string;
	  }
	| Person;

/** Somebody who signed in. */
export interface Person {
	readonly scope: "person";
	readonly account: Account;
	readonly session: Session;
	/** What unsafe requests must carry besides the cookie. */
	readonly csrfToken: string;
}

/** As whom the audit log knows them. */
export function actorOf(principal: Principal): Actor {
	switch (principal.scope) {
		case "operator":
			return { kind: "operator_key", id: null, name: "The operator's key" };
		case "project":
			return { kind: "api_key", id: principal.keyId, name: principal.keyName };
		case "person":
			return { kind: "account", id: principal.account.id, name: principal.account.name };
	}
}

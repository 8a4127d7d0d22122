import type { Role } from "../lib/roles.ts";

/** A page of a list. */
export interface Page<Item> {
	readonly data: readonly Item[];
	readonly next_cursor: string | null;
}

export type AppName = "developer";

export interface Project {
	readonly id: string;
	readonly name: string;
	readonly apps: readonly AppName[];
	readonly created_at: string;
}

/** A project as the session sees it. */
export interface SessionProject {
	readonly id: string;
	readonly name: string;
	readonly apps: readonly AppName[];
	readonly role: Role;
}

export interface Account {
	readonly id: string;
	readonly email: string;
	readonly name: string;
	readonly operator: boolean;
	readonly created_at: string;
}

export interface Session {
	readonly account: Account;
	readonly csrf_token: string;
	/** Whether it began with a link of the operator's rather than with the password. */
	readonly by_link: boolean;
	readonly projects: readonly SessionProject[];
}

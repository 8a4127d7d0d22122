import type { FastifyReply, FastifyRequest } from "fastify";
import { SESSION_MS } from "../accounts/index.ts";

/** The cookie that a session is known by. Over TLS its name has a prefix that keeps other hosts from setting it (RFC 6265bis). */
export class SessionCookie {
	readonly #secure: () => boolean;

	/** @param secure whether people reach the dashboard by https */
	constructor(secure: () => boolean) {
		this.#secure = secure;
	}

	read(request: FastifyRequest): string | undefined {
		return request.cookies[this.#name];
	}

	set(reply: FastifyReply, token: string): void {
		reply.setCookie(this.#name, token, { ...this.#options, maxAge: SESSION_MS / 1_000 });
	}

	/** Has the browser keep the cookie for as long from now on as the service keeps the session, which was used just now. */
	renew(request: FastifyRequest, reply: FastifyReply): void {
		const token = this.read(request);
		if (token !== undefined) this.set(reply, token);
	}

	clear(reply: FastifyReply): void {
		reply.clearCookie(this.#name, this.#options);
	}

	get #name(): string {
		return this.#secure() ? "__Host-posthorn_session" : "posthorn_session";
	}

	get #options(): { path: string; httpOnly: true; sameSite: "lax"; secure: boolean } {
		return { path: "/", httpOnly: true, sameSite: "lax", secure: this.#secure() };
	}
}

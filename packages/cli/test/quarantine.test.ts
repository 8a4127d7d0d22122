import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { unusedPort } from "@posthorn/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { User } from "./client.fixture.ts";

/** A service that notes what its caller sent. */
class Service {
	readonly keys = new Set<string | undefined>();
	readonly #server: Server;
	#detail = "restored";

	private constructor() {
		this.#server = createServer((request, response) => {
			this.keys.add(request.headers.authorization);
			const isState = request.url === "/v1/quarantine";
			const state = { active: true, since: null, backup_at: null, detail: this.#detail };
			response.setHeader("Content-Type", "application/json");
			response.end(JSON.stringify(isState ? state : { data: [], next_cursor: null }));
		});
	}

	static async start(detail?: string): Promise<Service> {
		const service = new Service();
		if (detail !== undefined) service.#detail = detail;
		service.#server.listen(0, "127.0.0.1");
		await once(service.#server, "listening");
		return service;
	}

	get port(): string {
		return String((this.#server.address() as AddressInfo).port);
	}

	get url(): string {
		return `http://127.0.0.1:${this.port}`;
	}

	stop(): void {
		this.#server.closeAllConnections();
		this.#server.close();
	}
}

let operator: User;
let here: Service;
let other: Service;
beforeEach(async () => {
	operator = new User();
	here = await Service.start("restored\u001b[2J");
	other = await Service.start();
	// As `posthorn login` leaves it.
	mkdirSync(join(operator.home, ".config/posthorn"), { recursive: true });
	login(other.url);
});
afterEach(() => {
	here.stop();
	other.stop();
	operator.close();
});

const login = (url: string) =>
	writeFileSync(
		join(operator.home, ".config/posthorn/login.json"),
		JSON.stringify({ url, key: "pho_theirs", project: "proj_1" }),
	);

const OURS = "operator-key-of-this-machine-0123456789";

test.each(["quarantine", "release"])("%s talks to this machine, wherever posthorn login leads", async (command) => {
	const env = { POSTHORN_PORT: here.port, POSTHORN_OPERATOR_KEY: OURS };
	const { out, err } = await operator.run([command], { env });
	expect(other.keys).toEqual(new Set());
	expect(here.keys).toEqual(new Set([`Bearer ${OURS}`]));
	expect(out).toContain("restored\ufffd[2J");
	if (command === "release") expect(err).toContain(`Release ${here.url}?`);
});

test("the key of a login is sent only to its own service, if that is named", async () => {
	const unnamed = await operator.run(["quarantine"], { env: { POSTHORN_PORT: String(await unusedPort()) } });
	expect(unnamed).toMatchObject({ code: 2, err: expect.stringContaining("no operator key for http://127.0.0.1") });
	expect(other.keys).toEqual(new Set());
	const named = await operator.run(["quarantine", "--url", other.url]);
	expect(named.code).toBe(0);
	expect(other.keys).toEqual(new Set(["Bearer pho_theirs"]));
	expect((await operator.run(["quarantine", "--url", here.url])).code).toBe(2);
	expect(here.keys).toEqual(new Set());
});

test("another machine gets the key of its login, not this machine's", async () => {
	// Leads here, but isn't known to.
	const url = `http://0.0.0.0:${other.port}`;
	login(url);
	expect((await operator.run(["quarantine", "--url", url], { env: { POSTHORN_OPERATOR_KEY: OURS } })).code).toBe(0);
	expect(other.keys).toEqual(new Set(["Bearer pho_theirs"]));
});

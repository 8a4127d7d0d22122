import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { unusedPort, within } from "@posthorn/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { User } from "./client.fixture.ts";

/** A service that notes what its caller sent. */
class Service {
	readonly keys = new Set<string | undefined>();
	readonly changes: unknown[] = [];
	/** The projects whose webhooks have pending deliveries. */
	waiting: readonly object[] = [];
	/** The response to a webhook's change, by the end of its path. */
	readonly refusals = new Map<string, number>();
	/** Whether the database still is in quarantine when it is released. */
	releases = true;
	readonly #server: Server;
	#detail = "restored";

	private constructor() {
		this.#server = createServer(async (request, response) => {
			this.keys.add(request.headers.authorization);
			const url = request.url!;
			const body = Buffer.concat(await request.toArray()).toString();
			if (request.method !== "GET") this.changes.push([url, body === "" ? null : JSON.parse(body)]);
			const state = { active: true, since: null, backup_at: null, detail: this.#detail };
			response.setHeader("Content-Type", "application/json").setHeader("Posthorn-Api", "v1");
			response.statusCode = this.refusals.get(url.split("/").at(-1)!) ?? 200;
			const isList = url.startsWith("/v1/quarantine/waiting");
			const released = { ...state, active: false, detail: null, released: this.releases };
			const ended = url.endsWith("/release") ? released : state;
			response.end(JSON.stringify(isList ? { data: this.waiting, next_cursor: null } : ended));
		});
	}

	static async start(detail?: string, host = "127.0.0.1"): Promise<Service> {
		const service = new Service();
		if (detail !== undefined) service.#detail = detail;
		service.#server.listen(0, host);
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
	expect(command === "release" ? err : out).toContain("restored\ufffd[2J");
	if (command === "release") expect(err).toContain(`Release ${here.url}?`);
});

// They asked 127.0.0.1, wherever the service listened.
test("this machine's service is called at its address", async () => {
	const host = "::1";
	const service = await Service.start(undefined, host);
	try {
		const env = { POSTHORN_HOST: host, POSTHORN_PORT: service.port, POSTHORN_OPERATOR_KEY: OURS };
		expect((await operator.run(["quarantine"], { env })).code).toBe(0);
		expect(service.keys).toEqual(new Set([`Bearer ${OURS}`]));
	} finally {
		service.stop();
	}
});

test("the key of a login is sent only to its own service, if that is named", async () => {
	const unnamed = await operator.run(["quarantine"], { env: { POSTHORN_PORT: String(await unusedPort()) } });
	expect(unnamed).toMatchObject({ code: 2, err: expect.stringContaining("no operator key for http://127.0.0.1") });
	// The key is printed only once, so it may be lost when it is needed.
	expect(unnamed.err).toContain('or "posthorn operator-key --new" replaces it.');
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

const pending = (id: string, status: "active" | "paused" = "active") => ({
	...{ id, url: "https://example.com", description: "", status },
	...{ backlog: { events: 2, oldest_at: null }, waiting: { count: 0, next_at: null } },
});

// It resumed a webhook that had been paused after the list was read.
test("a release skips pending deliveries without resuming a webhook, even if one was deleted meanwhile", async () => {
	here.waiting = [
		{ id: "proj_1", name: "Shop", webhooks: [pending("wh_1"), pending("wh_2"), pending("wh_3", "paused")] },
	];
	here.refusals.set("wh_1", 404);
	const env = { POSTHORN_PORT: here.port, POSTHORN_OPERATOR_KEY: OURS };
	const { code, out } = await operator.run(["release", "--skip", "all", "--yes"], { env });
	expect([code, out]).toEqual([0, expect.stringContaining("Released: ")]);
	expect(here.changes).toEqual([
		["/v1/projects/proj_1/webhooks/wh_1", { from: "now" }],
		["/v1/projects/proj_1/webhooks/wh_2", { from: "now" }],
		["/v1/quarantine/release", null],
	]);
});

// Of "posthorn release > result.txt", the terminal showed only the question. With "| head -1", which had read enough
// before, nothing was released, and the exit code was 0.
test("what a release will send is shown with the question, and only its result on standard output", async () => {
	here.waiting = [{ id: "proj_1", name: "Shop", webhooks: [pending("wh_1")] }];
	const env = { POSTHORN_PORT: here.port, POSTHORN_OPERATOR_KEY: OURS };
	const unread = operator.spawn(["release", "--yes"], env);
	unread.stdout!.destroy();
	await within("the command to end", once(unread, "close"));
	expect(here.changes).toEqual([["/v1/quarantine/release", null]]);
	const { out, err } = await operator.run(["release", "--yes"], { env });
	expect(out).toBe("Released: deliveries continue within a second.\n");
	expect(err).toMatch(/^restored.*\nPROJECT +WEBHOOK .*\nShop +wh_1 .*\n2 first attempts wait for 1 webhook\.\n$/);
});

// Its width was that of standard output: a file got the table cut, and the terminal got it whole.
test.runIf(process.platform === "linux")("what a release will send fits into the terminal that shows it", async () => {
	here.waiting = [{ id: "proj_1", name: "Shop", webhooks: [{ ...pending("wh_1"), url: `https://${"x".repeat(90)}` }] }];
	const shownWith = async (rest: string) => {
		const settings = `POSTHORN_PORT=${here.port} POSTHORN_OPERATOR_KEY=${OURS} NO_COLOR=1`;
		const { shown } = await operator.runAtTerminal(`stty cols 80; ${settings} posthorn release --yes ${rest}`);
		return shown;
	};
	const shown = await shownWith("> result.txt");
	expect(shown.split("\r\n").find((line) => line.startsWith("Shop "))).toMatch(/^.{79}…$/u);
	await shownWith("2> table.txt");
	expect(readFileSync(join(operator.home, "table.txt"), "utf8")).toContain(`https://${"x".repeat(90)}\n`);
});

// It said "--json lists all", but "posthorn release --json" lists nothing: it releases.
test.each(["quarantine", "release"])("%s says how to list the webhooks that it leaves out", async (command) => {
	const webhooks = Array.from({ length: 52 }, (_, n) => pending(`wh_${n}`));
	here.waiting = [{ id: "proj_1", name: "Shop", webhooks }];
	const env = { POSTHORN_PORT: here.port, POSTHORN_OPERATOR_KEY: OURS };
	const { err } = await operator.run([command], { env });
	expect(err).toContain("… and 2 webhooks more; posthorn quarantine --json lists all.\n");
});

test("of two operators who release at once, the second learns that deliveries may have been sent", async () => {
	here.waiting = [{ id: "proj_1", name: "Shop", webhooks: [pending("wh_1")] }];
	here.releases = false;
	const env = { POSTHORN_PORT: here.port, POSTHORN_OPERATOR_KEY: OURS };
	const { out } = await operator.run(["release", "--skip", "wh_1", "--yes"], { env });
	expect(out).toContain("Someone else has just released the database. Deliveries that you wanted to skip may");
	const json = await operator.run(["release", "--yes", "--json"], { env });
	expect(JSON.parse(json.out)).toMatchObject({ active: false, released: false, skipped: [] });
});

/** Alerts from a service in its own process, to a receiver that verifies them like a webhook's. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createSecret } from "@posthorn/protocol";
import { until, unusedPort } from "@posthorn/testkit";
import { verify } from "@posthorn/webhooks";
import pg from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { User } from "../packages/cli/test/client.fixture.ts";
import { PostgresServer } from "../packages/testkit/src/postgres/postgres.ts";
import { purchase, Shop } from "./shop.ts";

const SECRET = createSecret();

let server: PostgresServer;
beforeEach(async () => {
	server = await PostgresServer.start();
});
afterEach(() => server.stop());

async function query(url: string, sql: string): Promise<void> {
	const client = new pg.Client(url);
	await client.connect();
	await client.query(sql);
	await client.end();
}

const metric = async (shop: Shop, line: RegExp): Promise<number | null> => {
	const text = await (await fetch(`${shop.service.url}/metrics`)).text();
	const found = line.exec(text);
	return found && Number(found[1]);
};

test.each(["SQLite", "PostgreSQL"])(
	"on %s, dead letters are reported once, and again unless the alert was accepted",
	async (engine) => {
		const database = engine === "SQLite" ? null : await server.createDatabase();
		await using shop = await Shop.open({
			POSTHORN_RETRY_DELAYS: "0.1",
			...(database !== null && {
				POSTHORN_DATABASE_URL: database,
				POSTHORN_SEAL_KEY: Buffer.alloc(32, 7).toString("base64"),
			}),
		});
		const operator = await shop.receiver({ secret: SECRET, respond: (_, n) => ({ status: n === 1 ? 503 : 204 }) });
		/** The next process, as if no node had looked within the last minute. */
		const restart = async () => {
			await shop.service.stop();
			if (database !== null) await query(database, "DELETE FROM posthorn.settings WHERE name = 'health_count'");
			await shop.start({
				settings: { POSTHORN_ALERT_URL: operator.url("/alerts"), POSTHORN_ALERT_SECRET: SECRET },
			});
		};
		const broken = await shop.receiver({ respond: () => ({ status: 500 }) });
		const { id } = await shop.webhook(broken.url("/secret-path"), { description: "Accounting" });
		await shop.post(shop.path("/events"), purchase(1));
		await broken.count(2);
		await until("the dead letter", async () => {
			const [webhook] = (await shop.get(shop.path("/webhooks/health"))).body.data;
			return webhook.dead_letters === 1;
		});

		await restart();
		await operator.count(1);
		// It didn't accept that one. The next process sends it again.
		await until("the failure to be counted", async () => (await metric(shop, FAILED)) === 1);
		await restart();
		await operator.count(2);
		await until("the success to be counted", async () => (await metric(shop, DELIVERED)) === 1);
		const [first, second] = operator.requests;
		expect(second!.headers["x-service-event"]).toBe("webhook.dead_letters");
		const event = await verify(second!.rawBody, second!.headers, SECRET);
		expect(event).toMatchObject({
			type: "webhook.dead_letters",
			project_id: shop.projectId,
			data: {
				text: expect.stringMatching(/^“Accounting” \(localhost\) of A store has dead letters: 1 delivery has failed/),
				webhook: { id, description: "Accounting", host: "localhost" },
				last_attempt: { status_code: 500, attempt: 2 },
				dead_letters: 1,
				dashboard_url: `${shop.service.url}/p/${shop.projectId}/webhooks/${id}`,
			},
		});
		expect(first!.headers["x-service-event-id"]).toBe(event.id);
		expect(second!.rawBody.toString()).not.toContain("secret-path");

		// Another one knows that it was accepted, unless the last one ended before it had stored that.
		await until("the report to be stored", async () => {
			await restart();
			await until("a pass to end", async () => (await metric(shop, IDLE)) !== null);
			return (await metric(shop, DELIVERED)) === 0;
		});
	},
);

const IDLE = /^posthorn_webhook_health\{health="idle"\} (\d+)/m;
const FAILED = /^posthorn_alerts_total\{outcome="failed"\} (\d+)/m;
const DELIVERED = /^posthorn_alerts_total\{outcome="delivered"\} (\d+)/m;

test("the receiver of the documentation takes alerts", async () => {
	const page = readFileSync(new URL("../docs/operations/alerts.md", import.meta.url), "utf8");
	await using shop = await Shop.open();
	const user = new User();
	// Within this checkout, so that it finds the package.
	const cache = fileURLToPath(new URL("../.cache/", import.meta.url));
	mkdirSync(cache, { recursive: true });
	const folder = mkdtempSync(join(cache, "alerts-"));
	const port = String(await unusedPort());
	writeFileSync(join(folder, "receiver.ts"), /```ts\n(.*?)```/s.exec(page)![1]!);
	const receiver = spawn(process.execPath, [join(folder, "receiver.ts")], {
		env: { POSTHORN_ALERT_SECRET: SECRET, PORT: port },
		stdio: ["ignore", "pipe", "inherit"],
	});
	try {
		const printed = once(receiver.stdout, "data");
		const proxy = await shop.receiver({
			async respond({ headers, rawBody }) {
				const to = `http://127.0.0.1:${port}/`;
				const { status } = await fetch(to, { method: "POST", headers, body: new Uint8Array(rawBody) });
				return { status };
			},
		});
		await until("the receiver to listen", () => {
			if (receiver.exitCode !== null) throw new Error("The receiver has ended.");
			return fetch(`http://127.0.0.1:${port}/`).then(
				() => true,
				() => false,
			);
		});
		const env = {
			POSTHORN_ALERT_URL: proxy.url("/"),
			POSTHORN_ALERT_SECRET: SECRET,
			POSTHORN_EGRESS_CA_FILE: shop.settings.POSTHORN_EGRESS_CA_FILE!,
		};
		expect(await user.run(["alert"], { env })).toMatchObject({ code: 0 });
		expect(String((await printed)[0])).toMatch(/^alert\.test in proj_test: This is a test alert\./);
	} finally {
		receiver.kill();
		user.close();
		rmSync(folder, { recursive: true });
	}
});

test("posthorn alert says whether a test alert was accepted", async () => {
	await using shop = await Shop.open();
	const user = new User();
	try {
		const receiver = await shop.receiver({ secret: SECRET, respond: (_, n) => ({ status: n === 1 ? 200 : 401 }) });
		const env = {
			POSTHORN_ALERT_URL: receiver.url("/alerts"),
			POSTHORN_ALERT_SECRET: SECRET,
			POSTHORN_EGRESS_CA_FILE: shop.settings.POSTHORN_EGRESS_CA_FILE!,
		};
		const accepted = await user.run(["alert"], { env });
		expect(accepted).toMatchObject({
			code: 0,
			out: expect.stringMatching(/^localhost:\d+ accepted the test alert alert_[0-9a-f]{32}\.\n$/),
		});
		const [request] = receiver.requests;
		expect(request).toMatchObject({ verified: true, body: { type: "alert.test" } });
		expect(await user.run(["alert"], { env })).toMatchObject({
			code: 1,
			err: expect.stringMatching(/^localhost:\d+ didn't accept the test alert\. The receiver returned 401\.$/m),
		});
		expect(await user.run(["alert"])).toMatchObject({ code: 2, err: expect.stringContaining("isn't set") });
		const made = await user.run(["alert", "--new-secret"]);
		expect(await user.run(["alert"], { env: { ...env, POSTHORN_ALERT_SECRET: made.out } })).toMatchObject({ code: 1 });
		expect(receiver.requests.at(-1)).toMatchObject({ verified: false });
	} finally {
		user.close();
	}
});

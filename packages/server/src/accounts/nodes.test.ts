import { PostgresServer } from "@posthorn/testkit/postgres";
import { until } from "@posthorn/testkit/until";
import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { giveDatabaseBack, takeDatabase } from "../../test/storage/postgres/databases.ts";
import { API_KEYS } from "../base/budgets.ts";
import { IdSource } from "../base/ids.ts";
import { silentLogger } from "../base/logger.ts";
import { openPostgresStorage, type PostgresStorage } from "../storage/postgres/index.ts";
import { ApiKeys } from "./api-keys.ts";
import { OPERATOR_KEY_PREFIX, OperatorKey, replaceOperatorKey } from "./operator-key.ts";
import { Passwords } from "./password.ts";
import { People } from "./people.ts";
import { type Ask, createKey, keyHash } from "./tokens.ts";

describe("people and keys on nodes that share a database", () => {
	let server: PostgresServer;
	let url: string;
	let clock: VirtualClock;
	let ids: IdSource;
	const nodes: PostgresStorage[] = [];

	beforeAll(async () => {
		server = await PostgresServer.start();
	});
	afterAll(() => server.stop());
	beforeEach(async () => {
		url = await takeDatabase(server);
		clock = new VirtualClock(Date.now());
		ids = new IdSource(clock);
	});
	afterEach(async () => {
		await Promise.all(nodes.splice(0).map((storage) => storage.close()));
		await giveDatabaseBack(server, url);
	});

	async function node(): Promise<PostgresStorage> {
		const storage = await openPostgresStorage({ url, clock, leaseTermMs: 60_000 });
		nodes.push(storage);
		return storage;
	}

	/** Resolves when the node is notified of this project. */
	function hint(storage: PostgresStorage, projectId: string): Promise<void> {
		return new Promise((resolve) => {
			const end = storage.peers.subscribe((projectIds) => {
				if (!projectIds.includes(projectId)) return;
				end();
				resolve();
			});
		});
	}

	async function project(storage: PostgresStorage): Promise<string> {
		const id = ids.next("project");
		await storage.createProject({ id, name: "p", apps: ["developer"], createdAt: clock.now() });
		return id;
	}

	/** Deletes keys, each of which notifies the node, until the node listens. */
	async function untilHeard(teller: PostgresStorage, listener: PostgresStorage): Promise<void> {
		const projectId = await project(teller);
		let heard = false;
		void hint(listener, projectId).then(() => {
			heard = true;
		});
		await until("the other node to listen", async () => {
			const key = { id: ids.next("apiKey"), projectId, name: "knock", prefix: "", createdAt: clock.now() };
			await teller.createApiKey({ ...key, scopes: [], expiresAt: null, createdBy: null, hash: keyHash(key.id) });
			await teller.deleteApiKey({ projectId, keyId: key.id });
			return heard;
		});
	}

	// It was trusted there for up to five seconds.
	test("a key revoked on one node is refused on another once that is notified", async () => {
		const [here, there] = [await node(), await node()];
		const operatorKey = new OperatorKey(keyHash("the operator's key"));
		const options = { operatorKey, clock, ids, logger: silentLogger };
		const [hereKeys, thereKeys] = [
			new ApiKeys({ storage: here, ...options }),
			new ApiKeys({ storage: there, ...options }),
		];
		await untilHeard(here, there);
		const projectId = await project(here);
		const made = await hereKeys.create({
			projectId,
			name: "k",
			createdBy: { kind: "operator_key", id: null, name: "k" },
		});
		if (made.kind !== "created") throw new Error("The key was refused.");
		const key = Buffer.from(made.key);
		expect(await thereKeys.authenticate(key)).toMatchObject({ projectId });

		clock.advance(1_000);
		const hinted = hint(there, projectId);
		expect(await hereKeys.delete(projectId, made.apiKey.id)).toBe(true);
		await hinted;
		expect(await thereKeys.authenticate(key)).toBeNull();
		await Promise.all([hereKeys.close(), thereKeys.close()]);
	});

	// The new key worked only after every node had been restarted, and until then the old one did.
	test("a replaced operator's key takes effect on every node within seconds", async () => {
		const [here, there] = [await node(), await node()];
		const open = () =>
			OperatorKey.open({ storage: there, configured: null, clock, logger: silentLogger }).then(
				(operatorKey) => new ApiKeys({ storage: there, operatorKey, clock, ids, logger: silentLogger }),
			);
		const keys = await open();
		const first = Buffer.from(await replaceOperatorKey(here));
		clock.advance(API_KEYS.trustedMs);
		expect(await keys.authenticate(first)).toEqual({ kind: "operator" });
		const second = Buffer.from(await replaceOperatorKey(here));
		expect(await keys.authenticate(first)).toEqual({ kind: "operator" });
		clock.advance(API_KEYS.trustedMs);
		expect(await Promise.all([keys.authenticate(first), keys.authenticate(second)])).toEqual([
			null,
			{ kind: "operator" },
		]);
		// A clock that was ahead when the key was read doesn't extend the trust in it once it is set back.
		clock.set(86_400_000);
		expect(await keys.authenticate(second)).toEqual({ kind: "operator" });
		clock.set(-86_400_000);
		await replaceOperatorKey(here);
		clock.advance(API_KEYS.trustedMs);
		expect(await keys.authenticate(second)).toBeNull();
		await keys.close();
	});

	test("wrong operator keys read the stored one once in a while, and take turns for it", async () => {
		const storage = await node();
		let reads = 0;
		const counted = {
			peers: storage.peers,
			getSetting: (p: Parameters<typeof storage.getSetting>[0]) => {
				reads++;
				return storage.getSetting(p);
			},
		};
		const operatorKey = await OperatorKey.open({ storage: counted, configured: null, clock, logger: silentLogger });
		const keys = new ApiKeys({ storage, operatorKey, clock, ids, logger: silentLogger });
		let asked = 0;
		const ask: Ask = (_hash, find) => {
			asked++;
			return find();
		};
		const guess = () => keys.authenticate(Buffer.from(createKey(OPERATOR_KEY_PREFIX)), ask);
		clock.advance(API_KEYS.trustedMs);
		expect(await Promise.all([guess(), guess(), guess()])).toEqual([null, null, null]);
		expect(await guess()).toBeNull();
		expect({ reads, asked }).toEqual({ reads: 2, asked: 3 });
		// Another kind of key can't be the operator's.
		clock.advance(API_KEYS.trustedMs);
		expect(await keys.authenticate(Buffer.from(createKey("xyz_")), ask)).toBeNull();
		expect({ reads, asked }).toEqual({ reads: 2, asked: 3 });
		await keys.close();
	});

	// Each printed a link, and the first was replaced by then.
	test("nodes that start together each print a valid setup link", async () => {
		const started = [await node(), await node(), await node()].map(
			(storage) => new People({ storage, clock, ids, passwords: new Passwords(), logger: silentLogger }),
		);
		const tokens = await Promise.all(started.map((people) => people.createSetupToken()));
		expect(new Set(tokens).size).toBe(3);
		const person = (i: number) => ({
			email: `${i}@example.com`,
			name: "Ada",
			password: "correct horse battery staple",
		});
		// Any node may handle a link: each token goes to a different node than the one that printed it.
		const setUp = (people: People, i: number) => people.setUp(tokens[(i + 1) % 3]!, person(i), "192.0.2.1");
		const kinds = (await Promise.all(started.map(setUp))).map(({ kind }) => kind);
		expect(kinds.toSorted()).toEqual(["created", "over", "over"]);
	});
});

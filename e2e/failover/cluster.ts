/**
 * Three PostgreSQL servers under Patroni in synchronous mode, three etcd members, and HAProxy in front: the setup that
 * docs/operations/high-availability.md describes, on one machine.
 */
import { randomBytes } from "node:crypto";
import { chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unusedPort } from "@posthorn/testkit";
import { execute, type ServerUser } from "@posthorn/testkit/postgres";
import { type ConfigurationFile, configuration } from "./configuration.ts";
import { familyOf, type Processes, signalAll } from "./processes.ts";
import type { Programs } from "./programs.ts";
import { until } from "./wait.ts";

const SERVERS = 3;
const ADDRESS = "127.0.0.1";
/** How long etcd and the servers may take to start, milliseconds. */
const ETCD_START_MS = 30_000;
const START_MS = 120_000;
/** Patroni's REST API responds from memory, so a slow response means trouble. Milliseconds. */
const REST_MS = 2_000;

export interface Member {
	readonly name: string;
	/** `leader`, `sync_standby` or `replica`. */
	readonly role: string;
	/** `running` or `streaming` once it is healthy. */
	readonly state: string;
	readonly timeline: number | null;
}

export interface ClusterOptions {
	readonly folder: string;
	readonly programs: Programs;
	readonly processes: Processes;
	/** The user that the processes run as. */
	readonly user: ServerUser;
	readonly signal: AbortSignal;
}

interface Server {
	readonly name: string;
	readonly postgresPort: number;
	readonly patroniPort: number;
	readonly data: string;
	readonly patroniFile: string;
}

export class Cluster {
	readonly servers: Server[] = [];
	readonly #options: ClusterOptions;
	readonly #password = () => randomBytes(12).toString("hex");
	readonly #posthornPassword = this.#password();
	readonly #superuserPassword = this.#password();
	#etcdHosts = "";
	#haproxyPort = 0;

	constructor(options: ClusterOptions) {
		this.#options = options;
	}

	/** Posthorn's database URL: through HAProxy, or with the list of servers. */
	url(through: "haproxy" | "hosts"): string {
		const hosts = through === "haproxy" ? [this.#haproxyPort] : this.servers.map(({ postgresPort }) => postgresPort);
		const list = hosts.map((port) => `${ADDRESS}:${port}`).join(",");
		const query = through === "haproxy" ? "" : "?target_session_attrs=read-write";
		return `postgres://posthorn:${this.#posthornPassword}@${list}/posthorn${query}`;
	}

	async startEtcd(): Promise<void> {
		const { processes, programs, signal } = this.#options;
		const peers = await Promise.all(
			Array.from({ length: SERVERS }, async (_, i) => {
				return { name: `etcd${i + 1}`, client: await unusedPort(), peer: await unusedPort() };
			}),
		);
		for (const { name, client, peer } of peers) {
			const file = this.#write(`${name}.yml`, "etcd.yml", {
				NAME: name,
				DATA: this.#mkdir(name),
				ADDRESS,
				ETCD_CLIENT_PORT: client,
				ETCD_PEER_PORT: peer,
				ENABLE_V2: String(programs.etcdApi === "etcd"),
				ETCD_CLUSTER: peers.map((one) => `${one.name}=http://${ADDRESS}:${one.peer}`).join(","),
			});
			processes.start(name, programs.etcd, ["--config-file", file]);
		}
		await until("etcd has a leader", ETCD_START_MS, signal, async () => {
			for (const { name } of peers) this.#mustRun(name);
			const health = await Promise.all(peers.map(({ client }) => get(`http://${ADDRESS}:${client}/health`)));
			return health.every((answer) => (answer?.body as { health?: string } | undefined)?.health === "true");
		});
		this.#etcdHosts = peers.map(({ client }) => `${ADDRESS}:${client}`).join(",");
	}

	/** Starts the servers and creates the database for Posthorn. */
	async startServers(): Promise<void> {
		const { folder, programs } = this.#options;
		const [replication, rewind] = [this.#password(), this.#password()];
		for (let i = 1; i <= SERVERS; i++) {
			const name = `db${i}`;
			const [postgresPort, patroniPort] = [await unusedPort(), await unusedPort()];
			const data = join(this.#mkdir(name), "data");
			const patroniFile = this.#write(`${name}.yml`, "patroni.yml", {
				NAME: name,
				ADDRESS,
				NETWORK: `${ADDRESS}/32`,
				POSTGRES_PORT: postgresPort,
				PATRONI_PORT: patroniPort,
				ETCD_API: programs.etcdApi,
				ETCD_HOSTS: this.#etcdHosts,
				POSTGRES_BIN: programs.postgresBin,
				DATA: data,
				PGPASS: join(folder, name, "pgpass"),
				SOCKETS: join(folder, name),
				SUPERUSER_PASSWORD: this.#superuserPassword,
				REPLICATION_PASSWORD: replication,
				REWIND_PASSWORD: rewind,
			});
			this.servers.push({ name, postgresPort, patroniPort, data, patroniFile });
		}
		for (const { name } of this.servers) this.startPatroni(name);
		await until("The cluster is whole", START_MS, this.#options.signal, () => this.isWhole());
		const port = this.#server(await this.#mustHaveLeader()).postgresPort;
		const url = `postgres://postgres:${this.#superuserPassword}@${ADDRESS}:${port}/postgres`;
		await execute(`CREATE ROLE posthorn LOGIN PASSWORD '${this.#posthornPassword}'`, url);
		await execute("CREATE DATABASE posthorn OWNER posthorn", url);
	}

	async startHaproxy(): Promise<void> {
		const { programs, processes, signal } = this.#options;
		this.#haproxyPort = await unusedPort();
		const values: Record<string, string | number> = { HAPROXY_PORT: this.#haproxyPort };
		for (const [i, { postgresPort, patroniPort }] of this.servers.entries()) {
			values[`ADDRESS_${i + 1}`] = ADDRESS;
			values[`POSTGRES_PORT_${i + 1}`] = postgresPort;
			values[`PATRONI_PORT_${i + 1}`] = patroniPort;
		}
		processes.start("haproxy", programs.haproxy, ["-db", "-f", this.#write("haproxy.cfg", "haproxy.cfg", values)]);
		await until("HAProxy connects to the primary", START_MS, signal, () => {
			this.#mustRun("haproxy");
			return execute("SELECT 1", this.url("haproxy")).then(
				() => true,
				() => false,
			);
		});
	}

	/** The cluster as Patroni reports it; null if no Patroni responds. */
	async members(): Promise<readonly Member[] | null> {
		const answers = await Promise.all(
			this.servers.map(({ patroniPort }) => get(`http://${ADDRESS}:${patroniPort}/cluster`)),
		);
		const body = answers.find((answer) => answer?.status === 200)?.body as { members: Member[] } | undefined;
		return body?.members ?? null;
	}

	/** The server whose Patroni says it is the primary; null if there is none. */
	async primary(): Promise<string | null> {
		for (const { name, patroniPort } of this.servers)
			if ((await get(`http://${ADDRESS}:${patroniPort}/primary`))?.status === 200) return name;
		return null;
	}

	/** Whether every server is up and the primary has a synchronous standby. */
	async isWhole(): Promise<boolean> {
		const members = await this.members();
		const leader = members?.find(({ role }) => role === "leader");
		if (members?.length !== SERVERS || leader === undefined) return false;
		if (!members.some(({ role }) => role === "sync_standby")) return false;
		return members.every((one) => /^(running|streaming)$/.test(one.state) && one.timeline === leader.timeline);
	}

	startPatroni(name: string): void {
		const { processes, programs } = this.#options;
		processes.start(`patroni-${name}`, programs.patroni, [this.#server(name).patroniFile]);
	}

	killPatroni(name: string): Promise<void> {
		return this.#options.processes.kill(`patroni-${name}`);
	}

	/** Sends a signal to all processes of the server's PostgreSQL, and to its Patroni if asked. */
	signal(name: string, signal: NodeJS.Signals, withPatroni: boolean): void {
		if (withPatroni) this.#options.processes.signal(`patroni-${name}`, signal);
		const [pid] = readFileSync(join(this.#server(name).data, "postmaster.pid"), "utf8").split("\n");
		signalAll(familyOf(Number(pid)), signal);
	}

	async #mustHaveLeader(): Promise<string> {
		return until("There is a primary", START_MS, this.#options.signal, () => this.primary());
	}

	#server(name: string): Server {
		return this.servers.find((one) => one.name === name)!;
	}

	#mustRun(name: string): void {
		const { processes } = this.#options;
		if (!processes.isRunning(name)) throw new Error(`${name} has ended:\n${processes.tail(name)}`);
	}

	#mkdir(name: string): string {
		const path = join(this.#options.folder, name);
		mkdirSync(path, { mode: 0o700 });
		this.#own(path);
		return path;
	}

	#write(name: string, from: ConfigurationFile, values: Readonly<Record<string, string | number>>): string {
		const path = join(this.#options.folder, name);
		writeFileSync(path, configuration(from, values), { mode: 0o600 });
		this.#own(path);
		return path;
	}

	#own(path: string): void {
		const { uid, gid } = this.#options.user;
		if (uid !== undefined) chownSync(path, uid, gid!);
	}
}

async function get(url: string): Promise<{ readonly status: number; readonly body: unknown } | null> {
	try {
		const response = await fetch(url, { signal: AbortSignal.timeout(REST_MS) });
		const text = await response.text();
		return { status: response.status, body: text === "" ? null : JSON.parse(text) };
	} catch {
		return null;
	}
}

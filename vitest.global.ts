/** Runs once, before the first test. */
import { PostgresServer } from "@posthorn/testkit/postgres";
import { shareServer } from "./packages/testkit/src/postgres/postgres-shared.ts";

/** @returns a function that runs after the last test */
export default async function setup(): Promise<() => Promise<void>> {
	const end = await shareServer(() => PostgresServer.start({ own: true, settings: { max_connections: "500" } }));
	return async () => {
		await (await end())?.stop();
	};
}

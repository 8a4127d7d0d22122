/** Values that the instance stores about itself, such as the hash of its operator key. */
import { sql } from "./sql.ts";
import { row, type Steps, together } from "./verb.ts";

export function* getSetting({ name }: { readonly name: string }): Steps<string | null> {
	const found = yield* row<{ value: string }>(sql`SELECT value FROM posthorn.settings WHERE name = ${name}`);
	return found?.value ?? null;
}

/** Sets it if it isn't set yet. Returns the value that counts. */
export function* initSetting({ name, value }: { readonly name: string; readonly value: string }): Steps<string> {
	const [, [held]] = yield* together(
		sql`INSERT INTO posthorn.settings (name, value) VALUES (${name}, ${value}) ON CONFLICT (name) DO NOTHING`,
		sql<{ value: string }>`SELECT value FROM posthorn.settings WHERE name = ${name}`,
	);
	return held?.value ?? value;
}

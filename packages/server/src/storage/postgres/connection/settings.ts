import type { Session } from "./session.ts";
import { sql } from "./sql.ts";

const SET = sql(`
	INSERT INTO posthorn.settings AS s (name, value) VALUES ($1, $2)
	ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE s.value <> excluded.value`);

export async function setSetting(c: Session, name: string, value: string): Promise<void> {
	await c.run(SET, name, value);
}

const PING = sql(`
	INSERT INTO posthorn.settings (name, value) VALUES ('ping', '1')
	ON CONFLICT (name) DO UPDATE SET value = excluded.value RETURNING value`);

/** Writes a row, so that the disk is involved, and reads it. */
export async function ping(c: Session): Promise<void> {
	await c.run(PING);
}

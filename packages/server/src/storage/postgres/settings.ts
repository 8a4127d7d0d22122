import type { Session } from "./session.ts";
import { sql } from "./sql.ts";

const GET = sql("SELECT value FROM posthorn.settings WHERE name = $1");
const INIT = sql("INSERT INTO posthorn.settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING");

export async function getSetting(c: Session, name: string): Promise<string | null> {
	const row = await c.row<{ value: string }>(GET, name);
	return row === undefined ? null : row.value;
}

export async function initSetting(c: Session, name: string, value: string): Promise<string> {
	const [, standing] = await Promise.all([c.run(INIT, name, value), getSetting(c, name)]);
	return standing ?? value;
}

const SET = sql(`
	INSERT INTO posthorn.settings AS s (name, value) VALUES ($1, $2)
	ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE s.value <> excluded.value`);

export async function setSetting(c: Session, name: string, value: string): Promise<void> {
	await c.run(SET, name, value);
}

const PING = sql(`
	INSERT INTO posthorn.settings (name, value) VALUES ('ping', '1')
	ON CONFLICT (name) DO UPDATE SET value = excluded.value`);

/** Writes a row, so that the disk is asked, and reads it. */
export async function ping(c: Session): Promise<void> {
	await Promise.all([c.run(PING), getSetting(c, "ping")]);
}

/**
 * The rule for migrations: they only add, because nodes of the previous release share the database while they are
 * replaced one by one. Unused columns and tables are removed one release later.
 */

/** Statements that the previous release doesn't notice. Anything else needs a reason, and the list of exceptions. */
const ADDITIVE: readonly RegExp[] = [
	/^CREATE (TABLE|INDEX|SEQUENCE|SCHEMA) /i,
	/^DROP INDEX /i,
	/^CREATE (OR REPLACE )?(FUNCTION|TRIGGER) /i,
	/^(REVOKE|GRANT|COMMENT) /i,
	/^INSERT INTO /i,
];

/** Parts of an ALTER TABLE, separated by commas. */
const ADDED_COLUMN = /^ADD (COLUMN )?(?!CONSTRAINT|PRIMARY|UNIQUE|CHECK|FOREIGN|EXCLUDE)\w+ /i;
const STORAGE_OPTION = /^(SET \(|REPLICA IDENTITY FULL$|ALTER (COLUMN )?\w+ SET (STORAGE|STATISTICS|\())/i;

/** Why this migration would break nodes of the previous release: one line for each statement; empty if it wouldn't. */
export function notAdditive(migration: string): string[] {
	return statementsOf(migration).flatMap((statement) => {
		const alter = /^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?[\w.]+ (.*)$/is.exec(statement);
		if (alter !== null) return partsOf(alter[1]!).flatMap((part) => faultOf(part, statement));
		return ADDITIVE.some((pattern) => pattern.test(statement)) ? [] : [`not additive: ${shown(statement)}`];
	});
}

function faultOf(part: string, statement: string): string[] {
	if (STORAGE_OPTION.test(part)) return [];
	if (!ADDED_COLUMN.test(part)) return [`changes what exists: ${shown(statement)}`];
	if (/\bNOT NULL\b/i.test(part) && !/\bDEFAULT\b/i.test(part))
		return [`a new column needs a default, or inserts of the previous release fail: ${shown(part)}`];
	if (/\b(UNIQUE|CHECK|REFERENCES)\b/i.test(part))
		return [`a new column with a constraint may refuse rows of the previous release: ${shown(part)}`];
	if (/\bGENERATED ALWAYS AS \(/i.test(part))
		return [`a generated column rewrites the table, and older snapshots see none of its rows: ${shown(part)}`];
	return [];
}

/** Splits at semicolons outside of quotes, and drops comments. */
function statementsOf(sql: string): string[] {
	return split(sql.replaceAll(/--[^\n]*/g, ""), ";");
}

/** Splits at commas outside of quotes and parentheses. */
const partsOf = (text: string): string[] => split(text, ",");

function split(text: string, at: string): string[] {
	const parts: string[] = [];
	let part = "";
	let depth = 0;
	for (const [token] of text.matchAll(/\$(\w*)\$[\s\S]*?\$\1\$|'(?:[^']|'')*'|"[^"]*"|[\s\S]/g)) {
		if (token === "(") depth++;
		if (token === ")") depth--;
		if (token === at && depth === 0) {
			parts.push(part);
			part = "";
		} else part += token;
	}
	return [...parts, part].map((each) => each.replaceAll(/\s+/g, " ").trim()).filter((each) => each !== "");
}

const shown = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text);

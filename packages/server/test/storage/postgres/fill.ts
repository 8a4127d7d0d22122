import { START } from "../conformance/world.ts";

/** Rows of a table that grows. */
export const MANY = 40_000;
/** The project and the webhook that own most of them. */
export const BIG_PROJECT = "proj_big";
export const BIG_WEBHOOK = "wh_big";

const PROJECTS = 1_000;
const WEBHOOKS_OF_BIG = 50;
const DAY = 86_400_000;
/** ANALYZE samples 300 times as many rows: all of them, so that every run has the same plans. */
const STATISTICS = Math.ceil(MANY / 200);

/** The big project has 19 of every 20 rows; the others are spread over all projects. */
const ofSome = `(SELECT array_agg(no ORDER BY id = '${BIG_PROJECT}' DESC, no) AS nos FROM posthorn.projects) p`;
const projectOf = `nos[CASE WHEN n % 20 > 0 THEN 1 ELSE 1 + n / 20 % ${PROJECTS} END]`;
const series = `generate_series(1, ${MANY}) AS n`;
const hash = "sha256(convert_to('fill' || n, 'UTF8'))";
/** Ids that sort by n. */
const id = (prefix: string) => `'${prefix}_fill' || lpad(n::text, 8, '0')`;
const at = `${START} + n * ${Math.floor(DAY / MANY)}`;

/**
 * Fills every growing table of a database that has the event types "a" and "b" and the day of {@link START}, and
 * gathers statistics.
 */
export const FILL = `
	INSERT INTO posthorn.projects (id, name, developer, created_at)
		SELECT CASE n WHEN 1 THEN '${BIG_PROJECT}' ELSE ${id("proj")} END, 'Shop', true, ${START}
		FROM generate_series(1, ${PROJECTS}) AS n;
	INSERT INTO posthorn.logs (project_no, last_seq) SELECT no, ${MANY} FROM posthorn.projects ON CONFLICT DO NOTHING;
	INSERT INTO posthorn.leases (project_no, wake_at)
		SELECT no, ${START} + ${DAY} + no FROM posthorn.projects ON CONFLICT DO NOTHING;
	INSERT INTO posthorn.webhooks
		(project_no, id, url, description, status, max_in_flight, sealed_digest, created_at, deleted_at)
		SELECT no, CASE n WHEN 1 THEN '${BIG_WEBHOOK}' ELSE ${id("wh")} END, 'https://receiver.example/', '', 'active', 1,
			'', ${START}, CASE WHEN n % 10 = 2 THEN ${START} + ${DAY} END
		FROM posthorn.projects, generate_series(1, ${WEBHOOKS_OF_BIG}) AS n
		WHERE projects.id = '${BIG_PROJECT}' OR n BETWEEN 2 AND 9;
	INSERT INTO posthorn.lanes (project_no, webhook_no, position) SELECT project_no, no, ${MANY - 10} FROM posthorn.webhooks
		WHERE deleted_at IS NULL ON CONFLICT DO NOTHING;
	INSERT INTO posthorn.subscriptions SELECT project_no, no, code, 0 FROM posthorn.webhooks, posthorn.event_types
		WHERE deleted_at IS NULL ON CONFLICT DO NOTHING;
	INSERT INTO posthorn.events (project_no, seq, type_seq, created_at, published_at, type, id, body)
		SELECT no, n, n / 2, ${START}, ${START}, 1 + n % 2, ${id("evt")}, '{}' FROM posthorn.projects, ${series}
		WHERE projects.id = '${BIG_PROJECT}' OR n <= 2;
	INSERT INTO posthorn.attempts
		SELECT project_no, n, no, ${at}, NULL, NULL, 0, 1, 1 + n % 2, 200, 10, CASE WHEN n % 50 = 0 THEN 3 ELSE 1 + n % 2 END,
			false, posthorn.id_at(${at}) || lpad(n::text, 16, '0'), '', NULL, NULL, NULL, NULL, ''
		FROM posthorn.webhooks, ${series} WHERE id = '${BIG_WEBHOOK}';
	INSERT INTO posthorn.retries
		SELECT project_no, n, no, ${at}, 0, 2, n % 2
		FROM posthorn.webhooks, ${series} WHERE id = '${BIG_WEBHOOK}';
	INSERT INTO posthorn.attempt_counts
		SELECT array_agg(project_no), array_agg(no), array_agg(${START} / 60000 + n), array_agg(1), array_agg(5)
		FROM posthorn.webhooks, generate_series(1, 500) n WHERE id = '${BIG_WEBHOOK}' GROUP BY n / 100;
	INSERT INTO posthorn.attempt_stats
		SELECT project_no, w, ${START} / grain + n, 1, grain, 1, 5
		FROM (SELECT project_no, no FROM posthorn.webhooks WHERE id = '${BIG_WEBHOOK}') big,
			unnest(ARRAY[60000, 3600000]) AS grain, unnest(ARRAY[0, big.no]) AS w, generate_series(1, ${MANY / 4}) AS n;
	INSERT INTO posthorn.api_keys
		SELECT ${id("key")}, ${projectOf}, '', '', ${hash}, ${START}, NULL FROM ${ofSome}, ${series};
	INSERT INTO posthorn.accounts
		SELECT ${id("acc")}, n, 'fill' || n, '', false, '', ${START} FROM ${series};
	INSERT INTO posthorn.sessions
		SELECT ${id("ses")}, ${hash}, ${id("acc")}, ${START}, ${START}, ${START} + n * 1000, false, '', '' FROM ${series};
	INSERT INTO posthorn.links SELECT ${hash}, 'sign_in', ${id("acc")}, ${START} + ${DAY} + n * 1000 FROM ${series};
	INSERT INTO posthorn.memberships SELECT ${projectOf}, ${id("acc")}, 'viewer', ${START} FROM ${ofSome}, ${series};
	INSERT INTO posthorn.invitations
		SELECT ${id("inv")}, ${hash}, no, 'viewer', NULL, 'operator_key', NULL, '', ${START}, ${START} + n * 1000
		FROM posthorn.projects, generate_series(1, ${MANY / PROJECTS}) AS m, LATERAL (SELECT no * 100 + m AS n) numbered;
	INSERT INTO posthorn.audit
		SELECT ${projectOf}, ${id("aud")}, ${START}, 'account', CASE WHEN n % 9 > 0 THEN 'acc_' || n % 9 END, '', 'a', 'webhook',
			'wh_' || n % 50, '', '{}'
		FROM ${ofSome}, ${series};
	SET default_statistics_target = ${STATISTICS};
	ANALYZE`;

/** Other projects, whose numbers are this much higher than those of {@link FILL}. */
const HIGHER = 100_000;

/** Replaces all events, attempts and retries: each of many projects has one. */
export const FILL_SMALL = `
	TRUNCATE posthorn.events, posthorn.attempts, posthorn.retries;
	INSERT INTO posthorn.events (project_no, seq, type_seq, created_at, published_at, type, id, body)
		SELECT ${HIGHER} + n, 1, 1, ${START}, ${START}, 1 + n % 2, ${id("evt")}, '{}' FROM ${series};
	INSERT INTO posthorn.attempts
		SELECT ${HIGHER} + n, 1, ${HIGHER} + n, ${at}, NULL, NULL, 0, 1, 1 + n % 2, 200, 10,
			CASE WHEN n % 50 = 0 THEN 3 ELSE 1 + n % 2 END, false, posthorn.id_at(${at}) || lpad(n::text, 16, '0'), '', NULL,
			NULL, NULL, NULL, ''
		FROM ${series};
	INSERT INTO posthorn.retries SELECT ${HIGHER} + n, 1, ${HIGHER} + n, ${at}, 0, 2, n % 2 FROM ${series}`;

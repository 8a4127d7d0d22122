/**
 * What the store platform reported, kept as long as the project exists, because a repeated fact must be recognized.
 * Little is stored of each: the digest of its content, what its rule needs, and the events that it created. Customers
 * and orders contain no e-mail address; baskets and subscriptions contain the data of their events.
 *
 * - Recording a fact locks the project's row in `logs`, so of two concurrent ones the second sees what the first wrote.
 *   Removing a basket doesn't need that.
 * - Ids are the platform's, in any form; they are compared by bytes.
 * - `store_customers.key` is the SHA-256 of the normalized e-mail address.
 * - `store_baskets` holds waiting baskets: one that was abandoned, removed or bought has no row. `touched_at` rises
 *   with every touch. A bought basket is recognized by its order. Rows come and go, so it is vacuumed early.
 */
export const sql = `
CREATE TABLE posthorn.store_customers (
	project_no bigint NOT NULL,
	key bytea NOT NULL,
	PRIMARY KEY (project_no, key)
);

CREATE TABLE posthorn.store_orders (
	project_no bigint NOT NULL,
	at bigint NOT NULL,
	amount_cents bigint NOT NULL,
	refunded_cents bigint NOT NULL DEFAULT 0,
	order_id text COLLATE "C" NOT NULL,
	basket_id text COLLATE "C",
	currency text NOT NULL,
	digest bytea NOT NULL,
	events json NOT NULL,
	PRIMARY KEY (project_no, order_id),
	CHECK (refunded_cents <= amount_cents)
) WITH (fillfactor = 90);
CREATE INDEX store_orders_by_basket ON posthorn.store_orders (project_no, basket_id) WHERE basket_id IS NOT NULL;

CREATE TABLE posthorn.store_refunds (
	project_no bigint NOT NULL,
	at bigint NOT NULL,
	refund_id text COLLATE "C" NOT NULL,
	digest bytea NOT NULL,
	events json NOT NULL,
	PRIMARY KEY (project_no, refund_id)
);

CREATE TABLE posthorn.store_chargebacks (
	project_no bigint NOT NULL,
	at bigint NOT NULL,
	chargeback_id text COLLATE "C" NOT NULL,
	digest bytea NOT NULL,
	events json NOT NULL,
	PRIMARY KEY (project_no, chargeback_id)
);

CREATE TABLE posthorn.store_deliverables (
	project_no bigint NOT NULL,
	at bigint NOT NULL,
	order_id text COLLATE "C" NOT NULL,
	deliverable_id text COLLATE "C" NOT NULL,
	digest bytea NOT NULL,
	events json NOT NULL,
	PRIMARY KEY (project_no, order_id, deliverable_id)
);

CREATE TABLE posthorn.store_subscriptions (
	project_no bigint NOT NULL,
	at bigint NOT NULL,
	canceled_at bigint,
	subscription_id text COLLATE "C" NOT NULL,
	data text NOT NULL,
	digest bytea NOT NULL,
	events json NOT NULL,
	cancel_events json,
	PRIMARY KEY (project_no, subscription_id),
	CHECK ((canceled_at IS NULL) = (cancel_events IS NULL))
) WITH (fillfactor = 90);

CREATE TABLE posthorn.store_baskets (
	project_no bigint NOT NULL,
	touched_at bigint NOT NULL,
	due_at bigint NOT NULL,
	basket_id text COLLATE "C" NOT NULL,
	data text NOT NULL,
	PRIMARY KEY (project_no, basket_id)
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX store_baskets_by_due ON posthorn.store_baskets (due_at);
`;

/**
 * What the store platform reported, kept as long as the project exists, because a repeated fact must be recognized.
 * Little is stored of each: the digest of its content, what its rule needs, and the events that it created (`events`,
 * JSON). Customers and orders contain no e-mail address; baskets and subscriptions contain the data of their events.
 *
 * - Ids are the platform's, in any form; every key begins with the project.
 * - `store_customers.key` is the SHA-256 of the normalized e-mail address.
 * - `store_baskets` holds waiting baskets: one that was abandoned, removed or bought has no row. `touched_at` rises
 *   with every touch. A bought basket is recognized by its order.
 */
export const sql = `
CREATE TABLE store_customers (
	project_no INTEGER NOT NULL REFERENCES projects (no),
	key BLOB NOT NULL,
	PRIMARY KEY (project_no, key)
) WITHOUT ROWID;

CREATE TABLE store_orders (
	project_no INTEGER NOT NULL REFERENCES projects (no),
	order_id TEXT NOT NULL,
	digest BLOB NOT NULL,
	at INTEGER NOT NULL,
	events TEXT NOT NULL,
	amount_cents INTEGER NOT NULL,
	refunded_cents INTEGER NOT NULL DEFAULT 0,
	currency TEXT NOT NULL,
	basket_id TEXT,
	PRIMARY KEY (project_no, order_id),
	CHECK (refunded_cents <= amount_cents)
) WITHOUT ROWID;
CREATE INDEX store_orders_by_basket ON store_orders (project_no, basket_id) WHERE basket_id IS NOT NULL;

CREATE TABLE store_refunds (
	project_no INTEGER NOT NULL REFERENCES projects (no),
	refund_id TEXT NOT NULL,
	digest BLOB NOT NULL,
	at INTEGER NOT NULL,
	events TEXT NOT NULL,
	PRIMARY KEY (project_no, refund_id)
) WITHOUT ROWID;

CREATE TABLE store_chargebacks (
	project_no INTEGER NOT NULL REFERENCES projects (no),
	chargeback_id TEXT NOT NULL,
	digest BLOB NOT NULL,
	at INTEGER NOT NULL,
	events TEXT NOT NULL,
	PRIMARY KEY (project_no, chargeback_id)
) WITHOUT ROWID;

CREATE TABLE store_deliverables (
	project_no INTEGER NOT NULL REFERENCES projects (no),
	order_id TEXT NOT NULL,
	deliverable_id TEXT NOT NULL,
	digest BLOB NOT NULL,
	at INTEGER NOT NULL,
	events TEXT NOT NULL,
	PRIMARY KEY (project_no, order_id, deliverable_id)
) WITHOUT ROWID;

CREATE TABLE store_subscriptions (
	project_no INTEGER NOT NULL REFERENCES projects (no),
	subscription_id TEXT NOT NULL,
	digest BLOB NOT NULL,
	at INTEGER NOT NULL,
	events TEXT NOT NULL,
	data TEXT NOT NULL,
	canceled_at INTEGER,
	cancel_events TEXT,
	PRIMARY KEY (project_no, subscription_id),
	CHECK ((canceled_at IS NULL) = (cancel_events IS NULL))
) WITHOUT ROWID;

CREATE TABLE store_baskets (
	no INTEGER PRIMARY KEY,
	project_no INTEGER NOT NULL REFERENCES projects (no),
	basket_id TEXT NOT NULL,
	touched_at INTEGER NOT NULL,
	due_at INTEGER NOT NULL,
	data TEXT NOT NULL
);
CREATE UNIQUE INDEX store_baskets_by_id ON store_baskets (project_no, basket_id);
CREATE INDEX store_baskets_by_due ON store_baskets (due_at);
`;

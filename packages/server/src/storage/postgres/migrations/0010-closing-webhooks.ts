/**
 * Marks deleted webhooks whose pending deliveries are still to be closed: `closing`. The index finds a project's
 * directly.
 */
export const sql = `
ALTER TABLE posthorn.webhooks ADD COLUMN closing boolean NOT NULL DEFAULT false;
UPDATE posthorn.webhooks w SET closing = true
WHERE deleted_at IS NOT NULL AND EXISTS (
	SELECT FROM posthorn.retries r WHERE r.project_no = w.project_no AND r.webhook_no = w.no
);
CREATE INDEX webhooks_closing ON posthorn.webhooks (project_no, deleted_at) WHERE closing;
`;

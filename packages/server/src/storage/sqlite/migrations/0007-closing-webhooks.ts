/**
 * Marks deleted webhooks whose pending deliveries are still to be closed: `closing`. The index finds a project's
 * directly.
 */
export const sql = `
ALTER TABLE webhooks ADD COLUMN closing INTEGER NOT NULL DEFAULT 0;
UPDATE webhooks SET closing = 1
WHERE deleted_at IS NOT NULL AND EXISTS (SELECT 1 FROM retries WHERE webhook_no = webhooks.no);
CREATE INDEX webhooks_closing ON webhooks (project_no, id) WHERE closing = 1;
`;

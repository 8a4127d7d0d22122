/** A command line that uses an API key: it lists the project's webhooks, and changes nothing. */
export const keyTrial = (origin: string, projectId: string, key: string) =>
	`curl ${origin}/v1/projects/${projectId}/webhooks \\\n  -H 'Authorization: Bearer ${key}'`;

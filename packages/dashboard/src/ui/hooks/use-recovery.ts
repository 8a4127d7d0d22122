import { useQuery } from "@tanstack/react-query";
import { newestAttemptsQuery } from "../../api/attempts.ts";
import type { Health } from "../../api/health.ts";
import { type Recovery, recoveryOf } from "../../lib/health/recovery.ts";

/** Since when a failing or unstable webhook has been delivering again; null if it isn't, and until that is known. */
export function useRecovery(projectId: string, health: Health, now: number): Recovery | null {
	const { state, failing_since, last_attempt, webhook_id } = health;
	const enabled = (state === "failing" || state === "unstable") && failing_since === null && last_attempt !== null;
	const filter = { webhook_id: [webhook_id], test: "false" } as const;
	const { data } = useQuery({ ...newestAttemptsQuery(projectId, filter), enabled });
	return enabled && data !== undefined ? recoveryOf(data, now) : null;
}

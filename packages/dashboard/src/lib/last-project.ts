import { readTab, writeTab } from "./tab-storage.ts";

const KEY = "posthorn-last-project";

/** Remembers the project that this tab shows, for pages outside of projects. */
export function rememberProject(projectId: string): void {
	writeTab(KEY, projectId);
}

/** The project that this tab showed last; null if none. */
export const lastProject = () => readTab(KEY);

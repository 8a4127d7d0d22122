const KEY = "posthorn-last-project";

/** Remembers the project that this tab shows, for pages outside of projects. */
export const rememberProject = (projectId: string) => sessionStorage.setItem(KEY, projectId);

/** The project that this tab showed last; null if none. */
export const lastProject = () => sessionStorage.getItem(KEY);

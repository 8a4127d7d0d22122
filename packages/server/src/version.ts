import manifest from "../package.json" with { type: "json" };

/** The version of the service and its command. All packages have the same one. */
export const VERSION: string = manifest.version;

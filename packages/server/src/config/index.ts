export type { Config, DatabaseConfig, LogLevel } from "./config.ts";
export { fileVariableOf, flagOf, hasFlag, type Setting, variableOf } from "./config.ts";
export { type ConfigResult, type ConfigSource, readConfig } from "./read-config.ts";
export { readOrMakeSealKey, readSealKey } from "./seal-key.ts";
export { SETTINGS, type SettingKey } from "./settings.ts";

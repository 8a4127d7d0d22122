export { API_KEY_PREFIX, ApiKeys, type ApiKeysOptions, apiKeyFaults, type Principal } from "./api-keys.ts";
export { OPERATOR_KEY_PREFIX, type OperatorKey, resolveOperatorKey } from "./operator-key.ts";

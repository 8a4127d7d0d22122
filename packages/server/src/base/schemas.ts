import { Ajv2020, type Options } from "ajv/dist/2020.js";

/**
 * A compiler of JSON Schemas (2020-12) that are our own. That they are valid is for tests to say: checking them takes
 * several times as long as compiling them, in every process at its start or at the first call that meets one.
 */
export const createAjv = (options: Options): Ajv2020 => new Ajv2020({ ...options, validateSchema: false });

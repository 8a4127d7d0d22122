import { Ajv2020, type Options } from "ajv/dist/2020.js";

/**
 * Creates a compiler for our own JSON Schemas (2020-12). Tests check that they are valid, because validating them takes
 * several times as long as compiling them, in every process at startup or at the first call that uses one.
 */
export const createAjv = (options: Options): Ajv2020 => new Ajv2020({ ...options, validateSchema: false, meta: false });

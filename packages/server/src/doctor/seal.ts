import { Seal } from "../base/seal.ts";
import { type Config, readSealKey } from "../config/index.ts";
import { openSealCheck } from "../seal-check.ts";
import type { Finding } from "./finding.ts";

/** @param sealed what the database keeps to know the key by; null when it has none yet */
export function examineSeal({ sealKey, sealKeyFile }: Config, path: string, sealed: string | null): Finding {
	const name = "Seal key";
	try {
		const key = sealKey ?? (sealKeyFile === null ? null : readSealKey(sealKeyFile, path));
		if (key === null) return { state: "ok", name, text: `${sealKeyFile} is made at the first start.` };
		if (sealed === null) return { state: "ok", name, text: "Goes with the database from the first start on." };
		openSealCheck(new Seal(key), sealed);
		return { state: "ok", name, text: "The one that the database was made with." };
	} catch (error) {
		return { state: "fault", name, text: (error as Error).message, isSetting: true };
	}
}

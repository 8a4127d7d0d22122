import { expect, it } from "vitest";
import { keyTrial } from "./key-trial.ts";

it("lists the project's webhooks with the key", () => {
	expect(keyTrial("https://hooks.example.com", "proj_1", "phk_2")).toBe(
		"curl https://hooks.example.com/v1/projects/proj_1/webhooks \\\n  -H 'Authorization: Bearer phk_2'",
	);
});

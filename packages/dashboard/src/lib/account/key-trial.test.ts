import { eventTypeEntry } from "@posthorn/protocol";
import { expect, it } from "vitest";
import { keyTrial } from "./key-trial.ts";

const trial = (...scopes: Parameters<typeof keyTrial>[2]["scopes"]) =>
	keyTrial("https://hooks.example.com", "proj_1", { key: "phk_2", scopes, at: 36 });

it("lists the project's webhooks with a key that may read", () => {
	const command = "curl 'https://hooks.example.com/v1/projects/proj_1/webhooks' \\\n  -H 'Authorization: Bearer phk_2'";
	for (const key of [trial("read"), trial("publish", "read")])
		expect(key).toEqual({ words: "Try it by listing the project's webhooks.", command });
});

// A key for publishing, which most are, came without a command.
it("publishes a sample with a key that may only publish", () => {
	const event = { id: "evt_sample_10", type: "delivery.success", data: eventTypeEntry("delivery.success").sample };
	expect(trial("publish")).toEqual({
		words: "Try it by publishing a sample event. Webhooks that receive delivery.success get it.",
		command: [
			"curl 'https://hooks.example.com/v1/projects/proj_1/events'",
			"-H 'Authorization: Bearer phk_2'",
			"-H 'Content-Type: application/json'",
			`-d '${JSON.stringify(event)}'`,
		].join(" \\\n  "),
	});
	expect(trial("manage")).toBeNull();
});

// Some shells took the address for a pattern: "no matches found: http://[::1]:8420/…".
it("quotes the service's address", () => {
	const { command } = keyTrial("http://[::1]:8420", "proj_1", { key: "phk_2", scopes: ["read"], at: 36 })!;
	expect(command).toContain("curl 'http://[::1]:8420/v1/projects/proj_1/webhooks'");
});

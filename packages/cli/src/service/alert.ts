import { createSecret } from "@posthorn/protocol";
import { alertReceiver } from "@posthorn/server";
import { testAlertEvent } from "@posthorn/server/alerts";
import { note, printJson } from "../client/output.ts";
import { CommandError, UsageError } from "../command-error.ts";
import { configOf } from "../flags.ts";

export interface AlertOptions {
	readonly newSecret?: boolean;
	readonly json?: boolean;
}

/** `posthorn alert`: sends a test alert, or makes a secret that alerts can be signed with. */
export async function alert({ newSecret, json }: AlertOptions): Promise<void> {
	if (newSecret) {
		const secret = createSecret();
		if (json) printJson({ alert_secret: secret });
		else console.log(secret);
		note("Set it as POSTHORN_ALERT_SECRET on every node, and in the receiver of alerts.");
		return;
	}
	const config = configOf({});
	const { alerts } = config;
	if (alerts === null)
		throw new UsageError([
			"POSTHORN_ALERT_URL isn't set, so no alerts are sent. Run this command with the service's settings.",
		]);
	const { host } = new URL(alerts.url);
	let bug: unknown = null;
	const receiver = alertReceiver(config, alerts, (error) => {
		bug = error;
	});
	const event = testAlertEvent(Date.now());
	const fault = await receiver.send(event);
	if (bug !== null) throw bug;
	if (fault !== null) throw new CommandError([`${host} didn't accept the test alert. ${fault}`], 1);
	if (json) printJson({ id: event.id, host });
	else console.log(`${host} accepted the test alert ${event.id}.`);
}

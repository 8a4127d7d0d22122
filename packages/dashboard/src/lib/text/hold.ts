/** Why nothing is sent to a webhook: it is paused, or the service can't read its signing secret. */
export type Hold = "paused" | "unsigned";

interface HoldWords {
	/** At a station of the track, instead of a time. */
	readonly station: string;
	/** In a list, when something pending is sent. */
	readonly due: string;
	/** The same in a sentence that doesn't mention the webhook. */
	readonly until: string;
	/** What makes the webhook send again, as an instruction. */
	readonly release: string;
	/** After the webhook's name, when it gets an event. */
	readonly aside: string;
	/** Why nothing was sent, after "because". */
	readonly cause: string;
	/** What follows a delivery's last attempt. */
	readonly outlook: string;
	/** Why a delivery isn't sent again now. */
	readonly refusal: string;
}

/** What the dashboard says about a webhook to which nothing is sent, and about its deliveries. */
export const HOLDS: Readonly<Record<Hold, HoldWords>> = {
	paused: {
		station: "paused",
		due: "when resumed",
		until: "once the webhook is resumed",
		release: "resume the webhook",
		aside: "(paused: once it's resumed)",
		cause: "the webhook is paused",
		outlook: "The next attempt is made once the webhook is resumed.",
		refusal: "Its webhook is paused. It will be sent once the webhook is resumed.",
	},
	unsigned: {
		station: "no secret",
		due: "once it can be signed",
		until: "once it can be signed",
		release: "restore or rotate the signing secret",
		aside: "(its signing secret can't be read: once it can be signed)",
		cause: "the service can't read the webhook's signing secret",
		outlook: "The next attempt is made once the service can sign it: see the webhook's page.",
		refusal:
			"The service can't read its webhook's signing secret. It will be sent once the secret is rotated or restored.",
	},
};

import {
	type Advice,
	type Explanation,
	type Failure,
	isOpen,
	nextAction,
	once,
	onceFixed,
	SETTINGS,
} from "./failure.ts";

/** `, only GET, HEAD`, if `Allow` lists methods without POST. */
const otherMethods = (allow = ""): string =>
	/^[A-Z, ]+$/.test(allow) && !allow.includes("POST") ? `, only ${allow}` : "";

/** Advice by status code, where it is more specific than advice for the class. */
const BY_STATUS: Readonly<Record<number, Explanation>> = {
	304: ({ host }) => ({
		why: `${host} says that nothing has changed, which isn't a valid response to a POST. Only a 2xx response counts as accepted.`,
		tries: ["Have the receiver return 2xx.", "Check whether a cache in front of it responded instead."],
	}),
	400: ({ host }) => ({
		why: `${host} rejects the request itself.`,
		tries: [
			"Read the response: it may say what is wrong.",
			"Check the receiver's clock: code based on our example returns 400 if the timestamp is more than 5 minutes off.",
		],
	}),
	401: ({ host }) => ({
		why: `${host} doesn't accept the signature, or requires a login.`,
		tries: [
			"Check that the receiver uses this webhook's current signing secret. Rotating it invalidates the old one immediately.",
			"It must verify the raw body bytes, before any parsing.",
			"The URL must not require a login, such as HTTP basic authentication.",
		],
	}),
	402: ({ host }) => ({
		why: `${host} says that a payment is due.`,
		tries: ["Check the account of the receiver's hosting service: it may be suspended, or have used up its plan."],
	}),
	403: ({ host }) => ({
		why: `${host} refuses the request.`,
		tries: [
			"A firewall or bot protection in front of the receiver often does this. Allow requests to this path.",
			"If the receiver itself refuses the request, its log says why.",
		],
	}),
	404: ({ host }) => ({
		why: `${host} has nothing at this path.`,
		tries: [`Check the path of the URL ${SETTINGS}.`, "If it's right, check that the receiver is deployed."],
	}),
	405: ({ host, headers }) => ({
		why: `${host} doesn't accept POST at this path${otherMethods(headers.allow)}.`,
		tries: [
			`Check the path of the URL ${SETTINGS}. The receiver may expect another one.`,
			"Have the receiver accept POST there.",
		],
	}),
	408: ({ host, ...failure }) => ({
		why: `${host} timed out before it had read the request.`,
		tries: ["Check whether the receiver is overloaded.", onceFixed(failure)],
	}),
	409: ({ host }) => ({
		why: `${host} says that the event conflicts with what it already has.`,
		tries: [
			"If it has already handled this event, have it return 2xx: an event can arrive more than once.",
			"The receiver's own log may say more.",
		],
	}),
	410: ({ host, ...failure }) => ({
		why: `${host} says that this URL no longer exists.`,
		tries: [
			`Enter the receiver's new URL ${SETTINGS}, then ${nextAction(failure)}.`,
			`If it's no longer needed, ${failure.hold === "paused" ? "" : "pause or "}delete the webhook.`,
		],
	}),
	413: ({ host }) => ({
		why: `The body is larger than ${host} accepts.`,
		tries: ["Raise the limit for request bodies in the receiver and in its proxy."],
	}),
	415: ({ host }) => ({
		why: `${host} doesn't accept application/json.`,
		tries: ["Have the receiver accept JSON bodies on this path."],
	}),
	421: ({ host }) => ({
		why: `The server at this address doesn't serve ${host}.`,
		tries: ["Check the host in the receiver's server configuration and in its certificate."],
	}),
	429: ({ host, ...failure }) => ({
		why: `${host} is rate-limiting requests.`,
		tries: [
			`Raise the receiver's limit for this path.${isOpen(failure) ? " The delays between retries grow." : ""}`,
			`If more than one event is in flight at a time, lower that number ${SETTINGS}.`,
		],
	}),
	501: ({ host }) => ({ why: `${host} doesn't implement this.`, tries: ["Have the receiver accept POST there."] }),
	502: ({ host }) => ({
		why: `A proxy in front of ${host} got no usable response from the receiver.`,
		tries: ["Check that the receiver is running, and check both its log and the proxy's for the error."],
	}),
	503: ({ host, ...failure }) => ({
		why: `${host} is overloaded or under maintenance.`,
		tries: [once("it's back", failure), "If it stays down, check the receiver's hosting."],
	}),
	504: ({ host }) => ({
		why: `A proxy in front of ${host} timed out waiting for the receiver.`,
		tries: [
			"If the work takes long, store the event, respond with 2xx, and do the work afterwards.",
			"Check that the receiver is running.",
		],
	}),
};

/** Advice that follows only from the status; not for success. */
export function byStatus(status: number, failure: Failure): Advice {
	const own = BY_STATUS[status];
	if (own !== undefined) return own(failure);
	const { host } = failure;
	if (status >= 500) {
		return {
			why: `${host} failed while it handled the request.`,
			tries: ["Check the receiver's own log for the error.", onceFixed(failure)],
		};
	}
	if (status >= 300 && status < 400) {
		return {
			why: `${host} redirects to another URL. Redirects are never followed, so that events can't be diverted.`,
			tries: [`Enter the final URL ${SETTINGS}. It often differs only by “www” or a slash at the end.`],
		};
	}
	return {
		why: `${host} refused the request. Only a 2xx response counts as accepted.`,
		tries: ["Read the response: it may say what is wrong.", "The receiver's own log may say more."],
	};
}

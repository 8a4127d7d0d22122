import type { ReactNode } from "react";
import type { Attempt } from "../../api/attempts.ts";
import { responseWords } from "../../lib/attempts/attempt-words.ts";
import { formatMs } from "../../lib/text/numbers.ts";
import { exactLocal, exactUtc, isLocalUtc } from "../../lib/text/time.ts";
import { attemptOutcome, Outcome } from "../../ui/deliveries/outcome.tsx";
import { Ident } from "../../ui/ident.tsx";
import classes from "./delivery.module.css";

interface AttemptFactsProps {
	attempt: Attempt;
	/** Whether its delivery has a later attempt. */
	isFollowed: boolean;
}

/** The attempt's details. */
export function AttemptFacts({ attempt, isFollowed }: AttemptFactsProps) {
	return (
		<dl className={classes.facts}>
			<Fact name="Outcome">
				<Outcome kind={attemptOutcome(attempt.status, isFollowed)} />
			</Fact>
			<Fact name="Response">{responseWords(attempt).short}</Fact>
			<Fact name="Duration">{formatMs(attempt.response_ms)}</Fact>
			<Fact name="Attempt id">
				<Ident id={attempt.id} />
			</Fact>
			<Fact name="Started">
				<Exact at={attempt.started_at} />
			</Fact>
			<Fact name="Next retry">{attempt.next_retry_at === null ? "none" : <Exact at={attempt.next_retry_at} />}</Fact>
		</dl>
	);
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
	return (
		<div>
			<dt>{name}</dt>
			<dd>{children}</dd>
		</div>
	);
}

/** A time to the millisecond, local and in UTC. */
function Exact({ at }: { at: string }) {
	const ms = Date.parse(at);
	return (
		<time dateTime={at}>
			{exactLocal(ms)}
			{isLocalUtc(ms) ? null : <span className={classes.utc}>{exactUtc(ms)}</span>}
		</time>
	);
}

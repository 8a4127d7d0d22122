/** What receivers do, as their moods say. */
import {
	answer,
	type Behaviour,
	bodyStart,
	closes,
	cutShort,
	dripping,
	garbage,
	hang,
	later,
	redirect,
} from "./network/index.ts";
import type { Draw } from "./network/types.ts";
import type { Answer, Mood } from "./plan.ts";

/** Draws what a receiver in this mood does with a request. */
export function behaviourOf(mood: Mood, draw: Draw): Behaviour {
	const total = mood.reduce((sum, [weight]) => sum + weight, 0);
	let left = draw.between(0, total - 1);
	for (const [weight, kind] of mood) {
		if (left < weight) return make(kind, draw);
		left -= weight;
	}
	throw new Error("The mood has no answers.");
}

/** Responses that count as delivered. */
const ACCEPTED = [200, 201, 202, 203, 204].map((status) => answer(status, { body: "ok" }));

function make(kind: Answer, draw: Draw): Behaviour {
	const ok = ACCEPTED[draw.between(0, ACCEPTED.length - 1)]!;
	switch (kind) {
		case "ok":
			return later(draw.between(0, 30), ok);
		case "last":
			return later(draw.between(0, 30), answer(200, { body: "ok", close: true }));
		case "error":
			return later(draw.between(0, 100), answer([400, 404, 410, 429, 500, 503][draw.between(0, 5)]!, { body: "no" }));
		case "slow":
			return later(draw.between(500, 20_000), ok);
		case "hang":
			return hang;
		case "drip":
			return dripping(answer(200, { body: 200 }), draw.between(1, 40), draw.between(10, 600));
		case "close":
			return closes("end");
		case "reset":
			return closes("reset");
		case "garbage":
			return garbage();
		case "large":
			return answer(200, { body: draw.between(1_000, 200_000), framing: draw.chance(0.5) ? "chunked" : "length" });
		case "redirect":
			return redirect("https://elsewhere.example/");
		case "interim":
			return answer(200, { interim: Array.from({ length: draw.between(1, 20) }, () => 103) });
		case "cut": {
			const whole = answer(200, { body: 400 });
			const at = draw.chance(0.5) ? bodyStart(whole) + 20 : draw.between(1, 30);
			return cutShort(whole, at, (["end", "reset", "hang"] as const)[draw.between(0, 2)]!);
		}
	}
}

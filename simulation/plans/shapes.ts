/** The styles of worlds. */
import { DAY, HOUR, MINUTE, type Shape } from "../plan.ts";
import type { Random } from "../random.ts";

const REAL_DELAYS = [30, 60, 120, 300, 600, 1_800, 3_600].map((s) => s * 1_000);
const SHORT_DELAYS = [1, 2, 4, 8, 15, 30, 60].map((s) => s * 1_000);

/** Whether one node owns the database or several share it. */
export const NODES = ["one", "many"] as const;
export type Nodes = (typeof NODES)[number];

/** By how often they are drawn. */
const DRAWN = [
	...(["long", "long", "long", "shop", "shared", "churn", "crowd", "fan", "scarce", "recovery"] as const),
	"failover",
] as const;
export const STYLES = [...new Set(DRAWN)];

export function withNodes(shape: Shape, nodes: Nodes | undefined): Shape {
	if (nodes === "one") return { ...shape, nodes: 1 };
	return nodes === "many" ? { ...shape, nodes: Math.max(2, shape.nodes) } : shape;
}

export function makeShape(random: Random, style?: string): Shape {
	const name = style ?? random.pick(DRAWN);
	const isShort = random.chance(0.5);
	const common = {
		retryDelaysMs: isShort ? SHORT_DELAYS : REAL_DELAYS,
		attemptTimeoutMs: isShort && random.chance(0.5) ? 5_000 : 15_000,
		leaseTermMs: 10_000,
		retentionMs: 30 * DAY,
		basketIdleMs: random.pick([10 * MINUTE, DAY]),
		activeProjects: null,
		sendsInFlight: random.chance(0.2) ? 16 : null,
		databaseLatencyMs: random.pick([1, 3, 10, 40]),
		networkLatencyMs: random.pick([1, 10, 60, 300]),
	};
	switch (name) {
		case "long":
			// Days go by: absences, and the end of retention.
			return {
				...{ ...common, name, nodes: 1, projects: random.between(1, 3), webhooksPerProject: random.between(1, 4) },
				retentionMs: random.pick([2 * HOUR, DAY, 30 * DAY]),
				durationMs: random.skewed(12, 50 * 24) * HOUR,
			};
		case "shop":
			return {
				...{ ...common, name, nodes: 1, projects: random.between(1, 5), webhooksPerProject: random.between(1, 6) },
				durationMs: random.between(1, 6) * HOUR,
			};
		case "shared":
			return {
				...{ ...common, name, nodes: random.between(2, 4), projects: random.between(2, 8) },
				...{ webhooksPerProject: random.between(1, 4), durationMs: random.between(20, 90) * MINUTE },
			};
		case "churn":
			// Projects change nodes all the time, and much of what is said about leases is lost or late.
			return {
				...{ ...common, name, nodes: random.between(2, 3), projects: random.between(2, 5) },
				...{ webhooksPerProject: random.between(1, 3), retryDelaysMs: SHORT_DELAYS },
				durationMs: random.between(3, 8) * MINUTE,
			};
		case "failover":
			// The database goes back again and again, and has forgotten who took which project.
			return {
				...{ ...common, name, nodes: random.between(2, 4), projects: random.between(6, 16) },
				...{ webhooksPerProject: random.between(1, 2), retryDelaysMs: SHORT_DELAYS },
				durationMs: random.between(4, 8) * MINUTE,
			};
		case "crowd": {
			const projects = random.between(300, 2_000);
			return {
				...{ ...common, name, nodes: random.between(1, 3), projects, webhooksPerProject: 1 },
				durationMs: random.between(5, 15) * MINUTE,
				activeProjects: random.chance(0.6) ? Math.ceil(projects / random.between(4, 20)) : null,
			};
		}
		case "scarce":
			// Receivers that come back to a thousand retries, and few slots to send with.
			return {
				...{ ...common, name, nodes: 1, projects: random.between(1, 2), webhooksPerProject: random.between(1, 3) },
				...{ retryDelaysMs: REAL_DELAYS, attemptTimeoutMs: 5_000, sendsInFlight: 8, durationMs: HOUR / 2 },
			};
		case "recovery":
			// The same with slots for all: only the limits of each webhook count.
			return {
				...{ ...common, name, nodes: 1, projects: random.between(1, 2), webhooksPerProject: random.between(1, 3) },
				...{ retryDelaysMs: random.pick([REAL_DELAYS, SHORT_DELAYS]), attemptTimeoutMs: 5_000 },
				...{ sendsInFlight: null, durationMs: HOUR / 2 },
			};
		case "fan":
			return {
				...{
					...common,
					name,
					nodes: random.between(1, 2),
					projects: 1,
					webhooksPerProject: random.between(300, 2_000),
				},
				durationMs: random.between(5, 15) * MINUTE,
			};
		default:
			throw new Error(`There is no style of world called ${name}: ${STYLES.join(", ")}.`);
	}
}

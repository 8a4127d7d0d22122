/**
 * Whether many webhooks cost a delivery anything: the same number of events, in requests of the same size, goes to 1,000
 * webhooks and to 100, each in its own project. Two services on SQLite take turns, so each is idle while the other works.
 */
import type { Receiver } from "../load/receiver.ts";
import { type Stage, setStage } from "../load/stage.ts";
import type { Progress } from "../progress.ts";
import type { ManyWebhooks } from "../results.ts";
import type { ServiceOptions } from "../service.ts";
import { median } from "../side-by-side.ts";
import type { Workspace } from "../workspace.ts";
import { WARM_UP_PER_S, type WorkReading, work } from "./throughput.ts";

const MANY = 1_000;
const FEW = 100;
/** In a request. As many as each of the many projects gets, so that their requests aren't smaller. */
const EVENTS = 10;
/** A round's ratio varies by up to a third, too much for the median of five rounds. */
const ROUNDS = 15;
/** The goal: at least this share of the rate with few. */
export const MANY_LEAST_SHARE = 0.95;

export async function measureManyWebhooks(
	workspace: Workspace,
	receiver: Receiver,
	options: ServiceOptions,
	seconds: number,
	progress: Progress,
): Promise<ManyWebhooks> {
	progress.start(`${MANY} webhooks: setting up`);
	const stages: Stage[] = [];
	try {
		for (const webhooks of [MANY, FEW])
			stages.push({
				...(await setStage(workspace, receiver, options, { webhooks, fanout: 1 })),
				eventsPerRequest: EVENTS,
			});
		const [many, few] = stages as [Stage, Stage];
		const turn = async (stage: Stage, deliveries: number): Promise<WorkReading> => {
			const reading = await work(stage, deliveries / stage.webhooks.length, () => {});
			const { missing, outOfOrder } = reading;
			if (missing + outOfOrder > 0) throw new Error(`${missing} deliveries are missing, ${outOfOrder} out of order.`);
			return reading;
		};
		const whole = (deliveries: number) => Math.max(1, Math.round(deliveries / (MANY * EVENTS))) * MANY * EVENTS;
		const warm: WorkReading[] = [];
		for (const stage of stages) warm.push(await turn(stage, whole(WARM_UP_PER_S * seconds)));
		const deliveries = whole(Math.min(...warm.map(({ perSecond }) => perSecond)) * seconds);
		progress.start(`${MANY} webhooks and ${FEW}, alternating`);
		const pairs: { readonly many: WorkReading; readonly few: WorkReading }[] = [];
		for (let n = 0; n < ROUNDS; n++) {
			// Each begins every other round.
			const first = n % 2 === 0 ? many : few;
			const one = await turn(first, deliveries);
			const other = await turn(first === many ? few : many, deliveries);
			pairs.push(first === many ? { many: one, few: other } : { many: other, few: one });
			progress.update(n + 1, ROUNDS);
		}
		const cpu = ({ cpuMicros }: WorkReading) => (cpuMicros ?? Number.NaN) / deliveries;
		const ratios = pairs.map((pair) => Number((pair.many.perSecond / pair.few.perSecond).toFixed(3)));
		progress.finish(`${median(ratios).toFixed(2)} of the rate with ${FEW}`);
		return {
			many: MANY,
			few: FEW,
			deliveries,
			events_per_request: EVENTS,
			many_per_s: Math.round(median(pairs.map((pair) => pair.many.perSecond))),
			few_per_s: Math.round(median(pairs.map((pair) => pair.few.perSecond))),
			many_cpu_us: Number(median(pairs.map((pair) => cpu(pair.many))).toFixed(1)),
			few_cpu_us: Number(median(pairs.map((pair) => cpu(pair.few))).toFixed(1)),
			ratios,
			ratio: median(ratios),
		};
	} finally {
		for (const { service } of stages) await service.stop();
	}
}

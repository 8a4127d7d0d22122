/**
 * The Grafana dashboard and Prometheus rules in `deploy` name metrics, labels and labels' values that the service has,
 * and the operators' page names all of its metrics.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createSecret } from "@posthorn/protocol";
import { until } from "@posthorn/testkit";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { purchase, Shop } from "./shop.ts";

interface Panel {
	readonly id: number;
	readonly type: "row" | "stat" | "timeseries";
	readonly title: string;
	readonly description?: string;
	readonly datasource?: { readonly type: string; readonly uid: string };
	readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
	readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
	readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly legendFormat: string }[];
}

interface Rule {
	readonly alert: string;
	readonly expr: string;
	readonly labels: { readonly severity: string };
	readonly annotations: { readonly summary: string };
}

/** What an expression uses of one metric: labels, and values of labels. */
interface Use {
	readonly metric: string;
	readonly labels: ReadonlySet<string>;
	readonly values: readonly (readonly [label: string, value: string])[];
}

/** A metric's labels, each with its values. */
type Metrics = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

const RULES_PATH = deployed("prometheus-rules.yaml");
const PROMTOOL = "/usr/bin/promtool";
/** Prometheus adds these to every sample. */
const ADDED = ["job", "instance"];

const dashboard = JSON.parse(readFileSync(deployed("grafana.json"), "utf8")) as {
	readonly panels: readonly Panel[];
	readonly templating: { readonly list: readonly { readonly name: string; readonly query: unknown }[] };
};
const panels = dashboard.panels.filter(({ type }) => type !== "row");
const rules = (parse(readFileSync(RULES_PATH, "utf8")) as { groups: { rules: Rule[] }[] }).groups.flatMap(
	(group) => group.rules,
);
const expressions = [
	...panels.flatMap(({ title, targets }) => targets!.map(({ expr, legendFormat }) => ({ title, expr, legendFormat }))),
	...rules.map(({ alert, expr }) => ({ title: alert, expr, legendFormat: "" })),
];
const page = readFileSync(new URL("../docs/operations/monitoring.md", import.meta.url), "utf8");

let server: PostgresServer;
let sqlite: Metrics;
let postgres: Metrics;

beforeAll(async () => {
	server = await PostgresServer.start();
	const alerts = { POSTHORN_ALERT_URL: "https://127.0.0.1:9/", POSTHORN_ALERT_SECRET: createSecret() };
	await using first = await Shop.open(alerts);
	sqlite = await metricsOf(first);
	await using second = await Shop.open({
		...alerts,
		POSTHORN_DATABASE_URL: await server.createDatabase(),
		POSTHORN_SEAL_KEY: Buffer.alloc(32, 7).toString("base64"),
	});
	postgres = await metricsOf(second);
});

afterAll(() => server?.stop());

describe("the dashboard and the rules", () => {
	test("use metrics, labels and values that exist", () => {
		const unknown: string[] = [];
		for (const { title, expr, legendFormat } of expressions) {
			const uses = usesOf(expr, legendFormat);
			if (uses.length === 0) unknown.push(`${title}: no metric`);
			for (const { metric, labels, values } of uses) {
				if (metric === "up") continue;
				const found = postgres.get(metric);
				if (found === undefined) unknown.push(`${title}: ${metric}`);
				for (const label of labels)
					if (!ADDED.includes(label) && !found?.has(label)) unknown.push(`${title}: ${metric}{${label}}`);
				for (const [label, value] of values)
					if (!(label === "status" && /^[2-5]xx$/.test(value)) && !found?.get(label)?.has(value))
						unknown.push(`${title}: ${metric}{${label}="${value}"}`);
			}
		}
		expect(unknown).toEqual([]);
	});

	test("need PostgreSQL only where they say so", () => {
		const row = dashboard.panels.findIndex(({ title }) => title.startsWith("PostgreSQL"));
		const next = dashboard.panels.findIndex(({ type }, index) => type === "row" && index > row);
		const saysSo = (panel: Panel): boolean => {
			const index = dashboard.panels.indexOf(panel);
			return (index > row && index < next) || /PostgreSQL/.test(panel.description!);
		};
		const others = panels.filter((panel) => !saysSo(panel));
		const missing = others.flatMap(({ title, targets }) =>
			targets!.flatMap(({ expr, legendFormat }) =>
				usesOf(expr, legendFormat)
					.filter(({ metric }) => metric !== "up" && !sqlite.has(metric))
					.map(({ metric }) => `${title}: ${metric}`),
			),
		);
		expect(missing).toEqual([]);
	});

	// A sum over nodes would show a backlog twice.
	test("take the maximum over nodes of what describes the whole database", () => {
		const [, named] = /^(`posthorn_backlog_[\s\S]*?) describe the whole database/m.exec(page)!;
		const names = [...named!.matchAll(/`(posthorn_\w+)`/g)].map(([, name]) => name!);
		expect(names.length).toBeGreaterThan(5);
		const used = expressions.filter(({ expr }) => names.some((name) => expr.includes(name)));
		expect(used.length).toBeGreaterThan(5);
		for (const { title, expr } of used)
			for (const { index } of expr.matchAll(RegExp(`\\b(${names.join("|")})\\b`, "g")))
				expect(expr.slice(0, index), title).toMatch(/\bmax(?: by \([\w, ]+\) )?\($/);
	});
});

test("each panel has a title, a description, a unit, the data source and a place of its own", () => {
	expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
	const taken = new Set<string>();
	for (const { title, gridPos } of dashboard.panels) {
		for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
			for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
				expect(x, title).toBeLessThan(24);
				expect(taken, title).not.toContain(`${x} ${y}`);
				taken.add(`${x} ${y}`);
			}
	}
	for (const { title, description, fieldConfig, datasource, targets } of panels) {
		expect(title).toMatch(/^[A-Z]/);
		expect(description, title).toMatch(/^[A-Z][^\n]*\.$/);
		expect(fieldConfig?.defaults.unit, title).toMatch(/^\w+$/);
		// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana replaces it
		expect(datasource, title).toEqual({ type: "prometheus", uid: "${datasource}" });
		expect(targets!.map(({ refId }) => refId).join(""), title).toBe("ABCD".slice(0, targets!.length));
	}
	expect(dashboard.templating.list.map(({ name }) => name)).toEqual(["datasource", "job", "instance"]);
});

test("each rule has a name of its own, a severity and a summary", () => {
	expect(rules.length).toBeGreaterThan(10);
	expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
	for (const { alert, labels, annotations } of rules) {
		expect(alert).toMatch(/^Posthorn[A-Z]\w+$/);
		expect(labels.severity).toMatch(/^(critical|warning)$/);
		expect(annotations.summary).toMatch(/^[A-Z].*[.?]$/);
	}
});

test.runIf(existsSync(PROMTOOL))("Prometheus accepts the rules", () => {
	expect(execFileSync(PROMTOOL, ["check", "rules", RULES_PATH], { encoding: "utf8" })).toContain("SUCCESS");
});

test.runIf(existsSync(PROMTOOL))("the rules fire when they should, and not while a node restarts", () => {
	const cases = new URL("prometheus-rules.yaml", import.meta.url).pathname;
	expect(execFileSync(PROMTOOL, ["test", "rules", cases], { encoding: "utf8" })).toContain("SUCCESS");
});

test("the operators' page names every metric of the service", () => {
	const families = [...postgres.keys()]
		.filter((name) => name.startsWith("posthorn_") && !/_(bucket|sum)$/.test(name))
		.map((name) => (postgres.has(name.replace(/_count$/, "_bucket")) ? name.replace(/_count$/, "") : name));
	expect(families.filter((name) => !page.includes(`\`${name}\``) && !page.includes(`\`${name}{`))).toEqual([]);
});

function deployed(name: string): string {
	return new URL(`../deploy/${name}`, import.meta.url).pathname;
}

/** What the service exposes, once it has counted webhooks by their health, and requests to the routes that are used. */
async function metricsOf(shop: Shop): Promise<Metrics> {
	await shop.post(shop.path("/events"), purchase(1));
	for (const path of ["/healthz", "/metrics"]) await fetch(shop.service.url + path);
	const text = await until("webhooks to be counted", async () => {
		const metrics = await (await fetch(`${shop.service.url}/metrics`)).text();
		return metrics.includes("posthorn_webhook_health{") && metrics;
	});
	const metrics = new Map<string, Map<string, Set<string>>>();
	for (const [, name, labels = ""] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
		const known = metrics.get(name!) ?? new Map<string, Set<string>>();
		metrics.set(name!, known);
		for (const [, label, value] of labels.matchAll(/(\w+)="([^"]*)"/g))
			known.set(label!, (known.get(label!) ?? new Set()).add(value!));
	}
	return metrics;
}

/** The metrics in an expression. Labels to aggregate by, and those that a legend shows, must exist for each of them. */
function usesOf(expr: string, legendFormat: string): Use[] {
	const grouped = [...expr.matchAll(/\b(?:by|on) \(([\w, ]+)\)/g)].flatMap(([, list]) => list!.split(", "));
	const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!);
	return [...expr.matchAll(/\b(up|(?:posthorn|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(
		([, metric, matchers = ""]) => {
			const matched = [...matchers.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)];
			return {
				metric: metric!,
				labels: new Set([...grouped, ...shown, ...matched.map(([, label]) => label!)]),
				values: matched
					.filter(([, label]) => !ADDED.includes(label!))
					.flatMap(([, label, , value]) => value!.split("|").map((one) => [label!, one] as const)),
			};
		},
	);
}

import { of } from "../mutation.ts";
import { inApi } from "../tests.ts";

/** What people set up; and the critical seam: that a change stands still with the lanes until it is in force. */
export const REGISTRY = [
	...of(
		"server/src/registry/health-count.ts",
		["server/src/registry/health-count.test.ts"],
		[
			{
				name: "health-count-damage-ends-pass",
				find: "if (isGeneral(err)) throw err;",
				replace: "throw err;",
				why: "A damaged page of one project keeps alerts about others from being sent.",
			},
			{
				name: "alert-turn-taken",
				find: "onJudged === undefined ? shared.at : shared.alertsAt;",
				replace: "shared.at;",
				why: "A node without a receiver of alerts makes all passes, and none is sent.",
			},
		],
	),
	...of("server/src/registry/webhooks.ts", inApi("webhook-changes"), [
		{
			name: "webhooks-deleted-beside-engine",
			find: "return this.#change(projectId, webhookId, () => storage.deleteWebhook({ projectId, webhookId, by }));",
			replace: "return storage.deleteWebhook({ projectId, webhookId, by });",
			only: "deleted webhook gets nothing",
			why: "A deleted webhook keeps receiving.",
			review: "webhooks.ts: a webhook is deleted without the engine",
		},
		{
			name: "webhooks-rotated-beside-engine",
			find: "await this.#change(projectId, webhookId, () =>\n\t\t\tstorage.rotateSecret({ projectId, webhookId, by, ...sealed }),\n\t\t);",
			replace: "await storage.rotateSecret({ projectId, webhookId, by, ...sealed });",
			only: "old secret",
			why: "After a rotation the old secret keeps signing.",
			review: "webhooks.ts: a secret is rotated without the engine, which one test noticed",
		},
		{
			name: "webhooks-updated-beside-engine",
			find: "await this.#change(projectId, webhookId, () =>\n\t\t\tstorage.updateWebhook({ projectId, webhookId, patch, by }),\n\t\t);",
			replace: "await storage.updateWebhook({ projectId, webhookId, patch, by });",
			only: "paused webhook|after a change of URL|an unsubscribed type is no longer",
			why: "A paused webhook keeps receiving.",
		},
		{
			name: "webhooks-created-beside-engine",
			find: 'await engine.change(\n\t\t\tprojectId,\n\t\t\t() => storage.createWebhook({ ...webhook, ...sealed, maxPerProject: limits.maxWebhooksPerProject, by }),\n\t\t\t(created) => (created === "created" ? { webhookId: id } : "nothing"),\n\t\t);',
			replace:
				"engine && (await storage.createWebhook({ ...webhook, ...sealed, maxPerProject: limits.maxWebhooksPerProject, by }));",
			only: "new webhook gets",
			why: "A new webhook gets nothing until its project changes nodes.",
		},
		{
			name: "webhooks-sealed-for-no-one",
			find: "sealSecret(seal, secret, webhookId)",
			replace: 'sealSecret(seal, secret, "")',
			only: "old secret",
			why: "After a rotation a project's webhooks can't be read.",
		},
		{
			name: "webhooks-from-without-resuming",
			find: 'if (from !== undefined && status !== "active" && (from === "backlog" || status !== undefined))',
			replace: 'if (from === "backlog" && status !== "active")',
			tests: inApi("webhooks"),
			why: "Pausing a webhook skips its backlog.",
		},
	]),
	...of("server/src/registry/projects.ts", inApi("webhook-changes"), [
		{
			name: "projects-app-off-beside-engine",
			find: 'return engine.change(\n\t\t\tprojectId,\n\t\t\t() => storage.setDeveloperApp({ projectId, installed, by }),\n\t\t\t(project) => (project ? "project" : "nothing"),\n\t\t);',
			replace: "return engine && storage.setDeveloperApp({ projectId, installed, by });",
			only: "without the Developer app",
			why: "Webhooks of a project without the app keep receiving.",
		},
	]),
	...of("server/src/registry/webhooks.ts", inApi("webhooks"), [
		{
			name: "webhook-faults-fragment",
			find: 'if (text.includes("#"))',
			replace: "if (url.hash.length > 1)",
			why: "A URL that ends in # is registered without it.",
		},
		{
			name: "webhook-faults-blank",
			find: "if (BLANK.test(text) || !text.isWellFormed())",
			replace: "if (!text.isWellFormed())",
			why: "A URL with a line break in it calls another one.",
		},
		{
			name: "webhook-faults-encoded-length",
			find: "return calledUrl(text).length > maxLength ? tooLong : [];",
			replace: "return [];",
			why: "A URL that is too long once it is encoded is registered.",
		},
	]),
	...of("server/src/api/routes/webhooks/webhooks.ts", inApi("webhooks"), [
		{
			name: "webhook-faults-width",
			find: "maximum: MAX_IN_FLIGHT.max,",
			replace: "maximum: MAX_IN_FLIGHT.max - 1,",
			why: "The largest allowed width is refused.",
		},
	]),
	...of(
		"protocol/src/names.ts",
		["server/src/base/text.test.ts"],
		[
			{
				name: "text-length-in-units",
				find: "text.length > 2 * limits.max ? text.length : [...text].length",
				replace: "text.length",
				why: "Names in some scripts may have half as many characters.",
			},
		],
	),
	...of(
		"server/src/registry/alerts.ts",
		["server/src/registry/alerts.test.ts"],
		[
			{
				name: "alert-at-once",
				find: "now - since >= ALERTS.failingMs",
				replace: "now - since >= 0",
				why: "Every receiver that restarts causes an alert.",
			},
			{
				name: "alert-recovered-while-unstable",
				find: 'if (health === "healthy") return "webhook.recovered";',
				replace: 'if (health !== "failing") return "webhook.recovered";',
				why: "A receiver that comes and goes causes alerts all the time.",
			},
			{
				name: "alert-again-and-again",
				find: "deadLetters > reported.deadLetters && !isRecent(reported.at, now)",
				replace: "deadLetters > 0 && !isRecent(reported.at, now)",
				why: "Dead letters that were reported are reported again every hour.",
			},
			{
				name: "alert-not-accepted",
				find: "const after = isReported ?",
				replace: "const after = type !== null ?",
				why: "An alert that the endpoint didn't accept is never sent again.",
			},
			{
				name: "alert-blocks-others",
				find: "this.#from = this.#next ?? START;",
				replace: "this.#from = START;",
				why: "Alerts that the endpoint never accepts keep those of other projects from being sent.",
			},
			{
				name: "alert-twice-while-locked",
				find: "unstored?.from === stored ? unstored!.to : stored",
				replace: "stored",
				why: "While a row is locked, an alert is sent every minute.",
			},
			{
				name: "alert-in-quarantine",
				find: "if (isHeld()) return;",
				replace: "",
				why: "A restored database reports failures of the time of its backup.",
			},
			{
				name: "alert-after-pause",
				find: "		failing: before.failing,",
				replace: '		failing: health === "paused" ? null : before.failing,',
				why: "Pausing and resuming a failing webhook causes an alert each time.",
			},
			{
				name: "alert-turns",
				find: " && webhook.id > from",
				replace: "",
				why: "The first webhooks of a project can take every turn.",
			},
		],
	),
	...of(
		"server/src/registry/alert-event.ts",
		["server/src/registry/alerts.test.ts"],
		[
			{
				name: "alert-shows-path",
				find: "webhook: { id, description, host, health,",
				replace: "webhook: { id, description, host: webhook.url, health,",
				why: "Alerts, which are forwarded, contain tokens of receivers' URLs.",
			},
		],
	),
];

/** The HTTP API's types. Generated from its OpenAPI document: run `npm run docs` after changing a route. */

export interface paths {
    readonly "/v1/projects": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List projects
         * @description Oldest first. Users see the projects that they are members of, and a project's key sees its own; the operator sees all.
         */
        readonly get: operations["listProjects"];
        readonly put?: never;
        /**
         * Create a project
         * @description By default, it has the Developer app.
         */
        readonly post: operations["createProject"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get a project */
        readonly get: operations["getProject"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /** Rename a project */
        readonly patch: operations["updateProject"];
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/apps/developer": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /**
         * Install the Developer app
         * @description Enables the routes for webhooks, API keys and attempts. Paused webhooks stay paused.
         */
        readonly put: operations["installDeveloperApp"];
        readonly post?: never;
        /**
         * Remove the Developer app
         * @description Pauses every webhook of the project. Publishing continues, and events wait.
         */
        readonly delete: operations["removeDeveloperApp"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/health": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Count webhooks by their health
         * @description For up to 20 projects, how many webhooks have each health, and how many deliveries failed for good and need a decision. The projects come in the order given, each once. Those that you may not see, that don't exist, that lack the Developer app or whose data is damaged are left out.
         */
        readonly get: operations["listProjectHealth"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/api-keys": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List API keys
         * @description Oldest first, without the keys themselves. Expired keys are listed until they are deleted.
         */
        readonly get: operations["listApiKeys"];
        readonly put?: never;
        /**
         * Create an API key
         * @description The key can only access this project, within its scopes. It is shown only in this response. Keys can't create keys.
         */
        readonly post: operations["createApiKey"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/api-keys/{key_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get an API key
         * @description Without the key itself.
         */
        readonly get: operations["getApiKey"];
        readonly put?: never;
        readonly post?: never;
        /**
         * Delete an API key
         * @description It is refused from then on. Other nodes are notified immediately; a node that misses the notification refuses it within five seconds.
         */
        readonly delete: operations["deleteApiKey"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/event-types": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the event types
         * @description The catalogue: every type that can be subscribed to and published, in one response.
         */
        readonly get: operations["listEventTypes"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/event-types/{event_type}/schema.json": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The JSON Schema of an event type's data
         * @description Needs no key, so that editors, validators and generators can refer to it by its URL.
         */
        readonly get: operations["getEventTypeSchema"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/events": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Read the event log
         * @description In log order: polling as an alternative to webhooks. Each item is an envelope with exactly the bytes that webhooks receive. A page has at most 4 MiB, so it may be shorter than `limit`: follow `next_cursor`. At the end, store `last_seq` and `epoch`, and pass them as `after` and `epoch` next time, with `wait` to get new events immediately. Only one of `after`, `after_event`, `since` and `cursor` can be given.
         */
        readonly get: operations["listEvents"];
        readonly put?: never;
        /**
         * Publish one event or up to 1,000
         * @description Responds once the events are committed to the log, all of them or none. `data` is sent to receivers character for character. A repeated `id` with the same content gets the first response, and nothing is sent twice.
         */
        readonly post: operations["publishEvents"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/samples": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Publish a sample event
         * @description Publishes an event whose id begins with `evt_sample_`, by which receivers and the log can recognize it. Otherwise it's an event like any other: it goes to every subscribed webhook, in order and with retries, and counts in statistics. To try out a single webhook, send it a test event instead.
         */
        readonly post: operations["publishSample"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/events/{event_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get an event
         * @description The body is the envelope, byte for byte as webhooks receive it. Test events are included.
         */
        readonly get: operations["getEvent"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/listeners": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Record who listens to the log
         * @description For programs that show the project's events to a person, or forward them to another machine, as `posthorn listen` does. It adds an entry to the audit log, and changes nothing else.
         */
        readonly post: operations["recordListener"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/events/search": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Search events
         * @description Newest first. Search either by `text`, or by `order_id`, `customer_email` or both. Events are found by order id and customer e-mail in an index (the newest 200), and by `text` in their bodies and in the recorded responses to them. Responses belong to the delivery log, so they are only searched with the Developer app installed. A call with `text` searches for at most 400 ms, so a page may be short or empty even if more follow. Continue until `next_cursor` is null, or stop whenever you like. Test events aren't searched.
         */
        readonly get: operations["searchEvents"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/orders": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Report a paid order
         * @description Publishes `customer.created` with the first order of an e-mail address in the project (compared without surrounding space, in compatibility form and lower case), then `purchase.completed`. Ends the order's basket, if one is given. Facts and events are committed together.
         */
        readonly post: operations["recordOrder"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/orders/batch": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Report up to 1,000 orders
         * @description For imports. Each order is recorded or refused separately, in order; the response is always 200. After a failure, send the same batch again: nothing is recorded twice.
         */
        readonly post: operations["recordOrders"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/orders/{order_id}/refunds": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Report a refund
         * @description Publishes `purchase.refunded`, with `partial` true while the order's refunds add up to less than its amount. Refund ids are unique within the project.
         */
        readonly post: operations["recordRefund"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/orders/{order_id}/chargebacks": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Report a chargeback
         * @description Publishes `chargeback.created`. Chargeback ids are unique within the project.
         */
        readonly post: operations["recordChargeback"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/orders/{order_id}/deliverables/{deliverable_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Report how a deliverable ended
         * @description Publishes `delivery.success` or `delivery.failed`. The outcome is final: a different one later is a conflict. Deliverable ids are unique within the order.
         */
        readonly post: operations["recordDeliverable"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/baskets/{basket_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /**
         * Report a basket's contents
         * @description Every report counts as activity, even with the same contents. `basket.abandoned` is published once after POSTHORN_BASKET_IDLE (24 hours) without activity if the basket has items; another report restarts the timer. An order that names the basket ends it permanently.
         */
        readonly put: operations["touchBasket"];
        readonly post?: never;
        /**
         * Report that a basket is gone
         * @description The basket won't be abandoned. The response is the same if it doesn't exist.
         */
        readonly delete: operations["removeBasket"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/subscriptions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Report a recurring subscription
         * @description Publishes `subscription.created`.
         */
        readonly post: operations["recordSubscription"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/subscriptions/{subscription_id}/cancel": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Report that a subscription was canceled
         * @description Publishes `subscription.canceled`, once.
         */
        readonly post: operations["cancelSubscription"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/webhooks": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List webhooks
         * @description Oldest first.
         */
        readonly get: operations["listWebhooks"];
        readonly put?: never;
        /**
         * Register a webhook
         * @description It receives events of its types from now on. Only this response shows the signing secret.
         */
        readonly post: operations["createWebhook"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/webhooks/deleted": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List deleted webhooks
         * @description Oldest first. They name the deliveries in the log, and are listed until their retention ends.
         */
        readonly get: operations["listDeletedWebhooks"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/webhooks/check-url": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Check a URL before it is registered
         * @description Checks the rules for webhooks, and whether the host name resolves to a public address. Nothing is sent to it.
         */
        readonly post: operations["checkUrl"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/webhooks/{webhook_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get a webhook */
        readonly get: operations["getWebhook"];
        readonly put?: never;
        readonly post?: never;
        /**
         * Delete a webhook
         * @description Pending deliveries are closed and logged with the reason `deleted`. Log entries stay until their retention ends.
         */
        readonly delete: operations["deleteWebhook"];
        readonly options?: never;
        readonly head?: never;
        /**
         * Change, pause or resume a webhook
         * @description Changes the given fields. An added type starts with the next event. Once this returns, nothing is sent with the old settings.
         */
        readonly patch: operations["updateWebhook"];
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/webhooks/{webhook_id}/rotate-secret": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Rotate the signing secret
         * @description The old secret signs nothing from then on. Only this response shows the new one.
         */
        readonly post: operations["rotateWebhookSecret"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/webhooks/{webhook_id}/test": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Send a test event
         * @description Sends a type's sample to this webhook only. The webhook must be subscribed to the type. Test events are in the delivery log, not in the event log.
         */
        readonly post: operations["testWebhook"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/attempts": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Read the delivery log
         * @description Newest first. Filters combine. A page holds at most 4 MiB of bodies, and may be shorter than `limit`. With `status_code` or `error`, a page examines at most 500 attempts that match the other filters, so it may be short or empty even if more follow. Continue until `next_cursor` is null.
         */
        readonly get: operations["listAttempts"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/attempts/summaries": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Read the delivery log without headers and bodies
         * @description Newest first. Filters combine. With `status_code` or `error`, a page examines at most 500 attempts that match the other filters, so it may be short or empty even if more follow. Continue until `next_cursor` is null.
         */
        readonly get: operations["listAttemptSummaries"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/attempts/count": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Count attempts
         * @description How many attempts match, up to 10,000. With `status_code` or `error`, only the newest 500 attempts that match the other filters are examined; `capped` is true if there may be more.
         */
        readonly get: operations["countAttempts"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/attempts/{attempt_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get an attempt */
        readonly get: operations["getAttempt"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/attempts/export.csv": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Export attempts as CSV
         * @description Newest first, with the filters of the list, without headers and bodies. At most 100,000 rows; a file that isn't complete says so in its last line. Cells that spreadsheets would take for formulas begin with an apostrophe. An export is recorded in the audit log.
         */
        readonly get: operations["exportAttemptsCsv"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/attempts/export.jsonl": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Export attempts as JSON lines
         * @description Newest first, with the filters of the list, without headers and bodies. At most 100,000 rows; a file that isn't complete says so in its last line. An export is recorded in the audit log.
         */
        readonly get: operations["exportAttemptsJsonl"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/deliveries/export.csv": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Export deliveries as CSV
         * @description Newest first, with the filters of the list, without headers and bodies. At most 100,000 rows; a file that isn't complete says so in its last line. Cells that spreadsheets would take for formulas begin with an apostrophe. An export is recorded in the audit log.
         */
        readonly get: operations["exportDeliveriesCsv"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/deliveries/export.jsonl": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Export deliveries as JSON lines
         * @description Newest first, with the filters of the list, without headers and bodies. At most 100,000 rows; a file that isn't complete says so in its last line. An export is recorded in the audit log.
         */
        readonly get: operations["exportDeliveriesJsonl"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/attempts/{attempt_id}/signature-check": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Find out why a receiver refuses a signature
         * @description Compares what a receiver saw and computed for a request with what was sent, and says whether its secret, body, timestamp or clock is wrong. It takes no secret and returns no signature.
         */
        readonly post: operations["checkSignature"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/deliveries": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List deliveries
         * @description Newest first, by the last attempt; filters by response and time apply to it. Filters combine; values of one filter are alternatives. Events that wait for their first attempt aren't listed: they are the webhook's backlog. A page examines about 500 attempts at most, so it may be short or empty even if more follow. Continue until `next_cursor` is null.
         */
        readonly get: operations["listDeliveries"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/webhooks/{webhook_id}/deliveries/{event_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get a delivery
         * @description The state and attempts of an event's delivery to a webhook. If the webhook unsubscribes from the event's type during its first attempt, the delivery can't be found until that attempt is logged.
         */
        readonly get: operations["getDelivery"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/webhooks/{webhook_id}/deliveries/{event_id}/replay": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Replay a delivery
         * @description Starts a new series of attempts with the webhook's current URL and secret. Any finished delivery can be replayed.
         */
        readonly post: operations["replayDelivery"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/webhooks/{webhook_id}/deliveries/{event_id}/retry": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Retry a delivery now
         * @description Makes the delivery's next attempt immediately instead of at its scheduled time. The attempt keeps its number, and the series gets no extra attempts. While the webhook is paused, the attempt waits until it is resumed.
         */
        readonly post: operations["retryDelivery"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/webhooks/{webhook_id}/deliveries/{event_id}/cancel": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Cancel a test event
         * @description Ends the delivery of a test event that is waiting for an attempt: instead of the attempt, the log gets an entry with the error code `test_cancelled`. An attempt in flight is finished first, and no other follows. Only test events can be cancelled.
         */
        readonly post: operations["cancelTest"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/webhooks/{webhook_id}/deliveries/{event_id}/dismiss": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Dismiss a dead letter
         * @description Marks a dead-lettered delivery as needing no decision. It no longer counts in `dead_letters`, and replays by filter leave it out; it can still be replayed on its own. Nothing is deleted. A delivery that is already dismissed stays as it is.
         */
        readonly post: operations["dismissDelivery"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/webhooks/{webhook_id}/replay": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Replay everything that failed
         * @description Starts a new series for each dead-lettered delivery of the webhook, oldest first, without test events. `since` and `until` limit when the failed attempt started.
         */
        readonly post: operations["replayFailed"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/replays": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Replay many deliveries
         * @description Replays the given deliveries, or one step of those whose newest attempt matches a filter, oldest first. Call again with `cursor` and `before` from the response until `next_cursor` is null. Deliveries that are still being attempted are skipped.
         */
        readonly post: operations["replayMany"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/webhooks/{webhook_id}/retry": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Retry a webhook's pending deliveries now
         * @description Makes the next attempt of every delivery to this webhook that waits for a retry due now. They are sent in the order in which they were due, within the webhook's limit on retries in flight.
         */
        readonly post: operations["retryWebhook"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/retries": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Retry many deliveries now
         * @description Makes the next attempt of each of these deliveries due now.
         */
        readonly post: operations["retryMany"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/dismissals": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Dismiss many dead letters
         * @description Dismisses the given deliveries, or one step of those that match a filter. Call again with `cursor` from the response until `next_cursor` is null.
         */
        readonly post: operations["dismissMany"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/stats": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Count attempts over time
         * @description How attempts ended and how long receivers took: over the last hour, day (the default) or month. Test events don't count.
         */
        readonly get: operations["getStats"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/webhooks/health": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get the health of each webhook
         * @description With many webhooks, pass `hours=false`, and request the hourly counts only of the webhooks that you show.
         */
        readonly get: operations["listWebhookHealth"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/waiting": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List pending retries and replays
         * @description Soonest first.
         */
        readonly get: operations["listWaiting"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/incidents": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List incidents
         * @description Outages of receivers in the last 48 hours, newest first: from the first minute in which most attempts failed to the last, with the minute before and the minute after if attempts failed in them, too. It continues if most fail again within 5 minutes, and needs at least 3 failed attempts. Test events and deliveries closed without a request don't count. Only the 20 webhooks that failed most recently are examined.
         */
        readonly get: operations["listIncidents"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/changes": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Listen to changes
         * @description A stream of server-sent events for live pages. `attempts` and `webhooks` are hints, each sent at most twice a second, that there is something new to fetch. They carry no data, and one may be lost when a connection breaks, so fetch once after each connect.
         */
        readonly get: operations["listenToChanges"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/setup": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Check whether setup is needed */
        readonly get: operations["getSetup"];
        readonly put?: never;
        /**
         * Create the operator's account
         * @description With the token of the one-time link that the service prints when it starts. Signs in.
         */
        readonly post: operations["setUp"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/session": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Who is signed in? */
        readonly get: operations["getSession"];
        readonly put?: never;
        /**
         * Sign in
         * @description With e-mail and password, or with the token of a one-time link.
         */
        readonly post: operations["signIn"];
        /** Sign out */
        readonly delete: operations["signOut"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/sign-in-links": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Create a one-time sign-in link
         * @description For someone who forgot their password. Send it yourself; it expires after 15 minutes.
         */
        readonly post: operations["createSignInLink"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/account": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /** Change your name */
        readonly patch: operations["updateAccount"];
        readonly trace?: never;
    };
    readonly "/v1/account/password": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Change your password
         * @description Signs out everywhere else.
         */
        readonly post: operations["changePassword"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/account/sessions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List your sessions
         * @description Newest first.
         */
        readonly get: operations["listSessions"];
        readonly put?: never;
        readonly post?: never;
        /**
         * Sign out everywhere
         * @description Ends every session, including this one.
         */
        readonly delete: operations["signOutEverywhere"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/account/sessions/{session_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /** End one of your sessions */
        readonly delete: operations["endSession"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/members": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List members
         * @description People who joined by invitation. The operator has access anyway, and is only listed after joining.
         */
        readonly get: operations["listMembers"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/members/{account_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /**
         * Remove a member
         * @description Owners may remove anyone, and members may leave. It applies from the next request on. Open invitations that the member created end.
         */
        readonly delete: operations["removeMember"];
        readonly options?: never;
        readonly head?: never;
        /**
         * Change a member's role
         * @description It applies from the next request on. Open invitations that the member created end, unless they remain an owner.
         */
        readonly patch: operations["updateMember"];
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/invitations": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List open invitations */
        readonly get: operations["listInvitations"];
        readonly put?: never;
        /**
         * Invite a person
         * @description Send the link yourself. It works once, for a week, and if it names an address, only for the account with that address.
         */
        readonly post: operations["createInvitation"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/invitations/{invitation_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /** Revoke an invitation */
        readonly delete: operations["revokeInvitation"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/invitations/look": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Get an invitation */
        readonly post: operations["lookAtInvitation"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/invitations/accept": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Accept an invitation
         * @description With only the token if you are signed in, or with a new account, which is then signed in. An invitation to an address can only be accepted by the account with that address.
         */
        readonly post: operations["acceptInvitation"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/projects/{project_id}/audit": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Read the audit log
         * @description Who changed what, newest first. Entries are kept for 400 days.
         */
        readonly get: operations["listAudit"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/healthz": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Is the process alive? */
        readonly get: operations["isLive"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/readyz": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Can it serve? */
        readonly get: operations["isReady"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/clock": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Is the clock trusted?
         * @description If this node's clock is far ahead of the last recorded time, nothing is deleted or dead-lettered for its age until the clock is confirmed or set.
         */
        readonly get: operations["getClock"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/clock/confirm": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Confirm that the clock is right
         * @description Call this if the clock is right: the service was off for that long, or the clock was far behind before. All nodes follow within a minute. Data past its retention is then deleted, and events that waited too long are dead-lettered.
         */
        readonly post: operations["confirmClock"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/metrics": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Metrics for Prometheus
         * @description Covers the whole instance, and names no project. Like `/healthz`, it needs no key; if the port is public, block this path in the proxy.
         */
        readonly get: operations["readMetrics"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/quarantine": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get the quarantine's state
         * @description After a restore nothing is sent until the operator releases the database: no deliveries, retries, replays or test events. Events are accepted and logged, and nothing expires.
         */
        readonly get: operations["getQuarantine"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/quarantine/waiting": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List pending deliveries in quarantine
         * @description By project, oldest first, with the webhooks that have pending deliveries. A project with many webhooks continues on the next page. To skip the pending deliveries of a webhook, `PATCH` it with `"from": "now"` before the release; it stays active or paused.
         */
        readonly get: operations["listQuarantined"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/quarantine/release": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Release the database
         * @description All nodes send pending deliveries, in order, within a second. Without a quarantine it does nothing.
         */
        readonly post: operations["releaseQuarantine"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/problems/{problem}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Explain a problem type
         * @description Each error's `type` is such a path. Browsers get a page.
         */
        readonly get: operations["explainProblem"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/openapi.json": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** This API as an OpenAPI 3.1 document */
        readonly get: operations["getOpenApi"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/docs": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** The API reference for humans */
        readonly get: operations["readDocs"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/docs/reference.js": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** The script of the API reference */
        readonly get: operations["readDocsScript"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export interface webhooks {
    readonly "customer.created": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * customer.created
         * @description An e-mail address bought from the store for the first time.
         *
         *     The signature is HMAC-SHA256, in lowercase hexadecimal, of the timestamp header, a dot and the exact body. The key is the webhook's secret. Compare it in constant time, and reject timestamps that differ from your clock by more than 300 seconds.
         *
         *     Respond with 2xx once the event is handled, or stored for later if the work takes long: a 2xx ends the retries. A response that takes too long counts as failed, and the event is retried. An event may arrive more than once; deduplicate by its id.
         */
        readonly post: operations["receive.customer.created"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "purchase.completed": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * purchase.completed
         * @description An order was paid and recorded. Fires after the payment was confirmed and before anything is delivered.
         *
         *     The signature is HMAC-SHA256, in lowercase hexadecimal, of the timestamp header, a dot and the exact body. The key is the webhook's secret. Compare it in constant time, and reject timestamps that differ from your clock by more than 300 seconds.
         *
         *     Respond with 2xx once the event is handled, or stored for later if the work takes long: a 2xx ends the retries. A response that takes too long counts as failed, and the event is retried. An event may arrive more than once; deduplicate by its id.
         */
        readonly post: operations["receive.purchase.completed"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "purchase.refunded": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * purchase.refunded
         * @description A refund was processed. `partial` distinguishes a partial refund from one that completes the whole amount.
         *
         *     The signature is HMAC-SHA256, in lowercase hexadecimal, of the timestamp header, a dot and the exact body. The key is the webhook's secret. Compare it in constant time, and reject timestamps that differ from your clock by more than 300 seconds.
         *
         *     Respond with 2xx once the event is handled, or stored for later if the work takes long: a 2xx ends the retries. A response that takes too long counts as failed, and the event is retried. An event may arrive more than once; deduplicate by its id.
         */
        readonly post: operations["receive.purchase.refunded"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "delivery.success": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * delivery.success
         * @description A deliverable (game command, chat-platform role or file) was completed.
         *
         *     The signature is HMAC-SHA256, in lowercase hexadecimal, of the timestamp header, a dot and the exact body. The key is the webhook's secret. Compare it in constant time, and reject timestamps that differ from your clock by more than 300 seconds.
         *
         *     Respond with 2xx once the event is handled, or stored for later if the work takes long: a 2xx ends the retries. A response that takes too long counts as failed, and the event is retried. An event may arrive more than once; deduplicate by its id.
         */
        readonly post: operations["receive.delivery.success"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "delivery.failed": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * delivery.failed
         * @description A deliverable was given up (dead-lettered) after its retries were exhausted.
         *
         *     The signature is HMAC-SHA256, in lowercase hexadecimal, of the timestamp header, a dot and the exact body. The key is the webhook's secret. Compare it in constant time, and reject timestamps that differ from your clock by more than 300 seconds.
         *
         *     Respond with 2xx once the event is handled, or stored for later if the work takes long: a 2xx ends the retries. A response that takes too long counts as failed, and the event is retried. An event may arrive more than once; deduplicate by its id.
         */
        readonly post: operations["receive.delivery.failed"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "basket.abandoned": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * basket.abandoned
         * @description A basket with at least one item sat untouched for 24 hours, unless the operator has set another time.
         *
         *     The signature is HMAC-SHA256, in lowercase hexadecimal, of the timestamp header, a dot and the exact body. The key is the webhook's secret. Compare it in constant time, and reject timestamps that differ from your clock by more than 300 seconds.
         *
         *     Respond with 2xx once the event is handled, or stored for later if the work takes long: a 2xx ends the retries. A response that takes too long counts as failed, and the event is retried. An event may arrive more than once; deduplicate by its id.
         */
        readonly post: operations["receive.basket.abandoned"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "subscription.created": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * subscription.created
         * @description A recurring subscription started.
         *
         *     The signature is HMAC-SHA256, in lowercase hexadecimal, of the timestamp header, a dot and the exact body. The key is the webhook's secret. Compare it in constant time, and reject timestamps that differ from your clock by more than 300 seconds.
         *
         *     Respond with 2xx once the event is handled, or stored for later if the work takes long: a 2xx ends the retries. A response that takes too long counts as failed, and the event is retried. An event may arrive more than once; deduplicate by its id.
         */
        readonly post: operations["receive.subscription.created"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "subscription.canceled": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * subscription.canceled
         * @description A subscription was canceled.
         *
         *     The signature is HMAC-SHA256, in lowercase hexadecimal, of the timestamp header, a dot and the exact body. The key is the webhook's secret. Compare it in constant time, and reject timestamps that differ from your clock by more than 300 seconds.
         *
         *     Respond with 2xx once the event is handled, or stored for later if the work takes long: a 2xx ends the retries. A response that takes too long counts as failed, and the event is retried. An event may arrive more than once; deduplicate by its id.
         */
        readonly post: operations["receive.subscription.canceled"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "chargeback.created": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * chargeback.created
         * @description A payment processor raised a dispute about an order.
         *
         *     The signature is HMAC-SHA256, in lowercase hexadecimal, of the timestamp header, a dot and the exact body. The key is the webhook's secret. Compare it in constant time, and reject timestamps that differ from your clock by more than 300 seconds.
         *
         *     Respond with 2xx once the event is handled, or stored for later if the work takes long: a 2xx ends the retries. A response that takes too long counts as failed, and the event is retried. An event may arrive more than once; deduplicate by its id.
         */
        readonly post: operations["receive.chargeback.created"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export interface components {
    schemas: {
        /**
         * @example {
         *       "name": "My store"
         *     }
         */
        readonly NewProject: {
            /**
             * @description A display name with a visible character, without control characters and those that change the direction of text. It is stored without the white space around it.
             * @example My store
             */
            readonly name: string;
            /**
             * @description Installed apps. `developer` adds webhooks, API keys and logs.
             * @example [
             *       "developer"
             *     ]
             */
            readonly apps?: readonly "developer"[];
        };
        readonly Project: {
            /**
             * @description The project's identifier.
             * @example proj_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id: string;
            /**
             * @description A display name.
             * @example My store
             */
            readonly name: string;
            /**
             * @description Installed apps. `developer` adds webhooks, API keys and logs.
             * @example [
             *       "developer"
             *     ]
             */
            readonly apps: readonly "developer"[];
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly created_at: string;
        };
        /** @description RFC 9457. */
        readonly Problem: {
            /** @description A stable code, as a relative URI. */
            readonly type: string;
            readonly title: string;
            readonly status: number;
            /** @description What happened and what to do. */
            readonly detail: string;
            /** @description With `log-behind`: the last `seq` of the log. */
            readonly last_seq?: number;
            /** @description With `log-behind`: pass it as `after` to continue. */
            readonly continue_after?: number;
            /** @description With `log-behind`: pass it along with `continue_after`. */
            readonly epoch?: string;
            readonly errors?: readonly {
                /** @description A JSON Pointer into the body (empty for the whole body), or `?name` for a query parameter. */
                readonly pointer: string;
                readonly detail: string;
            }[];
        };
        readonly ProjectPatch: {
            /**
             * @description A display name with a visible character, without control characters and those that change the direction of text. It is stored without the white space around it.
             * @example My store
             */
            readonly name: string;
        };
        readonly ProjectHealth: {
            /**
             * @description The project's identifier.
             * @example proj_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly project_id: string;
            /** @description How many webhooks have each health, as `state` in the health of each webhook defines it. */
            readonly webhooks: {
                readonly failing: number;
                readonly unstable: number;
                readonly healthy: number;
                readonly idle: number;
                readonly paused: number;
            };
            /** @description Dead-lettered deliveries that were neither replayed nor dismissed, without test events. */
            readonly dead_letters: number;
        };
        readonly ProjectHealthList: {
            readonly data: readonly components["schemas"]["ProjectHealth"][];
            /** @description The first of the given projects that wasn't counted, because the call took 10 seconds; null if all were. Ask for it and those after it in another call. */
            readonly next_project_id: string | null;
        };
        /** @enum {string} */
        readonly KeyScope: "publish" | "read" | "manage";
        /**
         * @example {
         *       "name": "Shop",
         *       "scopes": [
         *         "publish"
         *       ]
         *     }
         */
        readonly NewApiKey: {
            /**
             * @description A display name with a visible character, without control characters and those that change the direction of text. It is stored without the white space around it.
             * @example My store
             */
            readonly name: string;
            /**
             * @description What the key may do; everything by default. `publish`: publish events and report store facts. `read`: read the log, webhooks and deliveries. `manage`: change webhooks, replay, send test events, revoke keys.
             * @example [
             *       "publish"
             *     ]
             */
            readonly scopes?: readonly components["schemas"]["KeyScope"][];
            /**
             * Format: date-time
             * @description When the key stops working, in the future; by default, it doesn't expire. ISO 8601 with its zone, in the years 0000 to 9999 (UTC).
             */
            readonly expires_at?: string;
        };
        readonly Actor: {
            /** @enum {string} */
            readonly kind: "account" | "api_key" | "operator_key";
            readonly id: string | null;
            /** @description Its name at the time. */
            readonly name: string;
        };
        readonly CreatedApiKey: {
            /**
             * @description The key's identifier.
             * @example key_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id: string;
            /**
             * @description A display name.
             * @example My store
             */
            readonly name: string;
            /**
             * @description The key's first characters, to tell keys apart.
             * @example phk_Zk3v9QxB
             */
            readonly prefix: string;
            /**
             * @description What the key may do. `publish`: publish events and report store facts. `read`: read the log, webhooks and deliveries. `manage`: change webhooks, replay, send test events, revoke keys.
             * @example [
             *       "publish"
             *     ]
             */
            readonly scopes: readonly components["schemas"]["KeyScope"][];
            /** @description When the key stops working; null if it doesn't expire. */
            readonly expires_at: string | null;
            /** @description Who created the key; null for keys created before this was recorded. */
            readonly created_by: components["schemas"]["Actor"] | null;
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly created_at: string;
            /** @description The key, shown only in this response and stored as a hash. */
            readonly key: string;
        };
        readonly ApiKey: {
            /**
             * @description The key's identifier.
             * @example key_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id: string;
            /**
             * @description A display name.
             * @example My store
             */
            readonly name: string;
            /**
             * @description The key's first characters, to tell keys apart.
             * @example phk_Zk3v9QxB
             */
            readonly prefix: string;
            /**
             * @description What the key may do. `publish`: publish events and report store facts. `read`: read the log, webhooks and deliveries. `manage`: change webhooks, replay, send test events, revoke keys.
             * @example [
             *       "publish"
             *     ]
             */
            readonly scopes: readonly components["schemas"]["KeyScope"][];
            /** @description When the key stops working; null if it doesn't expire. */
            readonly expires_at: string | null;
            /** @description Who created the key; null for keys created before this was recorded. */
            readonly created_by: components["schemas"]["Actor"] | null;
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly created_at: string;
            /** @description When it was last used, accurate to about a minute. */
            readonly last_used_at: string | null;
        };
        /**
         * @description The name of an event type.
         * @example purchase.completed
         * @enum {string}
         */
        readonly EventType: "customer.created" | "purchase.completed" | "purchase.refunded" | "delivery.success" | "delivery.failed" | "basket.abandoned" | "subscription.created" | "subscription.canceled" | "chargeback.created";
        readonly EventTypeEntry: {
            readonly type: components["schemas"]["EventType"];
            readonly description: string;
            /** @description Announced, but not yet published by every store platform. */
            readonly future: boolean;
            /** @description JSON Schema (2020-12) of the event's data. */
            readonly schema: Record<string, never>;
            /** @description Sample data. */
            readonly sample: Record<string, never>;
        };
        /** @description The data of `customer.created`. An e-mail address bought from the store for the first time. */
        readonly CustomerCreatedData: {
            /** @description The buyer's e-mail address. */
            readonly customer_email?: string;
            /** @description The customer's first order. */
            readonly order_id?: string;
        } & {
            readonly [key: string]: unknown;
        };
        /**
         * @example {
         *       "type": "customer.created",
         *       "data": {
         *         "customer_email": "ada@example.com",
         *         "order_id": "ord_10482"
         *       }
         *     }
         */
        readonly NewCustomerCreated: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "customer.created";
            readonly data: components["schemas"]["CustomerCreatedData"];
            /**
             * @description The event's identifier. Receivers deduplicate by it.
             * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id?: string;
            /**
             * Format: date-time
             * @description When the event happened; the time of the call by default. At most 5 minutes in the future. ISO 8601 with its zone, in the years 0000 to 9999 (UTC).
             */
            readonly created_at?: string;
        };
        /** @description The data of `purchase.completed`. An order was paid and recorded. Fires after the payment was confirmed and before anything is delivered. */
        readonly PurchaseCompletedData: {
            /** @description The order's identifier. */
            readonly order_id: string;
            /** @description The buyer's e-mail address. */
            readonly customer_email: string;
            /** @description The amount paid, in minor currency units. */
            readonly amount_cents: number;
            /** @description The currency code of three capital letters (ISO 4217). */
            readonly currency: string;
            /** @description The ordered items. */
            readonly items: readonly {
                /** @description The product's identifier in the store. */
                readonly product_id?: string | number;
                /** @description The product's name as the buyer saw it. */
                readonly name?: string;
                /** @description The quantity. */
                readonly quantity?: number;
                /** @description The unit price, in minor currency units. */
                readonly unit_amount_cents?: number;
            }[];
        } & {
            readonly [key: string]: unknown;
        };
        /**
         * @example {
         *       "type": "purchase.completed",
         *       "data": {
         *         "order_id": "ord_10482",
         *         "customer_email": "ada@example.com",
         *         "amount_cents": 2997,
         *         "currency": "EUR",
         *         "items": [
         *           {
         *             "product_id": "prod_vip_30d",
         *             "name": "VIP rank, 30 days",
         *             "quantity": 1,
         *             "unit_amount_cents": 1999
         *           },
         *           {
         *             "product_id": "prod_crate_key",
         *             "name": "Crate key",
         *             "quantity": 2,
         *             "unit_amount_cents": 499
         *           }
         *         ]
         *       }
         *     }
         */
        readonly NewPurchaseCompleted: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "purchase.completed";
            readonly data: components["schemas"]["PurchaseCompletedData"];
            /**
             * @description The event's identifier. Receivers deduplicate by it.
             * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id?: string;
            /**
             * Format: date-time
             * @description When the event happened; the time of the call by default. At most 5 minutes in the future. ISO 8601 with its zone, in the years 0000 to 9999 (UTC).
             */
            readonly created_at?: string;
        };
        /** @description The data of `purchase.refunded`. A refund was processed. `partial` distinguishes a partial refund from one that completes the whole amount. */
        readonly PurchaseRefundedData: {
            /** @description The refunded order. */
            readonly order_id: string;
            /** @description The refund's identifier. */
            readonly refund_id?: string;
            /** @description The amount of this refund, in minor currency units. */
            readonly amount_cents?: number;
            /** @description The currency code of three capital letters (ISO 4217). */
            readonly currency?: string;
            /** @description True while the order's refunds together stay below what was paid. */
            readonly partial: boolean;
        } & {
            readonly [key: string]: unknown;
        };
        /**
         * @example {
         *       "type": "purchase.refunded",
         *       "data": {
         *         "order_id": "ord_10482",
         *         "refund_id": "ref_2071",
         *         "amount_cents": 499,
         *         "currency": "EUR",
         *         "partial": true
         *       }
         *     }
         */
        readonly NewPurchaseRefunded: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "purchase.refunded";
            readonly data: components["schemas"]["PurchaseRefundedData"];
            /**
             * @description The event's identifier. Receivers deduplicate by it.
             * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id?: string;
            /**
             * Format: date-time
             * @description When the event happened; the time of the call by default. At most 5 minutes in the future. ISO 8601 with its zone, in the years 0000 to 9999 (UTC).
             */
            readonly created_at?: string;
        };
        /** @description The data of `delivery.success`. A deliverable (game command, chat-platform role or file) was completed. */
        readonly DeliverySuccessData: {
            /** @description The order that the deliverable belongs to. */
            readonly order_id?: string;
            /** @description The deliverable's identifier. */
            readonly deliverable_id?: string;
            /**
             * @description The kind of deliverable.
             * @enum {unknown}
             */
            readonly kind?: "game_command" | "chat_role" | "file";
            /** @description The store platform's details of the result. */
            readonly detail?: string;
        } & {
            readonly [key: string]: unknown;
        };
        /**
         * @example {
         *       "type": "delivery.success",
         *       "data": {
         *         "order_id": "ord_10482",
         *         "deliverable_id": "dlv_77120",
         *         "kind": "game_command",
         *         "detail": "Rank granted on survival-1"
         *       }
         *     }
         */
        readonly NewDeliverySuccess: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "delivery.success";
            readonly data: components["schemas"]["DeliverySuccessData"];
            /**
             * @description The event's identifier. Receivers deduplicate by it.
             * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id?: string;
            /**
             * Format: date-time
             * @description When the event happened; the time of the call by default. At most 5 minutes in the future. ISO 8601 with its zone, in the years 0000 to 9999 (UTC).
             */
            readonly created_at?: string;
        };
        /** @description The data of `delivery.failed`. A deliverable was given up (dead-lettered) after its retries were exhausted. */
        readonly DeliveryFailedData: {
            /** @description The order that the deliverable belongs to. */
            readonly order_id?: string;
            /** @description The deliverable's identifier. */
            readonly deliverable_id?: string;
            /**
             * @description The kind of deliverable.
             * @enum {unknown}
             */
            readonly kind?: "game_command" | "chat_role" | "file";
            /** @description The store platform's details of the result. */
            readonly detail?: string;
        } & {
            readonly [key: string]: unknown;
        };
        /**
         * @example {
         *       "type": "delivery.failed",
         *       "data": {
         *         "order_id": "ord_10482",
         *         "deliverable_id": "dlv_77121",
         *         "kind": "chat_role",
         *         "detail": "The buyer is not a member of the chat server"
         *       }
         *     }
         */
        readonly NewDeliveryFailed: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "delivery.failed";
            readonly data: components["schemas"]["DeliveryFailedData"];
            /**
             * @description The event's identifier. Receivers deduplicate by it.
             * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id?: string;
            /**
             * Format: date-time
             * @description When the event happened; the time of the call by default. At most 5 minutes in the future. ISO 8601 with its zone, in the years 0000 to 9999 (UTC).
             */
            readonly created_at?: string;
        };
        /** @description The data of `basket.abandoned`. A basket with at least one item sat untouched for 24 hours, unless the operator has set another time. */
        readonly BasketAbandonedData: {
            /** @description The basket's identifier. */
            readonly basket_id?: string;
            /** @description The buyer's e-mail address. */
            readonly customer_email?: string;
            /** @description The items in the basket. */
            readonly items?: readonly {
                /** @description The product's identifier in the store. */
                readonly product_id?: string | number;
                /** @description The product's name as the buyer saw it. */
                readonly name?: string;
                /** @description The quantity. */
                readonly quantity?: number;
                /** @description The unit price, in minor currency units. */
                readonly unit_amount_cents?: number;
            }[];
        } & {
            readonly [key: string]: unknown;
        };
        /**
         * @example {
         *       "type": "basket.abandoned",
         *       "data": {
         *         "basket_id": "bsk_55310",
         *         "customer_email": "grace@example.com",
         *         "items": [
         *           {
         *             "product_id": "prod_crate_key",
         *             "name": "Crate key",
         *             "quantity": 5,
         *             "unit_amount_cents": 499
         *           }
         *         ]
         *       }
         *     }
         */
        readonly NewBasketAbandoned: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "basket.abandoned";
            readonly data: components["schemas"]["BasketAbandonedData"];
            /**
             * @description The event's identifier. Receivers deduplicate by it.
             * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id?: string;
            /**
             * Format: date-time
             * @description When the event happened; the time of the call by default. At most 5 minutes in the future. ISO 8601 with its zone, in the years 0000 to 9999 (UTC).
             */
            readonly created_at?: string;
        };
        /** @description The data of `subscription.created`. A recurring subscription started. */
        readonly SubscriptionCreatedData: {
            /** @description The subscription's identifier. */
            readonly subscription_id?: string;
            /** @description The buyer's e-mail address. */
            readonly customer_email?: string;
            /** @description The plan. */
            readonly plan?: string;
        } & {
            readonly [key: string]: unknown;
        };
        /**
         * @example {
         *       "type": "subscription.created",
         *       "data": {
         *         "subscription_id": "sub_3108",
         *         "customer_email": "ada@example.com",
         *         "plan": "vip_monthly"
         *       }
         *     }
         */
        readonly NewSubscriptionCreated: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "subscription.created";
            readonly data: components["schemas"]["SubscriptionCreatedData"];
            /**
             * @description The event's identifier. Receivers deduplicate by it.
             * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id?: string;
            /**
             * Format: date-time
             * @description When the event happened; the time of the call by default. At most 5 minutes in the future. ISO 8601 with its zone, in the years 0000 to 9999 (UTC).
             */
            readonly created_at?: string;
        };
        /** @description The data of `subscription.canceled`. A subscription was canceled. */
        readonly SubscriptionCanceledData: {
            /** @description The subscription's identifier. */
            readonly subscription_id?: string;
            /** @description The buyer's e-mail address. */
            readonly customer_email?: string;
            /** @description The plan. */
            readonly plan?: string;
        } & {
            readonly [key: string]: unknown;
        };
        /**
         * @example {
         *       "type": "subscription.canceled",
         *       "data": {
         *         "subscription_id": "sub_3108",
         *         "customer_email": "ada@example.com",
         *         "plan": "vip_monthly"
         *       }
         *     }
         */
        readonly NewSubscriptionCanceled: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "subscription.canceled";
            readonly data: components["schemas"]["SubscriptionCanceledData"];
            /**
             * @description The event's identifier. Receivers deduplicate by it.
             * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id?: string;
            /**
             * Format: date-time
             * @description When the event happened; the time of the call by default. At most 5 minutes in the future. ISO 8601 with its zone, in the years 0000 to 9999 (UTC).
             */
            readonly created_at?: string;
        };
        /** @description The data of `chargeback.created`. A payment processor raised a dispute about an order. */
        readonly ChargebackCreatedData: {
            /** @description The dispute's identifier. */
            readonly chargeback_id?: string;
            /** @description The disputed order. */
            readonly order_id?: string;
            /** @description The disputed amount, in minor currency units. */
            readonly amount_cents?: number;
            /** @description The currency code of three capital letters (ISO 4217). */
            readonly currency?: string;
            /** @description The reason that the payment processor gave. */
            readonly reason?: string;
        } & {
            readonly [key: string]: unknown;
        };
        /**
         * @example {
         *       "type": "chargeback.created",
         *       "data": {
         *         "chargeback_id": "cbk_914",
         *         "order_id": "ord_10482",
         *         "amount_cents": 2997,
         *         "currency": "EUR",
         *         "reason": "fraudulent"
         *       }
         *     }
         */
        readonly NewChargebackCreated: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "chargeback.created";
            readonly data: components["schemas"]["ChargebackCreatedData"];
            /**
             * @description The event's identifier. Receivers deduplicate by it.
             * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id?: string;
            /**
             * Format: date-time
             * @description When the event happened; the time of the call by default. At most 5 minutes in the future. ISO 8601 with its zone, in the years 0000 to 9999 (UTC).
             */
            readonly created_at?: string;
        };
        /**
         * @description An event to publish. `data` is delivered character for character. The schemas of `purchase.completed` and `purchase.refunded` are enforced: an event is also refused if an integer has a fraction, an exponent or an absolute value above 2^53 - 1, if a field that the schema names appears twice, or if `currency` isn't in ISO 4217. For the other types any object is accepted, and the schema says what receivers expect.
         * @example {
         *       "type": "delivery.success",
         *       "data": {
         *         "order_id": "ord_10482"
         *       }
         *     }
         */
        readonly NewEvent: components["schemas"]["NewCustomerCreated"] | components["schemas"]["NewPurchaseCompleted"] | components["schemas"]["NewPurchaseRefunded"] | components["schemas"]["NewDeliverySuccess"] | components["schemas"]["NewDeliveryFailed"] | components["schemas"]["NewBasketAbandoned"] | components["schemas"]["NewSubscriptionCreated"] | components["schemas"]["NewSubscriptionCanceled"] | components["schemas"]["NewChargebackCreated"];
        readonly NewEventBatch: {
            readonly events: readonly components["schemas"]["NewEvent"][];
        };
        readonly PublishedEvent: {
            /**
             * @description The event's identifier. Receivers deduplicate by it.
             * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id: string;
            /** @description Its sequence number in the project's log. */
            readonly seq: number;
            readonly type: components["schemas"]["EventType"];
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly created_at: string;
            /**
             * @description The project's identifier.
             * @example proj_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly project_id: string;
        };
        readonly PublishedEventBatch: {
            readonly events: readonly components["schemas"]["PublishedEvent"][];
        };
        /**
         * @example {
         *       "type": "customer.created",
         *       "data": {
         *         "customer_email": "ada@example.com",
         *         "order_id": "ord_10482"
         *       },
         *       "webhooks": 1
         *     }
         */
        readonly SampleCustomerCreated: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "customer.created";
            readonly data: components["schemas"]["CustomerCreatedData"];
            /** @description How many webhooks are subscribed to the type, paused ones included. If the number is wrong, nothing is published, which prevents accidents. */
            readonly webhooks: number;
        };
        /**
         * @example {
         *       "type": "purchase.completed",
         *       "data": {
         *         "order_id": "ord_10482",
         *         "customer_email": "ada@example.com",
         *         "amount_cents": 2997,
         *         "currency": "EUR",
         *         "items": [
         *           {
         *             "product_id": "prod_vip_30d",
         *             "name": "VIP rank, 30 days",
         *             "quantity": 1,
         *             "unit_amount_cents": 1999
         *           },
         *           {
         *             "product_id": "prod_crate_key",
         *             "name": "Crate key",
         *             "quantity": 2,
         *             "unit_amount_cents": 499
         *           }
         *         ]
         *       },
         *       "webhooks": 1
         *     }
         */
        readonly SamplePurchaseCompleted: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "purchase.completed";
            readonly data: components["schemas"]["PurchaseCompletedData"];
            /** @description How many webhooks are subscribed to the type, paused ones included. If the number is wrong, nothing is published, which prevents accidents. */
            readonly webhooks: number;
        };
        /**
         * @example {
         *       "type": "purchase.refunded",
         *       "data": {
         *         "order_id": "ord_10482",
         *         "refund_id": "ref_2071",
         *         "amount_cents": 499,
         *         "currency": "EUR",
         *         "partial": true
         *       },
         *       "webhooks": 1
         *     }
         */
        readonly SamplePurchaseRefunded: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "purchase.refunded";
            readonly data: components["schemas"]["PurchaseRefundedData"];
            /** @description How many webhooks are subscribed to the type, paused ones included. If the number is wrong, nothing is published, which prevents accidents. */
            readonly webhooks: number;
        };
        /**
         * @example {
         *       "type": "delivery.success",
         *       "data": {
         *         "order_id": "ord_10482",
         *         "deliverable_id": "dlv_77120",
         *         "kind": "game_command",
         *         "detail": "Rank granted on survival-1"
         *       },
         *       "webhooks": 1
         *     }
         */
        readonly SampleDeliverySuccess: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "delivery.success";
            readonly data: components["schemas"]["DeliverySuccessData"];
            /** @description How many webhooks are subscribed to the type, paused ones included. If the number is wrong, nothing is published, which prevents accidents. */
            readonly webhooks: number;
        };
        /**
         * @example {
         *       "type": "delivery.failed",
         *       "data": {
         *         "order_id": "ord_10482",
         *         "deliverable_id": "dlv_77121",
         *         "kind": "chat_role",
         *         "detail": "The buyer is not a member of the chat server"
         *       },
         *       "webhooks": 1
         *     }
         */
        readonly SampleDeliveryFailed: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "delivery.failed";
            readonly data: components["schemas"]["DeliveryFailedData"];
            /** @description How many webhooks are subscribed to the type, paused ones included. If the number is wrong, nothing is published, which prevents accidents. */
            readonly webhooks: number;
        };
        /**
         * @example {
         *       "type": "basket.abandoned",
         *       "data": {
         *         "basket_id": "bsk_55310",
         *         "customer_email": "grace@example.com",
         *         "items": [
         *           {
         *             "product_id": "prod_crate_key",
         *             "name": "Crate key",
         *             "quantity": 5,
         *             "unit_amount_cents": 499
         *           }
         *         ]
         *       },
         *       "webhooks": 1
         *     }
         */
        readonly SampleBasketAbandoned: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "basket.abandoned";
            readonly data: components["schemas"]["BasketAbandonedData"];
            /** @description How many webhooks are subscribed to the type, paused ones included. If the number is wrong, nothing is published, which prevents accidents. */
            readonly webhooks: number;
        };
        /**
         * @example {
         *       "type": "subscription.created",
         *       "data": {
         *         "subscription_id": "sub_3108",
         *         "customer_email": "ada@example.com",
         *         "plan": "vip_monthly"
         *       },
         *       "webhooks": 1
         *     }
         */
        readonly SampleSubscriptionCreated: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "subscription.created";
            readonly data: components["schemas"]["SubscriptionCreatedData"];
            /** @description How many webhooks are subscribed to the type, paused ones included. If the number is wrong, nothing is published, which prevents accidents. */
            readonly webhooks: number;
        };
        /**
         * @example {
         *       "type": "subscription.canceled",
         *       "data": {
         *         "subscription_id": "sub_3108",
         *         "customer_email": "ada@example.com",
         *         "plan": "vip_monthly"
         *       },
         *       "webhooks": 1
         *     }
         */
        readonly SampleSubscriptionCanceled: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "subscription.canceled";
            readonly data: components["schemas"]["SubscriptionCanceledData"];
            /** @description How many webhooks are subscribed to the type, paused ones included. If the number is wrong, nothing is published, which prevents accidents. */
            readonly webhooks: number;
        };
        /**
         * @example {
         *       "type": "chargeback.created",
         *       "data": {
         *         "chargeback_id": "cbk_914",
         *         "order_id": "ord_10482",
         *         "amount_cents": 2997,
         *         "currency": "EUR",
         *         "reason": "fraudulent"
         *       },
         *       "webhooks": 1
         *     }
         */
        readonly SampleChargebackCreated: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "chargeback.created";
            readonly data: components["schemas"]["ChargebackCreatedData"];
            /** @description How many webhooks are subscribed to the type, paused ones included. If the number is wrong, nothing is published, which prevents accidents. */
            readonly webhooks: number;
        };
        /**
         * @description A sample event. Its data must match its type's schema, even for types whose schema isn't enforced when publishing. It is also refused if an integer has a fraction, an exponent or an absolute value above 2^53 - 1, if a field that the schema names appears twice, or if `currency` isn't in ISO 4217.
         * @example {
         *       "type": "delivery.success",
         *       "data": {
         *         "order_id": "ord_10482"
         *       },
         *       "webhooks": 1
         *     }
         */
        readonly SampleRequest: components["schemas"]["SampleCustomerCreated"] | components["schemas"]["SamplePurchaseCompleted"] | components["schemas"]["SamplePurchaseRefunded"] | components["schemas"]["SampleDeliverySuccess"] | components["schemas"]["SampleDeliveryFailed"] | components["schemas"]["SampleBasketAbandoned"] | components["schemas"]["SampleSubscriptionCreated"] | components["schemas"]["SampleSubscriptionCanceled"] | components["schemas"]["SampleChargebackCreated"];
        /** @description The body that a webhook receives, byte for byte. */
        readonly Envelope: {
            /**
             * @description The event's identifier. Receivers deduplicate by it.
             * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id: string;
            readonly type: components["schemas"]["EventType"];
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly created_at: string;
            /**
             * @description The project's identifier.
             * @example proj_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly project_id: string;
            /** @description The event's own data. Its schema depends on the type: `GET /v1/event-types`. */
            readonly data: {
                readonly [key: string]: unknown;
            };
        };
        readonly NewListener: {
            /**
             * @description Where the events go, without secrets.
             * @example localhost:3000
             */
            readonly target: string;
            /** @description By default, all types. */
            readonly types?: readonly components["schemas"]["EventType"][];
        };
        /** @description An attempt without its headers and bodies. */
        readonly AttemptSummary: {
            /**
             * @description The attempt's identifier.
             * @example att_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id: string;
            /**
             * @description The webhook's identifier.
             * @example wh_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly webhook_id: string;
            /**
             * @description The event's identifier. Receivers deduplicate by it.
             * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly event_id: string;
            readonly event_type: components["schemas"]["EventType"];
            /** @description Its number within its series. */
            readonly attempt: number;
            /** @description 0 for the first series, then 1, 2 … for each replay. */
            readonly replay: number;
            /** @description Whether the event is a test event. */
            readonly test: boolean;
            /** @enum {string} */
            readonly method: "POST";
            readonly url: string;
            readonly status_code: number | null;
            /** @description A stable code for `error`. */
            readonly error_code: string | null;
            /** @description What went wrong, in words. */
            readonly error: string | null;
            /** @description From the attempt's start until the response or the failure. Time spent waiting for the rest of an incomplete response or for a turn to connect doesn't count. */
            readonly response_ms: number;
            /**
             * @description `failed` is dead-lettered: there are no further attempts unless it is replayed.
             * @enum {string}
             */
            readonly status: "delivered" | "retrying" | "failed";
            readonly next_retry_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly started_at: string;
        };
        /** @description An event that a search has found, by its body or by a response to it. */
        readonly EventMatch: {
            /**
             * @description The event's identifier. Receivers deduplicate by it.
             * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id: string;
            readonly seq: number;
            readonly type: components["schemas"]["EventType"];
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly created_at: string;
            /** @description With `text`: the first match in the body or response, and what is around it. */
            readonly excerpt: {
                readonly before: string;
                readonly match: string;
                readonly after: string;
            } | null;
            /** @description With `text`: the attempt whose response contains it; null if the event's body does. */
            readonly attempt: components["schemas"]["AttemptSummary"] | null;
        };
        /** @description With `order_id` or `customer_email`: how much of the log was searched for them. */
        readonly SearchedEvents: {
            /** @description Whether all events were searched. Otherwise some aren't indexed yet: ask again in a moment. */
            readonly complete: boolean;
            /** @description If older events aren't indexed yet: only those created from this time on were searched. */
            readonly since: string | null;
            /** @description Whether only the newest events of a value were considered. A list of events has up to 200. A list of deliveries or attempts considers 500 attempts of these, from the newest event on. If the value has more events, a page considers at most 50, and 150 attempts of the newest of them. */
            readonly capped: boolean;
        };
        /**
         * @example {
         *       "order_id": "ord_10482",
         *       "customer_email": "ada@example.com",
         *       "amount_cents": 2997,
         *       "currency": "EUR",
         *       "items": [
         *         {
         *           "product_id": "prod_vip_30d",
         *           "name": "VIP rank, 30 days",
         *           "quantity": 1,
         *           "unit_amount_cents": 1999
         *         },
         *         {
         *           "product_id": "prod_crate_key",
         *           "name": "Crate key",
         *           "quantity": 2,
         *           "unit_amount_cents": 499
         *         }
         *       ],
         *       "basket_id": "bsk_55310"
         *     }
         */
        readonly NewOrder: {
            /**
             * @description The order's identifier at the store platform: at most 100 characters, percent-encoded as in a URL.
             * @example ord_10482
             */
            readonly order_id: string;
            /**
             * @description The buyer's e-mail address. Spaces around it are dropped.
             * @example ada@example.com
             */
            readonly customer_email: string;
            /** @description The amount paid, in minor currency units. */
            readonly amount_cents: number;
            /**
             * @description Three capital letters (ISO 4217).
             * @example EUR
             * @enum {string}
             */
            readonly currency: "AED" | "AFN" | "ALL" | "AMD" | "ANG" | "AOA" | "ARS" | "AUD" | "AWG" | "AZN" | "BAM" | "BBD" | "BDT" | "BGN" | "BHD" | "BIF" | "BMD" | "BND" | "BOB" | "BRL" | "BSD" | "BTN" | "BWP" | "BYN" | "BZD" | "CAD" | "CDF" | "CHF" | "CLP" | "CNY" | "COP" | "CRC" | "CUC" | "CUP" | "CVE" | "CZK" | "DJF" | "DKK" | "DOP" | "DZD" | "EGP" | "ERN" | "ETB" | "EUR" | "FJD" | "FKP" | "GBP" | "GEL" | "GHS" | "GIP" | "GMD" | "GNF" | "GTQ" | "GYD" | "HKD" | "HNL" | "HRK" | "HTG" | "HUF" | "IDR" | "ILS" | "INR" | "IQD" | "IRR" | "ISK" | "JMD" | "JOD" | "JPY" | "KES" | "KGS" | "KHR" | "KMF" | "KPW" | "KRW" | "KWD" | "KYD" | "KZT" | "LAK" | "LBP" | "LKR" | "LRD" | "LSL" | "LYD" | "MAD" | "MDL" | "MGA" | "MKD" | "MMK" | "MNT" | "MOP" | "MRU" | "MUR" | "MVR" | "MWK" | "MXN" | "MYR" | "MZN" | "NAD" | "NGN" | "NIO" | "NOK" | "NPR" | "NZD" | "OMR" | "PAB" | "PEN" | "PGK" | "PHP" | "PKR" | "PLN" | "PYG" | "QAR" | "RON" | "RSD" | "RUB" | "RWF" | "SAR" | "SBD" | "SCR" | "SDG" | "SEK" | "SGD" | "SHP" | "SLE" | "SLL" | "SOS" | "SRD" | "SSP" | "STN" | "SVC" | "SYP" | "SZL" | "THB" | "TJS" | "TMT" | "TND" | "TOP" | "TRY" | "TTD" | "TWD" | "TZS" | "UAH" | "UGX" | "USD" | "UYU" | "UZS" | "VES" | "VND" | "VUV" | "WST" | "XAF" | "XCD" | "XCG" | "XDR" | "XOF" | "XPF" | "XSU" | "YER" | "ZAR" | "ZMW" | "ZWG" | "ZWL";
            /**
             * @description What was ordered. Other properties may be added. Integers beyond 2^53 have to be strings, and nesting is limited to 32 levels.
             * @example [
             *       {
             *         "product_id": "prod_vip_30d",
             *         "name": "VIP rank, 30 days",
             *         "quantity": 1,
             *         "unit_amount_cents": 1999
             *       },
             *       {
             *         "product_id": "prod_crate_key",
             *         "name": "Crate key",
             *         "quantity": 2,
             *         "unit_amount_cents": 499
             *       }
             *     ]
             */
            readonly items: readonly {
                /** @description The product's identifier in the store. */
                readonly product_id?: string | number;
                /** @description The product's name as the buyer saw it. */
                readonly name?: string;
                /** @description The quantity. */
                readonly quantity?: number;
                /** @description The unit price, in minor currency units. */
                readonly unit_amount_cents?: number;
            }[];
            /**
             * @description The bought basket's identifier at the store platform: at most 100 characters, percent-encoded as in a URL.
             * @example bsk_55310
             */
            readonly basket_id?: string;
        };
        /** @description A recorded fact. A repeated report gets the same response. */
        readonly Fact: {
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly recorded_at: string;
            /** @description The events it created, in log order. */
            readonly events: readonly components["schemas"]["PublishedEvent"][];
        };
        readonly NewOrders: {
            /** @description Each is recorded or refused separately: an invalid order gets the outcome `invalid`, and the others are recorded. */
            readonly orders: readonly components["schemas"]["NewOrder"][];
        };
        readonly OrderResults: {
            /** @description One result for each order, in the same order. */
            readonly results: readonly {
                /** @description Null if the order had none. */
                readonly order_id: string | null;
                /**
                 * @description `repeated`: already recorded with the same content. `conflict`: already recorded with different content. The last three recorded nothing.
                 * @enum {string}
                 */
                readonly outcome: "recorded" | "repeated" | "conflict" | "invalid" | "too_large";
                /**
                 * Format: date-time
                 * @description ISO 8601 in UTC with milliseconds.
                 * @example 2026-11-21T03:47:36.123Z
                 */
                readonly recorded_at?: string;
                readonly events?: readonly components["schemas"]["PublishedEvent"][];
                /** @description What is wrong, with pointers into the batch. */
                readonly errors?: readonly {
                    readonly pointer: string;
                    readonly detail: string;
                }[];
            }[];
        };
        /**
         * @example {
         *       "refund_id": "ref_2071",
         *       "amount_cents": 499
         *     }
         */
        readonly NewRefund: {
            /**
             * @description The refund's identifier at the store platform: at most 100 characters, percent-encoded as in a URL.
             * @example ref_2071
             */
            readonly refund_id: string;
            /** @description The amount refunded, in minor currency units. */
            readonly amount_cents: number;
        };
        /**
         * @example {
         *       "chargeback_id": "cbk_914",
         *       "amount_cents": 2997,
         *       "reason": "fraudulent"
         *     }
         */
        readonly NewChargeback: {
            /**
             * @description The dispute's identifier at the store platform: at most 100 characters, percent-encoded as in a URL.
             * @example cbk_914
             */
            readonly chargeback_id: string;
            /** @description The disputed amount; it may exceed the order's. */
            readonly amount_cents: number;
            /** @description The payment processor's reason. */
            readonly reason?: string;
        };
        /**
         * @example {
         *       "kind": "game_command",
         *       "outcome": "completed",
         *       "detail": "Rank granted on survival-1"
         *     }
         */
        readonly DeliverableOutcome: {
            /**
             * @description What kind of thing it is.
             * @enum {string}
             */
            readonly kind: "game_command" | "chat_role" | "file";
            /**
             * @description The final outcome. `dead_lettered`: given up after retries.
             * @enum {string}
             */
            readonly outcome: "completed" | "dead_lettered";
            /** @description Details of the result. */
            readonly detail?: string;
        };
        /**
         * @example {
         *       "customer_email": "grace@example.com",
         *       "items": [
         *         {
         *           "product_id": "prod_crate_key",
         *           "name": "Crate key",
         *           "quantity": 5,
         *           "unit_amount_cents": 499
         *         }
         *       ]
         *     }
         */
        readonly BasketContents: {
            /**
             * @description What was ordered. Other properties may be added. Integers beyond 2^53 have to be strings, and nesting is limited to 32 levels.
             * @example [
             *       {
             *         "product_id": "prod_vip_30d",
             *         "name": "VIP rank, 30 days",
             *         "quantity": 1,
             *         "unit_amount_cents": 1999
             *       },
             *       {
             *         "product_id": "prod_crate_key",
             *         "name": "Crate key",
             *         "quantity": 2,
             *         "unit_amount_cents": 499
             *       }
             *     ]
             */
            readonly items: readonly {
                /** @description The product's identifier in the store. */
                readonly product_id?: string | number;
                /** @description The product's name as the buyer saw it. */
                readonly name?: string;
                /** @description The quantity. */
                readonly quantity?: number;
                /** @description The unit price, in minor currency units. */
                readonly unit_amount_cents?: number;
            }[];
            /**
             * @description The buyer's e-mail address. Spaces around it are dropped.
             * @example ada@example.com
             */
            readonly customer_email?: string;
        };
        readonly Basket: {
            readonly basket_id: string;
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly touched_at: string;
            /** @description When `basket.abandoned` fires unless the basket is touched before then; null if it is empty. */
            readonly abandoned_at: string | null;
        };
        /**
         * @example {
         *       "subscription_id": "sub_3108",
         *       "customer_email": "ada@example.com",
         *       "plan": "vip_monthly"
         *     }
         */
        readonly NewSubscription: {
            /**
             * @description The subscription's identifier at the store platform: at most 100 characters, percent-encoded as in a URL.
             * @example sub_3108
             */
            readonly subscription_id: string;
            /**
             * @description The buyer's e-mail address. Spaces around it are dropped.
             * @example ada@example.com
             */
            readonly customer_email: string;
            /** @description The plan. */
            readonly plan: string;
        };
        /**
         * @example {
         *       "url": "https://example.com/webhooks",
         *       "description": "Accounting",
         *       "events": [
         *         "purchase.completed"
         *       ]
         *     }
         */
        readonly NewWebhook: {
            /**
             * Format: uri
             * @description Where events are sent: an https URL with a public host, without credentials and without a fragment, at most 2,048 characters by default. Responses show the URL as it is called: `/a/../b` as `/b`, host names in ASCII.
             * @example https://example.com/webhooks
             */
            readonly url: string;
            /**
             * @description A label for the owner, at most 200 characters by default, with a visible character unless it is empty. It is stored without the white space around it.
             * @example Accounting
             */
            readonly description?: string;
            /**
             * @description The event types that it receives.
             * @example [
             *       "purchase.completed",
             *       "purchase.refunded"
             *     ]
             */
            readonly events: readonly components["schemas"]["EventType"][];
            /**
             * @description How many first attempts may be in flight. With 1, they start in log order.
             * @default 1
             */
            readonly max_in_flight?: number;
            /**
             * @description Whether requests also carry the headers of the Standard Webhooks specification: `webhook-id`, `webhook-timestamp` and `webhook-signature`. Its libraries take the same secret.
             * @default false
             */
            readonly standard_webhooks?: boolean;
        };
        readonly CreatedWebhook: {
            /**
             * @description The webhook's identifier.
             * @example wh_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id: string;
            /**
             * Format: uri
             * @description Where events are sent: an https URL with a public host, without credentials and without a fragment, at most 2,048 characters by default. Responses show the URL as it is called: `/a/../b` as `/b`, host names in ASCII.
             * @example https://example.com/webhooks
             */
            readonly url: string;
            /**
             * @description The owner's label.
             * @example Accounting
             */
            readonly description: string;
            /**
             * @description The event types that it receives.
             * @example [
             *       "purchase.completed",
             *       "purchase.refunded"
             *     ]
             */
            readonly events: readonly components["schemas"]["EventType"][];
            /**
             * @description How many first attempts may be in flight. With 1, they start in log order.
             * @default 1
             */
            readonly max_in_flight: number;
            /**
             * @description Whether requests also carry the headers of the Standard Webhooks specification: `webhook-id`, `webhook-timestamp` and `webhook-signature`. Its libraries take the same secret.
             * @default false
             */
            readonly standard_webhooks: boolean;
            /**
             * @description Paused: nothing is sent and events wait.
             * @enum {string}
             */
            readonly status: "active" | "paused";
            /**
             * @description Whether requests can be signed. `unreadable`: no seal key of the service opens the secret. `lost`: the operator gave it up, because its seal key was lost. In both cases, nothing is sent, and events wait until the secret is rotated.
             * @enum {string}
             */
            readonly secret_state: "usable" | "unreadable" | "lost";
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly created_at: string;
            /** @description The events that wait for their first attempt. */
            readonly backlog: {
                /** @description How many events wait for their first attempt. */
                readonly events: number;
                /** @description The number of the oldest of them in the project's log. */
                readonly oldest_seq: number | null;
                /** @description When the oldest of them was published. */
                readonly oldest_at: string | null;
            };
            /**
             * @description The signing secret, shown only in this response, and stored sealed.
             * @example whsec_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
             */
            readonly secret: string;
        };
        readonly Webhook: {
            /**
             * @description The webhook's identifier.
             * @example wh_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id: string;
            /**
             * Format: uri
             * @description Where events are sent: an https URL with a public host, without credentials and without a fragment, at most 2,048 characters by default. Responses show the URL as it is called: `/a/../b` as `/b`, host names in ASCII.
             * @example https://example.com/webhooks
             */
            readonly url: string;
            /**
             * @description The owner's label.
             * @example Accounting
             */
            readonly description: string;
            /**
             * @description The event types that it receives.
             * @example [
             *       "purchase.completed",
             *       "purchase.refunded"
             *     ]
             */
            readonly events: readonly components["schemas"]["EventType"][];
            /**
             * @description How many first attempts may be in flight. With 1, they start in log order.
             * @default 1
             */
            readonly max_in_flight: number;
            /**
             * @description Whether requests also carry the headers of the Standard Webhooks specification: `webhook-id`, `webhook-timestamp` and `webhook-signature`. Its libraries take the same secret.
             * @default false
             */
            readonly standard_webhooks: boolean;
            /**
             * @description Paused: nothing is sent and events wait.
             * @enum {string}
             */
            readonly status: "active" | "paused";
            /**
             * @description Whether requests can be signed. `unreadable`: no seal key of the service opens the secret. `lost`: the operator gave it up, because its seal key was lost. In both cases, nothing is sent, and events wait until the secret is rotated.
             * @enum {string}
             */
            readonly secret_state: "usable" | "unreadable" | "lost";
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly created_at: string;
            /** @description The events that wait for their first attempt. */
            readonly backlog: {
                /** @description How many events wait for their first attempt. */
                readonly events: number;
                /** @description The number of the oldest of them in the project's log. */
                readonly oldest_seq: number | null;
                /** @description When the oldest of them was published. */
                readonly oldest_at: string | null;
            };
        };
        readonly DeletedWebhook: {
            /**
             * @description The webhook's identifier.
             * @example wh_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id: string;
            readonly url: string;
            readonly description: string;
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly deleted_at: string;
        };
        /**
         * @example {
         *       "url": "https://example.com/webhooks"
         *     }
         */
        readonly UrlToCheck: {
            /** @example https://example.com/webhooks */
            readonly url: string;
        };
        readonly UrlCheck: {
            /** @description Whether a webhook can be registered for this URL and its host name currently resolves. */
            readonly ok: boolean;
            readonly checks: readonly {
                /** @enum {string} */
                readonly name: "https" | "reachable_name" | "public_address";
                /**
                 * @description `unknown`: not checked.
                 * @enum {string}
                 */
                readonly state: "ok" | "failed" | "unknown";
                /** @description The result in words. */
                readonly detail: string;
            }[];
        };
        /**
         * @example {
         *       "status": "active",
         *       "from": "now"
         *     }
         */
        readonly WebhookPatch: {
            /**
             * Format: uri
             * @description Where events are sent: an https URL with a public host, without credentials and without a fragment, at most 2,048 characters by default. Responses show the URL as it is called: `/a/../b` as `/b`, host names in ASCII.
             * @example https://example.com/webhooks
             */
            readonly url?: string;
            /**
             * @description A label for the owner, at most 200 characters by default, with a visible character unless it is empty. It is stored without the white space around it.
             * @example Accounting
             */
            readonly description?: string;
            /**
             * @description The event types that it receives.
             * @example [
             *       "purchase.completed",
             *       "purchase.refunded"
             *     ]
             */
            readonly events?: readonly components["schemas"]["EventType"][];
            /**
             * @description How many first attempts may be in flight. With 1, they start in log order.
             * @default 1
             */
            readonly max_in_flight?: number;
            /**
             * @description Whether requests also carry the headers of the Standard Webhooks specification: `webhook-id`, `webhook-timestamp` and `webhook-signature`. Its libraries take the same secret.
             * @default false
             */
            readonly standard_webhooks?: boolean;
            /**
             * @description Paused: nothing is sent and events wait.
             * @enum {string}
             */
            readonly status?: "active" | "paused";
            /**
             * @description With `status: "active"`, `backlog` (the default) sends the events that accumulated, and `now` skips them. Without `status`, `now` skips what is pending and leaves the webhook active or paused.
             * @enum {string}
             */
            readonly from?: "backlog" | "now";
        };
        readonly RotatedSecret: {
            /**
             * @description The signing secret, shown only in this response, and stored sealed.
             * @example whsec_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
             */
            readonly secret: string;
        };
        /**
         * @example {
         *       "type": "purchase.completed"
         *     }
         */
        readonly TestRequest: {
            readonly type: components["schemas"]["EventType"];
        };
        readonly TestAccepted: {
            /**
             * @description The test event's identifier.
             * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly event_id: string;
        };
        readonly Attempt: {
            /**
             * @description The attempt's identifier.
             * @example att_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id: string;
            /**
             * @description The webhook's identifier.
             * @example wh_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly webhook_id: string;
            /**
             * @description The event's identifier. Receivers deduplicate by it.
             * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly event_id: string;
            readonly event_type: components["schemas"]["EventType"];
            /** @description Its number within its series. */
            readonly attempt: number;
            /** @description 0 for the first series, then 1, 2 … for each replay. */
            readonly replay: number;
            /** @description Whether the event is a test event. */
            readonly test: boolean;
            /** @enum {string} */
            readonly method: "POST";
            readonly url: string;
            /** @description The headers that were sent; empty if nothing was sent, for example because the connection was refused. */
            readonly request_headers: {
                readonly [key: string]: string;
            };
            /** @description The exact body that was sent or would have been sent. */
            readonly request_body: string;
            readonly status_code: number | null;
            /** @description A stable code for `error`. */
            readonly error_code: string | null;
            /** @description What went wrong, in words. */
            readonly error: string | null;
            /** @description From the attempt's start until the response or the failure. Time spent waiting for the rest of an incomplete response or for a turn to connect doesn't count. */
            readonly response_ms: number;
            /** @description The first 1,024 bytes. Anything that isn't UTF-8 appears as U+FFFD. */
            readonly response_body: string;
            /** @description Whether the rest of the body is missing: it was longer, or didn't arrive. */
            readonly response_truncated: boolean;
            /** @description Some header fields of a response that isn't 2xx, names in lower case: allow, cf-mitigated, cf-ray, content-encoding, content-type, date, location, retry-after, server, via, www-authenticate, x-powered-by, x-request-id. No others are stored. Long values are cut off, and characters that aren't visible appear as U+FFFD. */
            readonly response_headers: {
                readonly [key: string]: string;
            };
            /** @description What name servers answered, if the host name could not be resolved: `nxdomain` (the name doesn't exist), `no_address` (it has no A or AAAA record), `invalid_name`, `servfail`, `refused`, `timeout`, `unusable`, `only_private` or `only_denied` (it has addresses, but none that requests may go to). */
            readonly dns: ("nxdomain" | "no_address" | "invalid_name" | "servfail" | "refused" | "timeout" | "unusable" | "only_private" | "only_denied") | null;
            /** @description The receiver's certificate, if it was rejected. */
            readonly certificate: {
                readonly subject: string;
                readonly issuer: string;
                /** @description The first of the host names and addresses that it is for. */
                readonly names: readonly string[];
                readonly valid_from: string | null;
                readonly valid_to: string | null;
            } | null;
            /**
             * @description `failed` is dead-lettered: there are no further attempts unless it is replayed.
             * @enum {string}
             */
            readonly status: "delivered" | "retrying" | "failed";
            readonly next_retry_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly started_at: string;
        };
        /** @description An attempt with its event's order id, without headers and bodies. */
        readonly ListedAttempt: {
            /**
             * @description The attempt's identifier.
             * @example att_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id: string;
            /**
             * @description The webhook's identifier.
             * @example wh_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly webhook_id: string;
            /**
             * @description The event's identifier. Receivers deduplicate by it.
             * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly event_id: string;
            readonly event_type: components["schemas"]["EventType"];
            /** @description Its number within its series. */
            readonly attempt: number;
            /** @description 0 for the first series, then 1, 2 … for each replay. */
            readonly replay: number;
            /** @description Whether the event is a test event. */
            readonly test: boolean;
            /** @enum {string} */
            readonly method: "POST";
            readonly url: string;
            /** @description The `order_id` in the event's data. Null if there is none, for test events, and for events of more than 16 KiB. */
            readonly order_id: string | null;
            readonly status_code: number | null;
            /** @description A stable code for `error`. */
            readonly error_code: string | null;
            /** @description What went wrong, in words. */
            readonly error: string | null;
            /** @description From the attempt's start until the response or the failure. Time spent waiting for the rest of an incomplete response or for a turn to connect doesn't count. */
            readonly response_ms: number;
            /**
             * @description `failed` is dead-lettered: there are no further attempts unless it is replayed.
             * @enum {string}
             */
            readonly status: "delivered" | "retrying" | "failed";
            readonly next_retry_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly started_at: string;
            /** @description Whether the log has a later attempt of the delivery, so that a `retrying` one has been retried. Always false for a delivered one. */
            readonly followed: boolean;
        };
        readonly AttemptCount: {
            /** @description How many match, up to 10,000. */
            readonly count: number;
            /** @description Whether counting stopped early, because more than 10,000 match or because a call with `status_code` or `error` examined as many attempts as it may. */
            readonly capped: boolean;
            readonly searched?: components["schemas"]["SearchedEvents"];
        };
        /**
         * @example {
         *       "timestamp": "1795514462",
         *       "clock": 1795514470
         *     }
         */
        readonly SignatureSeen: {
            /** @description The signature that the receiver computed: in hexadecimal, or in base64 for Standard Webhooks. */
            readonly signature?: string;
            /** @description The bytes of the body that the receiver saw, in base64 with its padding. */
            readonly body?: string;
            /** @description The timestamp that the receiver used. */
            readonly timestamp?: string;
            /** @description The receiver's clock when it checked the request, Unix time in seconds. */
            readonly clock?: number;
        };
        readonly SignatureDiagnosis: {
            readonly findings: readonly {
                /** @enum {string} */
                readonly part: "secret" | "signature" | "body" | "timestamp" | "clock";
                /** @enum {string} */
                readonly state: "right" | "wrong" | "unknown";
                /** @description Stable. */
                readonly code: string;
                /** @description What is wrong, and what to do. */
                readonly detail: string;
            }[];
        };
        /** @description A series of attempts of one event to one webhook. */
        readonly DeliverySummary: {
            /**
             * @description The webhook's identifier.
             * @example wh_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly webhook_id: string;
            /**
             * @description The event's identifier. Receivers deduplicate by it.
             * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly event_id: string;
            readonly event_type: components["schemas"]["EventType"];
            /** @description The `order_id` in the event's data. Null if there is none, for test events, and for events of more than 16 KiB. */
            readonly order_id: string | null;
            /** @description 0 for the first series, then 1, 2 … for each replay. */
            readonly replay: number;
            /** @description Whether the event is a test event. */
            readonly test: boolean;
            /**
             * @description `waiting`: the next attempt is pending. `failed`: there are no attempts left, or nothing was sent.
             * @enum {string}
             */
            readonly state: "delivered" | "waiting" | "failed";
            /** @description How many attempts of this series were made. */
            readonly attempts: number;
            /** @description Null before the first attempt of a replay or test event. */
            readonly last_attempt: components["schemas"]["AttemptSummary"] | null;
            readonly next_retry_at: string | null;
            /** @description What was done about a failed delivery; null if nothing. */
            readonly handled: ("replayed" | "dismissed") | null;
        };
        readonly Delivery: {
            /** @enum {string} */
            readonly state: "attempting" | "delivered" | "dead_lettered";
            /** @description The attempt that is due or in flight, or the last one made. */
            readonly attempt: number;
            readonly replay: number;
            readonly next_retry_at: string | null;
            /** @description Whether it is dead-lettered and was dismissed. */
            readonly dismissed: boolean;
            /** @description The attempts of all series, oldest first; at most the newest 200, and 4 MiB. */
            readonly attempts: readonly components["schemas"]["Attempt"][];
        };
        readonly ReplayAccepted: {
            /** @enum {string} */
            readonly state: "attempting";
            readonly attempt: number;
            readonly replay: number;
        };
        readonly TestCancelled: {
            readonly cancelled: boolean;
        };
        readonly Dismissed: {
            readonly dismissed: boolean;
        };
        /**
         * @example {
         *       "status": "failed"
         *     }
         */
        readonly ReplayRequest: {
            /** @enum {string} */
            readonly status: "failed";
            /**
             * Format: date-time
             * @description Attempts that started at this time or later. ISO 8601 with its zone, in the years 0000 to 9999 (UTC).
             */
            readonly since?: string;
            /**
             * Format: date-time
             * @description Attempts that started before this time. ISO 8601 with its zone, in the years 0000 to 9999 (UTC).
             */
            readonly until?: string;
        };
        readonly ReplayedCount: {
            readonly count: number;
        };
        /**
         * @example {
         *       "filter": {
         *         "status": "failed",
         *         "type": "purchase.completed"
         *       },
         *       "dry_run": true
         *     }
         * @example {
         *       "deliveries": [
         *         {
         *           "webhook_id": "wh_01kbjh6mrxe3q8z1v2t4w5y6a7",
         *           "event_id": "evt_01kbjh6mrxe3q8z1v2t4w5y6a7"
         *         }
         *       ]
         *     }
         */
        readonly ReplaysRequest: {
            /** @description Replays these deliveries. Those that are still being attempted or don't exist are skipped. */
            readonly deliveries?: readonly {
                /** @description The webhook. */
                readonly webhook_id: string;
                /** @description The event. */
                readonly event_id: string;
            }[];
            /** @description As for the list of attempts. A delivery matches if its newest attempt does. Test events never match: replay those one by one. */
            readonly filter?: {
                /** @description Attempts to any of these webhooks. */
                readonly webhook_id?: string | readonly string[];
                /** @description Events of any of these types. Webhooks × types × states can be at most 30. */
                readonly type?: components["schemas"]["EventType"] | readonly components["schemas"]["EventType"][];
                /** @description A status code (`503`), a class (`5xx`), or `none` for attempts without a response. Any of them matches. */
                readonly status_code?: readonly string[];
                /** @description The `error_code` of the attempt, such as `timeout`. With `status_code`, either matches. */
                readonly error?: readonly string[];
                /** @description Attempts of this event. */
                readonly event_id?: string;
                /** @description Events with one of these as their data's `order_id`. */
                readonly order_id?: readonly string[];
                /** @description Events with one of these as their data's `customer_email`. */
                readonly customer_email?: readonly string[];
                /**
                 * Format: date-time
                 * @description Attempts that started at this time or later. ISO 8601 with its zone, in the years 0000 to 9999 (UTC).
                 */
                readonly since?: string;
                /**
                 * Format: date-time
                 * @description Attempts that started before this time. ISO 8601 with its zone, in the years 0000 to 9999 (UTC).
                 */
                readonly until?: string;
                readonly status?: ("delivered" | "retrying" | "failed") | readonly ("delivered" | "retrying" | "failed")[];
            };
            /** @description With `filter`: only count. */
            readonly dry_run?: boolean;
            /** @description The `next_cursor` from the previous step, unchanged; anything else is refused. */
            readonly cursor?: string;
            /**
             * Format: date-time
             * @description With `filter`: the `before` from the first step. Later attempts are left alone, so that the replay ends. ISO 8601 with its zone, in the years 0000 to 9999 (UTC).
             */
            readonly before?: string;
        } & (unknown | unknown);
        readonly Replays: {
            /** @description How many deliveries are replayed, or would be. */
            readonly count: number;
            /** @description With `deliveries`: how many are still attempting or don't exist. */
            readonly skipped?: number;
            /** @description With `deliveries`: how many of the last of them weren't reached, because storage failed. Call again with these. Absent if there are none. */
            readonly left?: number;
            /** @description With `dry_run`: how many of this step, by webhook and event type. */
            readonly groups?: readonly {
                /**
                 * @description The webhook's identifier.
                 * @example wh_01kbjh6mrxe3q8z1v2t4w5y6a7
                 */
                readonly webhook_id: string;
                readonly type: components["schemas"]["EventType"];
                readonly count: number;
            }[];
            /** @description With `dry_run`: when the last attempts of the first and last of this step started. */
            readonly oldest_at?: string | null;
            readonly newest_at?: string | null;
            /** @description With `filter`: call again with it as `cursor`, even after a `count` of 0; null after the last step. */
            readonly next_cursor?: string | null;
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly before?: string;
            readonly searched?: components["schemas"]["SearchedEvents"];
        };
        /**
         * @example {
         *       "deliveries": [
         *         {
         *           "webhook_id": "wh_01kbjh6mrxe3q8z1v2t4w5y6a7",
         *           "event_id": "evt_01kbjh6mrxe3q8z1v2t4w5y6a7"
         *         }
         *       ]
         *     }
         */
        readonly RetriesRequest: {
            /** @description Retries these deliveries. Those without a pending attempt are skipped. */
            readonly deliveries: readonly {
                /** @description The webhook. */
                readonly webhook_id: string;
                /** @description The event. */
                readonly event_id: string;
            }[];
        };
        readonly Retries: {
            /** @description How many deliveries are retried now. */
            readonly count: number;
            /** @description How many had no pending attempt. */
            readonly skipped: number;
        };
        /**
         * @example {
         *       "filter": {
         *         "type": "purchase.completed"
         *       }
         *     }
         */
        readonly DismissalsRequest: {
            /** @description Dismisses these deliveries. Those that aren't dead-lettered are skipped. */
            readonly deliveries?: readonly {
                /** @description The webhook. */
                readonly webhook_id: string;
                /** @description The event. */
                readonly event_id: string;
            }[];
            /** @description Dismisses one step of the dead letters that match, newest first, without those of test events. */
            readonly filter?: {
                /** @description Attempts to any of these webhooks. */
                readonly webhook_id?: string | readonly string[];
                /** @description Events of any of these types. Webhooks × types × states can be at most 30. */
                readonly type?: components["schemas"]["EventType"] | readonly components["schemas"]["EventType"][];
                /** @description A status code (`503`), a class (`5xx`), or `none` for attempts without a response. Any of them matches. */
                readonly status_code?: readonly string[];
                /** @description The `error_code` of the attempt, such as `timeout`. With `status_code`, either matches. */
                readonly error?: readonly string[];
                /** @description Attempts of this event. */
                readonly event_id?: string;
                /** @description Events with one of these as their data's `order_id`. */
                readonly order_id?: readonly string[];
                /** @description Events with one of these as their data's `customer_email`. */
                readonly customer_email?: readonly string[];
                /**
                 * Format: date-time
                 * @description Attempts that started at this time or later. ISO 8601 with its zone, in the years 0000 to 9999 (UTC).
                 */
                readonly since?: string;
                /**
                 * Format: date-time
                 * @description Attempts that started before this time. ISO 8601 with its zone, in the years 0000 to 9999 (UTC).
                 */
                readonly until?: string;
            };
            /** @description The `next_cursor` from the previous step, unchanged; anything else is refused. */
            readonly cursor?: string;
        } & (unknown | unknown);
        readonly Dismissals: {
            /** @description How many deliveries are dismissed. */
            readonly count: number;
            /** @description With `deliveries`: how many aren't dead-lettered. */
            readonly skipped?: number;
            /** @description With `filter`: call again with it as `cursor`, even after a `count` of 0; null after the last step. */
            readonly next_cursor?: string | null;
            readonly searched?: components["schemas"]["SearchedEvents"];
        };
        readonly Stats: {
            /**
             * @description 60 minutes, 24 hours or 30 days (UTC); the last one is in progress.
             * @enum {string}
             */
            readonly range: "hour" | "day" | "month";
            /** @description The length of a bucket in milliseconds. */
            readonly step_ms: number;
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly since: string;
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly until: string;
            /** @description Oldest first, including empty ones. An attempt counts in the bucket in which it started. */
            readonly buckets: readonly {
                /**
                 * Format: date-time
                 * @description ISO 8601 in UTC with milliseconds.
                 * @example 2026-11-21T03:47:36.123Z
                 */
                readonly at: string;
                /** @description Events that were appended to the project's log; 0 for a single webhook. */
                readonly events: number;
                /** @description Attempts that were delivered, without test events. */
                readonly delivered: number;
                /** @description Attempts that failed and are retried, without test events. */
                readonly retrying: number;
                /** @description Attempts that failed and aren't retried, without test events. Deliveries closed without a request count, too. */
                readonly failed: number;
                /** @description The time within which half of the requests got a response or failed, in milliseconds, accurate to a tenth or a millisecond; null if nothing was sent. */
                readonly p50_ms: number | null;
                /** @description The time within which 95% of the requests got a response or failed, in milliseconds, accurate to a tenth or a millisecond; null if nothing was sent. */
                readonly p95_ms: number | null;
            }[];
            readonly total: {
                /** @description Events that were appended to the project's log; 0 for a single webhook. */
                readonly events: number;
                /** @description Attempts that were delivered, without test events. */
                readonly delivered: number;
                /** @description Attempts that failed and are retried, without test events. */
                readonly retrying: number;
                /** @description Attempts that failed and aren't retried, without test events. Deliveries closed without a request count, too. */
                readonly failed: number;
                /** @description The share of attempts that were delivered; null without attempts. Deliveries closed without a request don't count. */
                readonly success_rate: number | null;
                /** @description The time within which half of the requests got a response or failed, in milliseconds, accurate to a tenth or a millisecond; null if nothing was sent. */
                readonly p50_ms: number | null;
                /** @description The time within which 95% of the requests got a response or failed, in milliseconds, accurate to a tenth or a millisecond; null if nothing was sent. */
                readonly p95_ms: number | null;
            };
        };
        readonly WebhookHealth: {
            /**
             * @description The webhook's identifier.
             * @example wh_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly webhook_id: string;
            /**
             * @description Judged over the last 15 minutes; test events and deliveries closed without a request don't count. `failing`: its secret can't be read, or at least 3 attempts in a row have failed over 60 seconds or more, or nothing was ever delivered, or fewer than 10% of at least 20 attempts were delivered. `unstable`: 2 or more attempts have failed, and at least 5% of them; or the last one failed and none was delivered. `idle`: the delivery log has no attempt.
             * @enum {string}
             */
            readonly state: "paused" | "failing" | "unstable" | "healthy" | "idle";
            /** @description The newest attempt in the log, without test events and closed deliveries. */
            readonly last_attempt: components["schemas"]["AttemptSummary"] | null;
            /** @description If the last attempt failed: the first attempt since the last delivered one. */
            readonly failing_since: components["schemas"]["AttemptSummary"] | null;
            /** @description How many attempts have failed since the last delivered one, counted up to 10. */
            readonly failed_in_a_row: number;
            /** @description Whether nothing has been delivered lately: the last attempt failed, and so did all of `recent`, or at least 3 in a row over 60 seconds or more. */
            readonly down: boolean;
            /** @description The window that `state` is judged by. Test events and closed deliveries are left out. */
            readonly recent: {
                /**
                 * Format: date-time
                 * @description ISO 8601 in UTC with milliseconds.
                 * @example 2026-11-21T03:47:36.123Z
                 */
                readonly since: string;
                /** @description Its length in minutes; the last one is in progress. */
                readonly minutes: number;
                /** @description Attempts that were delivered. */
                readonly delivered: number;
                /** @description Attempts that failed, whether they are retried or not. */
                readonly failed: number;
            };
            /** @description Test events count here, too. Null if the log has no delivered attempt. */
            readonly last_delivered_at: string | null;
            /** @description The log has all of its attempts since then: since it was created, or for as long as the log is kept. If `last_delivered_at` is null, nothing was delivered since then. */
            readonly logged_since: string;
            /** @description Pending retries and replays. */
            readonly waiting: {
                readonly count: number;
                /** @description How many of these are of test events. */
                readonly tests: number;
                readonly next_at: string | null;
            };
            /** @description Dead-lettered deliveries that were neither replayed nor dismissed, without test events. */
            readonly dead_letters: number;
            /** @description The events that wait for their first attempt. */
            readonly backlog: {
                /** @description How many events wait for their first attempt. */
                readonly events: number;
                /** @description The number of the oldest of them in the project's log. */
                readonly oldest_seq: number | null;
                /** @description When the oldest of them was published. */
                readonly oldest_at: string | null;
            };
            /** @description The totals of the last 24 hours, as in `hours`. */
            readonly day: {
                /** @description Attempts that were delivered, without test events. */
                readonly delivered: number;
                /** @description Attempts that failed and are retried, without test events. */
                readonly retrying: number;
                /** @description Attempts that failed and aren't retried, without test events. Deliveries closed without a request count, too. */
                readonly failed: number;
                /** @description The share of attempts that were delivered; null without attempts. Deliveries closed without a request don't count. */
                readonly success_rate: number | null;
                /** @description The time within which 95% of the requests got a response or failed, in milliseconds, accurate to a tenth or a millisecond; null if nothing was sent. */
                readonly p95_ms: number | null;
            };
            /** @description 24 hours, oldest first; the last one is in progress. Empty with `hours=false`. */
            readonly hours: readonly {
                /**
                 * Format: date-time
                 * @description ISO 8601 in UTC with milliseconds.
                 * @example 2026-11-21T03:47:36.123Z
                 */
                readonly at: string;
                /** @description Attempts that were delivered, without test events. */
                readonly delivered: number;
                /** @description Attempts that failed and are retried, without test events. */
                readonly retrying: number;
                /** @description Attempts that failed and aren't retried, without test events. Deliveries closed without a request count, too. */
                readonly failed: number;
            }[];
        };
        readonly WebhookHealthList: {
            readonly data: readonly components["schemas"]["WebhookHealth"][];
        };
        readonly WaitingAttempt: {
            /**
             * @description The webhook's identifier.
             * @example wh_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly webhook_id: string;
            /**
             * @description The event's identifier. Receivers deduplicate by it.
             * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly event_id: string;
            readonly event_type: components["schemas"]["EventType"];
            /** @description The `order_id` in the event's data. Null if there is none, for test events, and for events of more than 16 KiB. */
            readonly order_id: string | null;
            /**
             * @description `requested`: the first attempt of a test event or a single replay. `replay`: the first attempt of a bulk replay. `retry`: any other.
             * @enum {string}
             */
            readonly queue: "retry" | "replay" | "requested";
            /** @description Its number within its series. */
            readonly attempt: number;
            /** @description 0 for the first series, then 1, 2 … for each replay. */
            readonly replay: number;
            /** @description Whether the event is a test event. */
            readonly test: boolean;
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly due_at: string;
        };
        readonly WaitingList: {
            readonly data: readonly components["schemas"]["WaitingAttempt"][];
        };
        readonly Incident: {
            /**
             * @description The webhook's identifier.
             * @example wh_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly webhook_id: string;
            /**
             * @description `ongoing`: nothing has been delivered since its last failed attempt.
             * @enum {string}
             */
            readonly state: "ongoing" | "over";
            /** @description The beginning of the first minute in which more attempts failed than were delivered, or of the minute before it if attempts failed in that, too. */
            readonly started_at: string;
            /** @description The end of the last such minute, or of the next one if attempts failed in it, too; null if ongoing. */
            readonly ended_at: string | null;
            /** @description Its deliveries have a failed attempt that started at or after this time. The same as `started_at`. */
            readonly failures_since: string;
            /** @description Such an attempt started before this time. The same as `ended_at`; null if ongoing. */
            readonly failures_until: string | null;
            /** @description Attempts that failed meanwhile. */
            readonly failed_attempts: number;
            /** @description Attempts that were delivered meanwhile. */
            readonly delivered_attempts: number;
            /** @description The status code of the most frequent response. */
            readonly status_code: number | null;
            /** @description The most frequent reason for no response. */
            readonly error_code: string | null;
            /** @description What has become of the deliveries that it held up. */
            readonly deliveries: {
                /** @description How many had a failed attempt between `failures_since` and `failures_until`. The counts below add up to it. */
                readonly count: number;
                /** @description Whether there are more: only the newest 200 deliveries of an incident are examined. */
                readonly capped: boolean;
                /** @description Delivered by now. */
                readonly delivered: number;
                /** @description Waiting for a retry or a replay. */
                readonly waiting: number;
                /** @description Dead-lettered and neither replayed nor dismissed. */
                readonly failed: number;
                /** @description Dead-lettered and dismissed. */
                readonly dismissed: number;
            };
            /** @description When the last of them was delivered. */
            readonly last_delivered_at: string | null;
            readonly next_retry_at: string | null;
        };
        readonly IncidentList: {
            readonly data: readonly components["schemas"]["Incident"][];
        };
        readonly SetupState: {
            /** @description Whether the operator's account has yet to be created. */
            readonly needed: boolean;
        };
        readonly Setup: {
            /**
             * @description The part of a one-time link after the #.
             * @example Wx_HP7TsO7IqaRWtNMGpnvTG-UQtFWw1wgi-2EiDW_I
             */
            readonly token: string;
            /**
             * @description An e-mail address. Spaces around it are dropped.
             * @example owner@example.com
             */
            readonly email: string;
            /**
             * @description A display name with a visible character, without control characters and those that change the direction of text. It is stored without the white space around it.
             * @example My store
             */
            readonly name: string;
            /**
             * @description Passwords that are easy to guess are refused: common words, keyboard runs, or your own name or address.
             * @example correct horse battery staple
             */
            readonly password: string;
        };
        readonly Account: {
            /**
             * @description The account's identifier.
             * @example acc_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id: string;
            /** @example owner@example.com */
            readonly email: string;
            /**
             * @description A display name.
             * @example My store
             */
            readonly name: string;
            /** @description Whether this is the operator, who has the owner role in every project. */
            readonly operator: boolean;
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly created_at: string;
        };
        /**
         * @description `viewer` may read everything except secrets. `developer` may also change webhooks and keys, and replay. `owner` may do everything, including apps and members.
         * @enum {string}
         */
        readonly Role: "viewer" | "developer" | "owner";
        readonly Session: {
            readonly account: components["schemas"]["Account"];
            /** @description Send it as `X-CSRF-Token` with every change that a cookie authorizes. */
            readonly csrf_token: string;
            /** @description Whether it was started by a one-time link, and no new password has been set since. */
            readonly by_link: boolean;
            /** @description The projects that the account is a member of. For the operator, the first 200 of all projects. */
            readonly projects: readonly {
                /**
                 * @description The project's identifier.
                 * @example proj_01kbjh6mrxe3q8z1v2t4w5y6a7
                 */
                readonly id: string;
                /**
                 * @description A display name.
                 * @example My store
                 */
                readonly name: string;
                readonly apps: readonly "developer"[];
                readonly role: components["schemas"]["Role"];
            }[];
            /** @description The delays between the attempts of a series, in seconds. A series has at most one attempt more than there are delays. */
            readonly retry_delays: readonly number[];
            /** @description How long events and the delivery log are kept, in days (`POSTHORN_LOG_RETENTION_DAYS`). */
            readonly log_retention_days: number;
            /** @description How many characters the description of a webhook may have (`POSTHORN_MAX_DESCRIPTION_LENGTH`). */
            readonly max_description_length: number;
            /** @description Whether the service was restored from a backup, and sends nothing until its operator releases it. */
            readonly quarantine: boolean;
        };
        /**
         * @example {
         *       "email": "owner@example.com",
         *       "password": "correct horse battery staple"
         *     }
         */
        readonly SignIn: {
            /** @example owner@example.com */
            readonly email: string;
            readonly password: string;
        } | {
            /**
             * @description The part of a one-time link after the #.
             * @example Wx_HP7TsO7IqaRWtNMGpnvTG-UQtFWw1wgi-2EiDW_I
             */
            readonly token: string;
        };
        readonly NewSignInLink: {
            /** @example owner@example.com */
            readonly email: string;
        };
        readonly SignInLink: {
            /** @description The link. It works once. */
            readonly url: string;
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly expires_at: string;
        };
        readonly AccountPatch: {
            /**
             * @description A display name with a visible character, without control characters and those that change the direction of text. It is stored without the white space around it.
             * @example My store
             */
            readonly name: string;
        };
        readonly PasswordChange: {
            /** @description The current password. Optional once, within 15 minutes of signing in by a one-time link. */
            readonly current?: string;
            /**
             * @description Passwords that are easy to guess are refused: common words, keyboard runs, or your own name or address.
             * @example correct horse battery staple
             */
            readonly password: string;
        };
        readonly SessionInfo: {
            /**
             * @description The session's identifier.
             * @example ses_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id: string;
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly last_seen_at: string;
            readonly user_agent: string;
            readonly address: string;
            /** @description Whether this is the calling session. */
            readonly current: boolean;
        };
        readonly Member: {
            /**
             * @description The account's identifier.
             * @example acc_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly account_id: string;
            readonly email: string;
            /**
             * @description A display name.
             * @example My store
             */
            readonly name: string;
            readonly role: components["schemas"]["Role"];
            readonly operator: boolean;
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly added_at: string;
        };
        readonly MemberPatch: {
            readonly role: components["schemas"]["Role"];
        };
        /**
         * @example {
         *       "role": "developer"
         *     }
         */
        readonly NewInvitation: {
            readonly role: components["schemas"]["Role"];
            /**
             * @description An e-mail address. Spaces around it are dropped.
             * @example owner@example.com
             */
            readonly email?: string;
        };
        readonly CreatedInvitation: {
            /**
             * @description The invitation's identifier.
             * @example inv_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id: string;
            readonly role: components["schemas"]["Role"];
            /** @description Who it is for; null if anyone with the link may use it. */
            readonly email: string | null;
            readonly invited_by: components["schemas"]["Actor"];
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly expires_at: string;
            /** @description The link for the invited person, shown only in this response. */
            readonly url: string;
        };
        readonly Invitation: {
            /**
             * @description The invitation's identifier.
             * @example inv_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id: string;
            readonly role: components["schemas"]["Role"];
            /** @description Who it is for; null if anyone with the link may use it. */
            readonly email: string | null;
            readonly invited_by: components["schemas"]["Actor"];
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly expires_at: string;
        };
        readonly InvitationToken: {
            /**
             * @description The part of a one-time link after the #.
             * @example Wx_HP7TsO7IqaRWtNMGpnvTG-UQtFWw1wgi-2EiDW_I
             */
            readonly token: string;
        };
        readonly SeenInvitation: {
            readonly project: {
                /**
                 * @description The project's identifier.
                 * @example proj_01kbjh6mrxe3q8z1v2t4w5y6a7
                 */
                readonly id: string;
                /**
                 * @description A display name.
                 * @example My store
                 */
                readonly name: string;
            };
            readonly role: components["schemas"]["Role"];
            readonly email: string | null;
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly expires_at: string;
            readonly invited_by_name: string;
        };
        /** @description If you are signed in, the token is enough. A new account needs all four. */
        readonly InvitationAcceptance: {
            /**
             * @description The part of a one-time link after the #.
             * @example Wx_HP7TsO7IqaRWtNMGpnvTG-UQtFWw1wgi-2EiDW_I
             */
            readonly token: string;
            /**
             * @description An e-mail address. Spaces around it are dropped.
             * @example owner@example.com
             */
            readonly email?: string;
            /**
             * @description A display name with a visible character, without control characters and those that change the direction of text. It is stored without the white space around it.
             * @example My store
             */
            readonly name?: string;
            /**
             * @description Passwords that are easy to guess are refused: common words, keyboard runs, or your own name or address.
             * @example correct horse battery staple
             */
            readonly password?: string;
        };
        readonly AuditEntry: {
            /**
             * @description The entry's identifier.
             * @example aud_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id: string;
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly at: string;
            readonly actor: components["schemas"]["Actor"];
            /** @enum {string} */
            readonly action: "project.created" | "project.renamed" | "project.listened" | "app.installed" | "app.removed" | "webhook.created" | "webhook.changed" | "webhook.paused" | "webhook.resumed" | "webhook.skipped" | "webhook.secret_rotated" | "webhook.secret_lost" | "webhook.tested" | "webhook.deleted" | "api_key.created" | "api_key.revoked" | "member.invited" | "invitation.revoked" | "member.joined" | "member.role_changed" | "member.removed" | "delivery.replayed" | "deliveries.replayed" | "delivery.dismissed" | "deliveries.dismissed" | "delivery.retried" | "deliveries.retried" | "log.exported" | "sample.published" | "test.cancelled";
            readonly target: {
                /** @example webhook */
                readonly kind: string;
                readonly id: string;
                /** @description Its name at the time. */
                readonly name: string;
            } | null;
            /** @description Further details of the action. */
            readonly detail: {
                readonly [key: string]: unknown;
            };
        };
        readonly Health: {
            /** @enum {string} */
            readonly status: "ok";
            /** @description What delays some deliveries without making the node unready. */
            readonly notice?: string;
        };
        readonly ClockState: {
            /**
             * Format: date-time
             * @description ISO 8601 in UTC with milliseconds.
             * @example 2026-11-21T03:47:36.123Z
             */
            readonly now: string;
            /** @description Whether nothing is deleted or dead-lettered for its age, because the clock isn't trusted. */
            readonly on_hold: boolean;
            /** @description Why, and what to do. */
            readonly detail: string | null;
        };
        readonly QuarantineState: {
            /** @description Whether the database was restored from a backup and nothing is sent yet. */
            readonly active: boolean;
            /** @description When it was restored. */
            readonly since: string | null;
            /** @description The latest time that the backup contains, at most a minute before it was taken. */
            readonly backup_at: string | null;
            /** @description What happened, and what to do. For the operator and owners, it adds that access is as of the backup. */
            readonly detail: string | null;
        };
        readonly QuarantinedWebhook: {
            /**
             * @description The webhook's identifier.
             * @example wh_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id: string;
            readonly url: string;
            readonly description: string;
            /**
             * @description A paused webhook gets nothing.
             * @enum {string}
             */
            readonly status: "active" | "paused";
            /** @description The events that wait for their first attempt. */
            readonly backlog: {
                /** @description How many events wait for their first attempt. */
                readonly events: number;
                /** @description The number of the oldest of them in the project's log. */
                readonly oldest_seq: number | null;
                /** @description When the oldest of them was published. */
                readonly oldest_at: string | null;
            };
            /** @description Pending retries and replays. */
            readonly waiting: {
                readonly count: number;
                /** @description How many of these are of test events. */
                readonly tests: number;
                readonly next_at: string | null;
            };
        };
        readonly QuarantinedProject: {
            /**
             * @description The project's identifier.
             * @example proj_01kbjh6mrxe3q8z1v2t4w5y6a7
             */
            readonly id: string;
            /**
             * @description A display name.
             * @example My store
             */
            readonly name: string;
            /** @description Webhooks with pending deliveries. */
            readonly webhooks: readonly components["schemas"]["QuarantinedWebhook"][];
        };
        readonly QuarantineRelease: {
            /** @description Whether the database was restored from a backup and nothing is sent yet. */
            readonly active: boolean;
            /** @description When it was restored. */
            readonly since: string | null;
            /** @description The latest time that the backup contains, at most a minute before it was taken. */
            readonly backup_at: string | null;
            /** @description What happened, and what to do. For the operator and owners, it adds that access is as of the backup. */
            readonly detail: string | null;
            /** @description Whether this call released the database. False if it wasn't in quarantine. */
            readonly released: boolean;
        };
        readonly ProblemExplanation: {
            /** @description The problem's type: the path of this explanation. */
            readonly type: string;
            readonly title: string;
            readonly status: number;
            /** @description When it is returned. */
            readonly meaning: string;
            /** @description What to do. */
            readonly action: string;
        };
    };
    responses: {
        /** @description The request is malformed. */
        readonly "malformed-request": {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A valid API key is needed. */
        readonly unauthorized: {
            headers: {
                /** @description RFC 6750. */
                readonly "WWW-Authenticate"?: string;
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description This key may not do that. */
        readonly forbidden: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Too large. */
        readonly "too-large": {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Unsupported media type. */
        readonly "unsupported-media-type": {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Some fields are not acceptable. */
        readonly invalid: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Too many changes in this project: up to 200 at once and 600 per minute. */
        readonly "too-many-requests-changes": {
            headers: {
                /** @description When to try again, in seconds. */
                readonly "Retry-After"?: string;
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Something went wrong on our side. */
        readonly internal: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Temporarily unavailable. */
        readonly unavailable: {
            headers: {
                /** @description When to try again, in seconds. */
                readonly "Retry-After"?: string;
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Too many lookups: up to 1,000 at once and 12,000 per minute. */
        readonly "too-many-requests-lookups": {
            headers: {
                /** @description When to try again, in seconds. */
                readonly "Retry-After"?: string;
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request's header is too large. */
        readonly "header-too-large": {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Not found. */
        readonly "not-found": {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Too many requests for lists and statistics: up to 600 at once and 6,000 per minute, large responses counting as several. */
        readonly "too-many-requests-reads": {
            headers: {
                /** @description When to try again, in seconds. */
                readonly "Retry-After"?: string;
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The Developer app is not installed. */
        readonly "app-not-installed": {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Too many test events of this project: up to 20 at once and 60 per minute. Too many changes in this project: up to 200 at once and 600 per minute. */
        readonly "too-many-requests-testEvents-changes": {
            headers: {
                /** @description When to try again, in seconds. */
                readonly "Retry-After"?: string;
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Too many exports and listeners of this project: up to 40 at once and 60 per minute. */
        readonly "too-many-requests-recordedReads": {
            headers: {
                /** @description When to try again, in seconds. */
                readonly "Retry-After"?: string;
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Too many checks of URLs and signatures of this project: up to 20 at once and 60 per minute. Too many changes in this project: up to 200 at once and 600 per minute. */
        readonly "too-many-requests-urlChecks-changes": {
            headers: {
                /** @description When to try again, in seconds. */
                readonly "Retry-After"?: string;
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Too many replays of this project: up to 100 at once and 600 per minute. Too many changes in this project: up to 200 at once and 600 per minute. */
        readonly "too-many-requests-replays-changes": {
            headers: {
                /** @description When to try again, in seconds. */
                readonly "Retry-After"?: string;
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Too many replays by filter of this project: up to 10 at once and 12 per minute. Too many changes in this project: up to 200 at once and 600 per minute. */
        readonly "too-many-requests-bulkReplays-changes": {
            headers: {
                /** @description When to try again, in seconds. */
                readonly "Retry-After"?: string;
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    readonly listProjects: {
        readonly parameters: {
            readonly query?: {
                /** @description Rows per page. */
                readonly limit?: number;
                /** @description The `next_cursor` from the previous page, unchanged; anything else is refused. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A page of projects. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["Project"][];
                        /** @description Pass it as `cursor` to get the next page; null on the last page. */
                        readonly next_cursor: string | null;
                    };
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-lookups"];
            readonly 431: components["responses"]["header-too-large"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly createProject: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewProject"];
            };
        };
        readonly responses: {
            /** @description The project. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Project"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getProject: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The project. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Project"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-lookups"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly updateProject: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ProjectPatch"];
            };
        };
        readonly responses: {
            /** @description The project as changed. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Project"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly installDeveloperApp: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The project. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Project"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly removeDeveloperApp: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The app was removed. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listProjectHealth: {
        readonly parameters: {
            readonly query: {
                /** @description The projects to count in. Unknown ids are ignored. Repeat the parameter or separate values with commas. */
                readonly project_id: readonly string[];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The projects' health, in the order given. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ProjectHealthList"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-reads"];
            readonly 431: components["responses"]["header-too-large"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listApiKeys: {
        readonly parameters: {
            readonly query?: {
                /** @description Rows per page. */
                readonly limit?: number;
                /** @description The `next_cursor` from the previous page, unchanged; anything else is refused. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A page of keys. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["ApiKey"][];
                        /** @description Pass it as `cursor` to get the next page; null on the last page. */
                        readonly next_cursor: string | null;
                    };
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-lookups"];
            readonly 431: components["responses"]["header-too-large"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly createApiKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewApiKey"];
            };
        };
        readonly responses: {
            /** @description The key, shown only in this response. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CreatedApiKey"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getApiKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The API key's identifier. */
                readonly key_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The key. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ApiKey"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-lookups"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteApiKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The API key's identifier. */
                readonly key_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The key was deleted. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listEventTypes: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The catalogue. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["EventTypeEntry"][];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-lookups"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getEventTypeSchema: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The name of an event type. */
                readonly event_type: components["schemas"]["EventType"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A JSON Schema (2020-12). */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/schema+json": {
                        readonly [key: string]: unknown;
                    };
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 404: components["responses"]["not-found"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listEvents: {
        readonly parameters: {
            readonly query?: {
                /** @description Events after this `seq`. */
                readonly after?: number;
                /** @description Events after this one. Test events aren't part of the log. */
                readonly after_event?: string;
                /** @description Events published at this time or later. ISO 8601 with its zone, in the years 0000 to 9999 (UTC). */
                readonly since?: string;
                /** @description The `epoch` that came with `after`. If events up to `after` have been lost since, the response is 409 instead of other events with the same numbers. Only together with `after`: `cursor` contains it. */
                readonly epoch?: string;
                /** @description Only these types. Repeat the parameter or separate values with commas. */
                readonly type?: readonly components["schemas"]["EventType"][];
                /** @description How many seconds to wait if there is no event yet. */
                readonly wait?: number;
                /** @description Rows per page. */
                readonly limit?: number;
                /** @description The `next_cursor` from the previous page, unchanged; anything else is refused. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A page of envelopes. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @description The envelopes, each with exactly the bytes that webhooks receive. */
                        readonly data: readonly components["schemas"]["Envelope"][];
                        /** @description Pass it as `cursor` to get the next page; null on the last page. */
                        readonly next_cursor: string | null;
                        /** @description The last `seq` that was read. Pass it as `after` later to get the events since. */
                        readonly last_seq: number;
                        /**
                         * @description Identifies the history of the log. Store it with `last_seq`, and pass both.
                         * @example 1.9f86d081
                         */
                        readonly epoch: string;
                    };
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            /** @description The log ends before `after`, or events up to it were lost since `epoch`. `continue_after` and `epoch` say where to continue. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 422: components["responses"]["invalid"];
            /** @description Too many calls wait for this project's events. Too many requests for lists and statistics: up to 600 at once and 6,000 per minute, large responses counting as several. */
            readonly 429: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 431: components["responses"]["header-too-large"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly publishEvents: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewEvent"] | components["schemas"]["NewEventBatch"];
            };
        };
        readonly responses: {
            /** @description The events with their sequence numbers. */
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PublishedEvent"] | components["schemas"]["PublishedEventBatch"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            /** @description An id belongs to an event with different content. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            /** @description This project publishes faster than its events can be written. Nothing was written. */
            readonly 429: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 500: components["responses"]["internal"];
            /** @description The node's queue to the log is full, the project's log is locked, or storage is unavailable. */
            readonly 503: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    readonly publishSample: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["SampleRequest"];
            };
        };
        readonly responses: {
            /** @description The event is published. */
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PublishedEvent"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            /** @description The type has more or fewer subscribed webhooks than `webhooks` says. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-testEvents-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getEvent: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The event's identifier. Receivers deduplicate by it. */
                readonly event_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The envelope. */
            readonly 200: {
                headers: {
                    /** @description Its sequence number in the project's log; negative for test events. */
                    readonly "X-Posthorn-Seq"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Envelope"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-lookups"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly recordListener: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewListener"];
            };
        };
        readonly responses: {
            /** @description The audit log has the entry. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-recordedReads"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly searchEvents: {
        readonly parameters: {
            readonly query?: {
                /** @description Events with one of these as their data's `order_id`. Repeat the parameter for several. */
                readonly order_id?: readonly string[];
                /** @description Events with one of these as their data's `customer_email`, in upper or lower case. Repeat the parameter for several. */
                readonly customer_email?: readonly string[];
                /** @description Searches events' bodies and recorded responses (their first 1,024 bytes) for this text, in upper or lower case, as it is or as JSON writes it in a string. */
                readonly text?: string;
                /** @description Rows per page. */
                readonly limit?: number;
                /** @description The `next_cursor` from the previous page, unchanged; anything else is refused. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A page of events. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["EventMatch"][];
                        /** @description Pass it as `cursor` to get the next page; null on the last page. */
                        readonly next_cursor: string | null;
                        /** @description With `text`: everything from this time on has been searched. */
                        readonly searched_back_to: string | null;
                        /** @description With `text`: how many events this call has read. */
                        readonly events_searched: number;
                        /** @description With `text`: how many attempts' responses this call has read. */
                        readonly attempts_searched: number;
                        readonly searched?: components["schemas"]["SearchedEvents"];
                    };
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-reads"];
            readonly 431: components["responses"]["header-too-large"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly recordOrder: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewOrder"];
            };
        };
        readonly responses: {
            /** @description The order is recorded. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Fact"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            /** @description The order was recorded before with different content. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            /** @description This project publishes faster than its events can be written. Nothing was written. Too many store facts of this project: up to 2,000 at once and 30,000 per minute. */
            readonly 429: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 500: components["responses"]["internal"];
            /** @description The node's queue to the log is full, the project's log is locked, or storage is unavailable. */
            readonly 503: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    readonly recordOrders: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewOrders"];
            };
        };
        readonly responses: {
            /** @description The outcome of each order. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["OrderResults"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            /** @description This project publishes faster than its events can be written. Nothing was written. Too many store facts of this project: up to 2,000 at once and 30,000 per minute. */
            readonly 429: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 500: components["responses"]["internal"];
            /** @description The node's queue to the log is full, the project's log is locked, or storage is unavailable. */
            readonly 503: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    readonly recordRefund: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The order's identifier at the store platform: at most 100 characters, percent-encoded as in a URL. */
                readonly order_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewRefund"];
            };
        };
        readonly responses: {
            /** @description The refund is recorded. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Fact"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            /** @description There is no such project or order. Report the order first. */
            readonly 404: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The refund was recorded before with different content, or exceeds the order's remaining amount. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            /** @description This project publishes faster than its events can be written. Nothing was written. Too many store facts of this project: up to 2,000 at once and 30,000 per minute. */
            readonly 429: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 500: components["responses"]["internal"];
            /** @description The node's queue to the log is full, the project's log is locked, or storage is unavailable. */
            readonly 503: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    readonly recordChargeback: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The order's identifier at the store platform: at most 100 characters, percent-encoded as in a URL. */
                readonly order_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewChargeback"];
            };
        };
        readonly responses: {
            /** @description The chargeback is recorded. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Fact"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            /** @description There is no such project or order. Report the order first. */
            readonly 404: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The chargeback was recorded before with different content. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            /** @description This project publishes faster than its events can be written. Nothing was written. Too many store facts of this project: up to 2,000 at once and 30,000 per minute. */
            readonly 429: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 500: components["responses"]["internal"];
            /** @description The node's queue to the log is full, the project's log is locked, or storage is unavailable. */
            readonly 503: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    readonly recordDeliverable: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The order's identifier at the store platform: at most 100 characters, percent-encoded as in a URL. */
                readonly order_id: string;
                /** @description The deliverable's identifier at the store platform: at most 100 characters, percent-encoded as in a URL. */
                readonly deliverable_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["DeliverableOutcome"];
            };
        };
        readonly responses: {
            /** @description The outcome is recorded. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Fact"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            /** @description There is no such project or order. Report the order first. */
            readonly 404: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The deliverable has already ended, with a different outcome or detail. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            /** @description This project publishes faster than its events can be written. Nothing was written. Too many store facts of this project: up to 2,000 at once and 30,000 per minute. */
            readonly 429: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 500: components["responses"]["internal"];
            /** @description The node's queue to the log is full, the project's log is locked, or storage is unavailable. */
            readonly 503: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    readonly touchBasket: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The basket's identifier at the store platform: at most 100 characters, percent-encoded as in a URL. */
                readonly basket_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["BasketContents"];
            };
        };
        readonly responses: {
            /** @description The basket, with its timer restarted. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Basket"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            /** @description The basket was bought. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            /** @description This project publishes faster than its events can be written. Nothing was written. Too many store facts of this project: up to 2,000 at once and 30,000 per minute. */
            readonly 429: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 500: components["responses"]["internal"];
            /** @description The node's queue to the log is full, the project's log is locked, or storage is unavailable. */
            readonly 503: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    readonly removeBasket: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The basket's identifier at the store platform: at most 100 characters, percent-encoded as in a URL. */
                readonly basket_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description It was deleted. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            /** @description This project publishes faster than its events can be written. Nothing was written. Too many store facts of this project: up to 2,000 at once and 30,000 per minute. */
            readonly 429: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 500: components["responses"]["internal"];
            /** @description The node's queue to the log is full, the project's log is locked, or storage is unavailable. */
            readonly 503: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    readonly recordSubscription: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewSubscription"];
            };
        };
        readonly responses: {
            /** @description The subscription is recorded. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Fact"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            /** @description The subscription was recorded before with different content. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            /** @description This project publishes faster than its events can be written. Nothing was written. Too many store facts of this project: up to 2,000 at once and 30,000 per minute. */
            readonly 429: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 500: components["responses"]["internal"];
            /** @description The node's queue to the log is full, the project's log is locked, or storage is unavailable. */
            readonly 503: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    readonly cancelSubscription: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The subscription's identifier at the store platform: at most 100 characters, percent-encoded as in a URL. */
                readonly subscription_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The subscription is canceled. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Fact"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            /** @description This project publishes faster than its events can be written. Nothing was written. Too many store facts of this project: up to 2,000 at once and 30,000 per minute. */
            readonly 429: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 500: components["responses"]["internal"];
            /** @description The node's queue to the log is full, the project's log is locked, or storage is unavailable. */
            readonly 503: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    readonly listWebhooks: {
        readonly parameters: {
            readonly query?: {
                /** @description Rows per page. */
                readonly limit?: number;
                /** @description The `next_cursor` from the previous page, unchanged; anything else is refused. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A page of webhooks. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["Webhook"][];
                        /** @description Pass it as `cursor` to get the next page; null on the last page. */
                        readonly next_cursor: string | null;
                    };
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-reads"];
            readonly 431: components["responses"]["header-too-large"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly createWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewWebhook"];
            };
        };
        readonly responses: {
            /** @description The webhook with its secret. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CreatedWebhook"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            /** @description The Developer app is not installed. Or: The project has reached its maximum number of webhooks. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listDeletedWebhooks: {
        readonly parameters: {
            readonly query?: {
                /** @description Rows per page. */
                readonly limit?: number;
                /** @description The `next_cursor` from the previous page, unchanged; anything else is refused. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A page of deleted webhooks. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["DeletedWebhook"][];
                        /** @description Pass it as `cursor` to get the next page; null on the last page. */
                        readonly next_cursor: string | null;
                    };
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-reads"];
            readonly 431: components["responses"]["header-too-large"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly checkUrl: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["UrlToCheck"];
            };
        };
        readonly responses: {
            /** @description The results of the checks. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["UrlCheck"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-urlChecks-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The webhook's identifier. */
                readonly webhook_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The webhook. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Webhook"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-lookups"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly deleteWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The webhook's identifier. */
                readonly webhook_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The webhook was deleted. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly updateWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The webhook's identifier. */
                readonly webhook_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["WebhookPatch"];
            };
        };
        readonly responses: {
            /** @description The webhook as changed. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Webhook"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            /** @description The Developer app is not installed. Or: Its secret is too old for `standard_webhooks`. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly rotateWebhookSecret: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The webhook's identifier. */
                readonly webhook_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The new secret. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RotatedSecret"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly testWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The webhook's identifier. */
                readonly webhook_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["TestRequest"];
            };
        };
        readonly responses: {
            /** @description The test event is being sent. */
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TestAccepted"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            /** @description The Developer app is not installed. Or: The webhook is paused, its secret can't be read, or the database is in quarantine. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-testEvents-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listAttempts: {
        readonly parameters: {
            readonly query?: {
                /** @description Attempts to any of these webhooks. Repeat the parameter or separate values with commas. */
                readonly webhook_id?: readonly string[];
                /** @description Events of any of these types. Repeat the parameter or separate values with commas. Webhooks × types × states can be at most 30. */
                readonly type?: readonly components["schemas"]["EventType"][];
                /** @description A status code (`503`), a class (`5xx`), or `none` for attempts without a response. Repeat the parameter or separate values with commas. */
                readonly status_code?: readonly string[];
                /** @description The `error_code` of the attempt, such as `timeout`. With `status_code`, either matches. Repeat the parameter or separate values with commas. */
                readonly error?: readonly string[];
                /** @description Attempts of this event. */
                readonly event_id?: string;
                /** @description Events with one of these as their data's `order_id`. Repeat the parameter for several. */
                readonly order_id?: readonly string[];
                /** @description Events with one of these as their data's `customer_email`, in upper or lower case. Repeat the parameter for several. */
                readonly customer_email?: readonly string[];
                /** @description Started at this time or later. ISO 8601 with its zone, in the years 0000 to 9999 (UTC). */
                readonly since?: string;
                /** @description Started before this time. ISO 8601 with its zone, in the years 0000 to 9999 (UTC). */
                readonly until?: string;
                /** @description Repeat the parameter or separate values with commas. */
                readonly status?: readonly ("delivered" | "retrying" | "failed")[];
                /** @description `false` leaves out test events, as statistics do. */
                readonly test?: "false";
                /** @description Rows per page. */
                readonly limit?: number;
                /** @description The `next_cursor` from the previous page, unchanged; anything else is refused. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A page of attempts. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["Attempt"][];
                        /** @description Pass it as `cursor` to get the next page; null on the last page. */
                        readonly next_cursor: string | null;
                        readonly searched?: components["schemas"]["SearchedEvents"];
                    };
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-reads"];
            readonly 431: components["responses"]["header-too-large"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listAttemptSummaries: {
        readonly parameters: {
            readonly query?: {
                /** @description Attempts to any of these webhooks. Repeat the parameter or separate values with commas. */
                readonly webhook_id?: readonly string[];
                /** @description Events of any of these types. Repeat the parameter or separate values with commas. Webhooks × types × states can be at most 30. */
                readonly type?: readonly components["schemas"]["EventType"][];
                /** @description A status code (`503`), a class (`5xx`), or `none` for attempts without a response. Repeat the parameter or separate values with commas. */
                readonly status_code?: readonly string[];
                /** @description The `error_code` of the attempt, such as `timeout`. With `status_code`, either matches. Repeat the parameter or separate values with commas. */
                readonly error?: readonly string[];
                /** @description Attempts of this event. */
                readonly event_id?: string;
                /** @description Events with one of these as their data's `order_id`. Repeat the parameter for several. */
                readonly order_id?: readonly string[];
                /** @description Events with one of these as their data's `customer_email`, in upper or lower case. Repeat the parameter for several. */
                readonly customer_email?: readonly string[];
                /** @description Started at this time or later. ISO 8601 with its zone, in the years 0000 to 9999 (UTC). */
                readonly since?: string;
                /** @description Started before this time. ISO 8601 with its zone, in the years 0000 to 9999 (UTC). */
                readonly until?: string;
                /** @description Repeat the parameter or separate values with commas. */
                readonly status?: readonly ("delivered" | "retrying" | "failed")[];
                /** @description `false` leaves out test events, as statistics do. */
                readonly test?: "false";
                /** @description Rows per page. */
                readonly limit?: number;
                /** @description The `next_cursor` from the previous page, unchanged; anything else is refused. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A page of attempts. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["ListedAttempt"][];
                        /** @description Pass it as `cursor` to get the next page; null on the last page. */
                        readonly next_cursor: string | null;
                        readonly searched?: components["schemas"]["SearchedEvents"];
                    };
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-reads"];
            readonly 431: components["responses"]["header-too-large"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly countAttempts: {
        readonly parameters: {
            readonly query?: {
                /** @description Attempts to any of these webhooks. Repeat the parameter or separate values with commas. */
                readonly webhook_id?: readonly string[];
                /** @description Events of any of these types. Repeat the parameter or separate values with commas. Webhooks × types × states can be at most 30. */
                readonly type?: readonly components["schemas"]["EventType"][];
                /** @description A status code (`503`), a class (`5xx`), or `none` for attempts without a response. Repeat the parameter or separate values with commas. */
                readonly status_code?: readonly string[];
                /** @description The `error_code` of the attempt, such as `timeout`. With `status_code`, either matches. Repeat the parameter or separate values with commas. */
                readonly error?: readonly string[];
                /** @description Attempts of this event. */
                readonly event_id?: string;
                /** @description Events with one of these as their data's `order_id`. Repeat the parameter for several. */
                readonly order_id?: readonly string[];
                /** @description Events with one of these as their data's `customer_email`, in upper or lower case. Repeat the parameter for several. */
                readonly customer_email?: readonly string[];
                /** @description Started at this time or later. ISO 8601 with its zone, in the years 0000 to 9999 (UTC). */
                readonly since?: string;
                /** @description Started before this time. ISO 8601 with its zone, in the years 0000 to 9999 (UTC). */
                readonly until?: string;
                /** @description Repeat the parameter or separate values with commas. */
                readonly status?: readonly ("delivered" | "retrying" | "failed")[];
                /** @description `false` leaves out test events, as statistics do. */
                readonly test?: "false";
            };
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The count. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AttemptCount"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-reads"];
            readonly 431: components["responses"]["header-too-large"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getAttempt: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The attempt's identifier. */
                readonly attempt_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The attempt. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Attempt"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-lookups"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly exportAttemptsCsv: {
        readonly parameters: {
            readonly query?: {
                /** @description Attempts to any of these webhooks. Repeat the parameter or separate values with commas. */
                readonly webhook_id?: readonly string[];
                /** @description Events of any of these types. Repeat the parameter or separate values with commas. Webhooks × types × states can be at most 30. */
                readonly type?: readonly components["schemas"]["EventType"][];
                /** @description A status code (`503`), a class (`5xx`), or `none` for attempts without a response. Repeat the parameter or separate values with commas. */
                readonly status_code?: readonly string[];
                /** @description The `error_code` of the attempt, such as `timeout`. With `status_code`, either matches. Repeat the parameter or separate values with commas. */
                readonly error?: readonly string[];
                /** @description Attempts of this event. */
                readonly event_id?: string;
                /** @description Events with one of these as their data's `order_id`. Repeat the parameter for several. */
                readonly order_id?: readonly string[];
                /** @description Events with one of these as their data's `customer_email`, in upper or lower case. Repeat the parameter for several. */
                readonly customer_email?: readonly string[];
                /** @description Started at this time or later. ISO 8601 with its zone, in the years 0000 to 9999 (UTC). */
                readonly since?: string;
                /** @description Started before this time. ISO 8601 with its zone, in the years 0000 to 9999 (UTC). */
                readonly until?: string;
                /** @description Repeat the parameter or separate values with commas. */
                readonly status?: readonly ("delivered" | "retrying" | "failed")[];
                /** @description `false` leaves out test events, as statistics do. */
                readonly test?: "false";
            };
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The file. */
            readonly 200: {
                headers: {
                    /** @description A file name with the project and the range of time. */
                    readonly "Content-Disposition"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/csv": string;
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 422: components["responses"]["invalid"];
            /** @description 1 export at a time, 2 of a project. Too many exports and listeners of this project: up to 40 at once and 60 per minute. */
            readonly 429: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 431: components["responses"]["header-too-large"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly exportAttemptsJsonl: {
        readonly parameters: {
            readonly query?: {
                /** @description Attempts to any of these webhooks. Repeat the parameter or separate values with commas. */
                readonly webhook_id?: readonly string[];
                /** @description Events of any of these types. Repeat the parameter or separate values with commas. Webhooks × types × states can be at most 30. */
                readonly type?: readonly components["schemas"]["EventType"][];
                /** @description A status code (`503`), a class (`5xx`), or `none` for attempts without a response. Repeat the parameter or separate values with commas. */
                readonly status_code?: readonly string[];
                /** @description The `error_code` of the attempt, such as `timeout`. With `status_code`, either matches. Repeat the parameter or separate values with commas. */
                readonly error?: readonly string[];
                /** @description Attempts of this event. */
                readonly event_id?: string;
                /** @description Events with one of these as their data's `order_id`. Repeat the parameter for several. */
                readonly order_id?: readonly string[];
                /** @description Events with one of these as their data's `customer_email`, in upper or lower case. Repeat the parameter for several. */
                readonly customer_email?: readonly string[];
                /** @description Started at this time or later. ISO 8601 with its zone, in the years 0000 to 9999 (UTC). */
                readonly since?: string;
                /** @description Started before this time. ISO 8601 with its zone, in the years 0000 to 9999 (UTC). */
                readonly until?: string;
                /** @description Repeat the parameter or separate values with commas. */
                readonly status?: readonly ("delivered" | "retrying" | "failed")[];
                /** @description `false` leaves out test events, as statistics do. */
                readonly test?: "false";
            };
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The file. */
            readonly 200: {
                headers: {
                    /** @description A file name with the project and the range of time. */
                    readonly "Content-Disposition"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/jsonl": string;
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 422: components["responses"]["invalid"];
            /** @description 1 export at a time, 2 of a project. Too many exports and listeners of this project: up to 40 at once and 60 per minute. */
            readonly 429: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 431: components["responses"]["header-too-large"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly exportDeliveriesCsv: {
        readonly parameters: {
            readonly query?: {
                /** @description Deliveries to any of these webhooks. Repeat the parameter or separate values with commas. */
                readonly webhook_id?: readonly string[];
                /** @description Events of any of these types. Repeat the parameter or separate values with commas. Webhooks × types × states can be at most 30. */
                readonly type?: readonly components["schemas"]["EventType"][];
                /** @description A status code (`503`), a class (`5xx`), or `none` for attempts without a response. Repeat the parameter or separate values with commas. */
                readonly status_code?: readonly string[];
                /** @description The `error_code` of the attempt, such as `timeout`. With `status_code`, either matches. Repeat the parameter or separate values with commas. */
                readonly error?: readonly string[];
                /** @description Deliveries of this event. */
                readonly event_id?: string;
                /** @description Events with one of these as their data's `order_id`. Repeat the parameter for several. */
                readonly order_id?: readonly string[];
                /** @description Events with one of these as their data's `customer_email`, in upper or lower case. Repeat the parameter for several. */
                readonly customer_email?: readonly string[];
                /** @description Started at this time or later. ISO 8601 with its zone, in the years 0000 to 9999 (UTC). */
                readonly since?: string;
                /** @description Started before this time. ISO 8601 with its zone, in the years 0000 to 9999 (UTC). */
                readonly until?: string;
                /** @description Repeat the parameter or separate values with commas. */
                readonly state?: readonly ("delivered" | "waiting" | "failed")[];
                /** @description `true` leaves out failed deliveries that were replayed or dismissed, and those of test events and of deleted webhooks. With `state=failed`, the others are those that `dead_letters` counts. */
                readonly unhandled?: "true";
                /** @description `false` leaves out test events, as statistics do; `true` leaves out all others. */
                readonly test?: "true" | "false";
            };
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The file. */
            readonly 200: {
                headers: {
                    /** @description A file name with the project and the range of time. */
                    readonly "Content-Disposition"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/csv": string;
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 422: components["responses"]["invalid"];
            /** @description 1 export at a time, 2 of a project. Too many exports and listeners of this project: up to 40 at once and 60 per minute. */
            readonly 429: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 431: components["responses"]["header-too-large"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly exportDeliveriesJsonl: {
        readonly parameters: {
            readonly query?: {
                /** @description Deliveries to any of these webhooks. Repeat the parameter or separate values with commas. */
                readonly webhook_id?: readonly string[];
                /** @description Events of any of these types. Repeat the parameter or separate values with commas. Webhooks × types × states can be at most 30. */
                readonly type?: readonly components["schemas"]["EventType"][];
                /** @description A status code (`503`), a class (`5xx`), or `none` for attempts without a response. Repeat the parameter or separate values with commas. */
                readonly status_code?: readonly string[];
                /** @description The `error_code` of the attempt, such as `timeout`. With `status_code`, either matches. Repeat the parameter or separate values with commas. */
                readonly error?: readonly string[];
                /** @description Deliveries of this event. */
                readonly event_id?: string;
                /** @description Events with one of these as their data's `order_id`. Repeat the parameter for several. */
                readonly order_id?: readonly string[];
                /** @description Events with one of these as their data's `customer_email`, in upper or lower case. Repeat the parameter for several. */
                readonly customer_email?: readonly string[];
                /** @description Started at this time or later. ISO 8601 with its zone, in the years 0000 to 9999 (UTC). */
                readonly since?: string;
                /** @description Started before this time. ISO 8601 with its zone, in the years 0000 to 9999 (UTC). */
                readonly until?: string;
                /** @description Repeat the parameter or separate values with commas. */
                readonly state?: readonly ("delivered" | "waiting" | "failed")[];
                /** @description `true` leaves out failed deliveries that were replayed or dismissed, and those of test events and of deleted webhooks. With `state=failed`, the others are those that `dead_letters` counts. */
                readonly unhandled?: "true";
                /** @description `false` leaves out test events, as statistics do; `true` leaves out all others. */
                readonly test?: "true" | "false";
            };
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The file. */
            readonly 200: {
                headers: {
                    /** @description A file name with the project and the range of time. */
                    readonly "Content-Disposition"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/jsonl": string;
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 422: components["responses"]["invalid"];
            /** @description 1 export at a time, 2 of a project. Too many exports and listeners of this project: up to 40 at once and 60 per minute. */
            readonly 429: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 431: components["responses"]["header-too-large"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly checkSignature: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The attempt's identifier. */
                readonly attempt_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["SignatureSeen"];
            };
        };
        readonly responses: {
            /** @description The findings. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SignatureDiagnosis"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            /** @description The Developer app is not installed. Or: Nothing was sent in this attempt, or the webhook's secret can't be read. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-urlChecks-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listDeliveries: {
        readonly parameters: {
            readonly query?: {
                /** @description Deliveries to any of these webhooks. Repeat the parameter or separate values with commas. */
                readonly webhook_id?: readonly string[];
                /** @description Events of any of these types. Repeat the parameter or separate values with commas. Webhooks × types × states can be at most 30. */
                readonly type?: readonly components["schemas"]["EventType"][];
                /** @description A status code (`503`), a class (`5xx`), or `none` for attempts without a response. Repeat the parameter or separate values with commas. */
                readonly status_code?: readonly string[];
                /** @description The `error_code` of the attempt, such as `timeout`. With `status_code`, either matches. Repeat the parameter or separate values with commas. */
                readonly error?: readonly string[];
                /** @description Deliveries of this event. */
                readonly event_id?: string;
                /** @description Events with one of these as their data's `order_id`. Repeat the parameter for several. */
                readonly order_id?: readonly string[];
                /** @description Events with one of these as their data's `customer_email`, in upper or lower case. Repeat the parameter for several. */
                readonly customer_email?: readonly string[];
                /** @description Started at this time or later. ISO 8601 with its zone, in the years 0000 to 9999 (UTC). */
                readonly since?: string;
                /** @description Started before this time. ISO 8601 with its zone, in the years 0000 to 9999 (UTC). */
                readonly until?: string;
                /** @description Repeat the parameter or separate values with commas. */
                readonly state?: readonly ("delivered" | "waiting" | "failed")[];
                /** @description `true` leaves out failed deliveries that were replayed or dismissed, and those of test events and of deleted webhooks. With `state=failed`, the others are those that `dead_letters` counts. */
                readonly unhandled?: "true";
                /** @description `false` leaves out test events, as statistics do; `true` leaves out all others. */
                readonly test?: "true" | "false";
                /** @description Rows per page. */
                readonly limit?: number;
                /** @description The `next_cursor` from the previous page, unchanged; anything else is refused. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A page of deliveries. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["DeliverySummary"][];
                        /** @description Pass it as `cursor` to get the next page; null on the last page. */
                        readonly next_cursor: string | null;
                        readonly searched?: components["schemas"]["SearchedEvents"];
                    };
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-reads"];
            readonly 431: components["responses"]["header-too-large"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getDelivery: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The webhook's identifier. */
                readonly webhook_id: string;
                /** @description The event's identifier. Receivers deduplicate by it. */
                readonly event_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The delivery with its attempts. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Delivery"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-lookups"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly replayDelivery: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The webhook's identifier. */
                readonly webhook_id: string;
                /** @description The event's identifier. Receivers deduplicate by it. */
                readonly event_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The new series has begun. */
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ReplayAccepted"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            /** @description The Developer app is not installed. Or: The delivery is still attempting. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-replays-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly retryDelivery: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The webhook's identifier. */
                readonly webhook_id: string;
                /** @description The event's identifier. Receivers deduplicate by it. */
                readonly event_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The attempt is due now. */
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ReplayAccepted"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            /** @description The Developer app is not installed. Or: No attempt of this delivery is waiting. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-replays-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly cancelTest: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The webhook's identifier. */
                readonly webhook_id: string;
                /** @description The event's identifier. Receivers deduplicate by it. */
                readonly event_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description It won't be sent again. */
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TestCancelled"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            /** @description The Developer app is not installed. Or: It isn't a test event, or no attempt of it is waiting. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-replays-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly dismissDelivery: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The webhook's identifier. */
                readonly webhook_id: string;
                /** @description The event's identifier. Receivers deduplicate by it. */
                readonly event_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The delivery is dismissed. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Dismissed"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            /** @description The Developer app is not installed. Or: The delivery isn't dead-lettered. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-replays-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly replayFailed: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The webhook's identifier. */
                readonly webhook_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ReplayRequest"];
            };
        };
        readonly responses: {
            /** @description How many deliveries are replayed. */
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ReplayedCount"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-bulkReplays-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly replayMany: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ReplaysRequest"];
            };
        };
        readonly responses: {
            /** @description How many deliveries are replayed. */
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Replays"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-bulkReplays-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly retryWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The webhook's identifier. */
                readonly webhook_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description How many deliveries are retried now. */
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ReplayedCount"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-bulkReplays-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly retryMany: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["RetriesRequest"];
            };
        };
        readonly responses: {
            /** @description How many deliveries are retried now. */
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Retries"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-bulkReplays-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly dismissMany: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["DismissalsRequest"];
            };
        };
        readonly responses: {
            /** @description How many deliveries are dismissed. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Dismissals"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-bulkReplays-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getStats: {
        readonly parameters: {
            readonly query?: {
                /** @description 60 minutes, 24 hours or 30 days (UTC); the last one is in progress. */
                readonly range?: "hour" | "day" | "month";
                /** @description Only this webhook's, even if it was deleted. */
                readonly webhook_id?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The counts. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Stats"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-reads"];
            readonly 431: components["responses"]["header-too-large"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listWebhookHealth: {
        readonly parameters: {
            readonly query?: {
                /** @description Only these webhooks; unknown ids are ignored. Repeat the parameter or separate values with commas. */
                readonly webhook_id?: readonly string[];
                /** @description `false` leaves `hours` empty, which makes the response much smaller. The default is `true`. */
                readonly hours?: "true" | "false";
            };
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The health of the webhooks, oldest first. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WebhookHealthList"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-reads"];
            readonly 431: components["responses"]["header-too-large"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listWaiting: {
        readonly parameters: {
            readonly query?: {
                /** @description Only this webhook's. */
                readonly webhook_id?: string;
                /** @description Rows per page. */
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The pending attempts. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WaitingList"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-reads"];
            readonly 431: components["responses"]["header-too-large"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listIncidents: {
        readonly parameters: {
            readonly query?: {
                /** @description Only this webhook's. */
                readonly webhook_id?: string;
                /** @description How many incidents to list. */
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The incidents. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["IncidentList"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-reads"];
            readonly 431: components["responses"]["header-too-large"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listenToChanges: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The stream, which lasts until either side closes it. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/event-stream": string;
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 409: components["responses"]["app-not-installed"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-lookups"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getSetup: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Whether the operator's account has yet to be created. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SetupState"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly setUp: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["Setup"];
            };
        };
        readonly responses: {
            /** @description The session; its cookie is set. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Session"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            /** @description This setup link is no longer valid. The service prints a new one at startup until an account exists. */
            readonly 403: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The operator, or this e-mail, has an account already. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            /** @description Too many wrong tokens. */
            readonly 429: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getSession: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The account, its projects, and the CSRF token. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Session"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-lookups"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly signIn: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["SignIn"];
            };
        };
        readonly responses: {
            /** @description The session; its cookie is set. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Session"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            /** @description The e-mail address or the password is wrong, or the link has expired. */
            readonly 401: {
                headers: {
                    /** @description RFC 6750. */
                    readonly "WWW-Authenticate"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request comes from another site's page. */
            readonly 403: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            /** @description Too many wrong tries from this network, for this account or in all. */
            readonly 429: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly signOut: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The session has ended. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly createSignInLink: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewSignInLink"];
            };
        };
        readonly responses: {
            /** @description The link, shown only in this response. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SignInLink"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            /** @description No account has this address. */
            readonly 404: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly updateAccount: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["AccountPatch"];
            };
        };
        readonly responses: {
            /** @description The account as changed. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Account"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly changePassword: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PasswordChange"];
            };
        };
        readonly responses: {
            /** @description The password was changed. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listSessions: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description All of them. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["SessionInfo"][];
                        /** @description Pass it as `cursor` to get the next page; null on the last page. */
                        readonly next_cursor: string | null;
                    };
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-lookups"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly signOutEverywhere: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description All sessions have ended. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly endSession: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The session's identifier. */
                readonly session_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The session has ended. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listMembers: {
        readonly parameters: {
            readonly query?: {
                /** @description Rows per page. */
                readonly limit?: number;
                /** @description The `next_cursor` from the previous page, unchanged; anything else is refused. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A page of members. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["Member"][];
                        /** @description Pass it as `cursor` to get the next page; null on the last page. */
                        readonly next_cursor: string | null;
                    };
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-lookups"];
            readonly 431: components["responses"]["header-too-large"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly removeMember: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The member's identifier. */
                readonly account_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The member was removed. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            /** @description Only an owner may remove others. */
            readonly 403: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 404: components["responses"]["not-found"];
            /** @description A project needs an owner. Make someone else an owner first. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly updateMember: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The member's identifier. */
                readonly account_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["MemberPatch"];
            };
        };
        readonly responses: {
            /** @description The member as changed. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Member"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            /** @description A project needs an owner. Make someone else an owner first. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listInvitations: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description All open invitations. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["Invitation"][];
                        /** @description Pass it as `cursor` to get the next page; null on the last page. */
                        readonly next_cursor: string | null;
                    };
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-lookups"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly createInvitation: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewInvitation"];
            };
        };
        readonly responses: {
            /** @description The invitation with its link. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CreatedInvitation"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            /** @description A project may have 500 open invitations. Revoke some first. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly revokeInvitation: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
                /** @description The invitation's identifier. */
                readonly invitation_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The link no longer works. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly lookAtInvitation: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["InvitationToken"];
            };
        };
        readonly responses: {
            /** @description Who invites the user to which project. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SeenInvitation"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            /** @description The request comes from another site's page. */
            readonly 403: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description This invitation is no longer valid: it was accepted or revoked, or is older than a week. Ask for a new one. */
            readonly 404: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            /** @description Too many wrong tokens. */
            readonly 429: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly acceptInvitation: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["InvitationAcceptance"];
            };
        };
        readonly responses: {
            /** @description The session; a new one's cookie is set. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Session"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            /** @description The invitation is for someone else's address, or the request comes from another site's page. */
            readonly 403: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description This invitation is no longer valid: it was accepted or revoked, or is older than a week. Ask for a new one. */
            readonly 404: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is already an account with this address. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            /** @description Too many wrong tokens, or too many sign-ins in progress. */
            readonly 429: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listAudit: {
        readonly parameters: {
            readonly query?: {
                /** @description Rows per page. */
                readonly limit?: number;
                /** @description The `next_cursor` from the previous page, unchanged; anything else is refused. */
                readonly cursor?: string;
                /** @description Only actions on this, such as a webhook, even if it was deleted. Actions on a single delivery are listed under its event, and the removal of an app, which pauses every webhook, under the app. */
                readonly target_id?: string;
                /** @description Only what this account or API key did. `operator_key` stands for the operator's key. */
                readonly actor_id?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description The project's identifier. */
                readonly project_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A page of entries. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["AuditEntry"][];
                        /** @description Pass it as `cursor` to get the next page; null on the last page. */
                        readonly next_cursor: string | null;
                    };
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 404: components["responses"]["not-found"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-reads"];
            readonly 431: components["responses"]["header-too-large"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly isLive: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The process is alive. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Health"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly isReady: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Storage reads and commits, and the engine accepts work. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Health"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 500: components["responses"]["internal"];
            /** @description Storage didn't respond within two seconds or has no space left, the engine is stopping, or the machine has run out of something that deliveries need. */
            readonly 503: {
                headers: {
                    /** @description When to try again, in seconds. */
                    readonly "Retry-After"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    readonly getClock: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description This node's clock. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ClockState"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-lookups"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly confirmClock: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description This node's clock. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ClockState"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly readMetrics: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Prometheus text. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/plain": string;
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getQuarantine: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Whether the database is in quarantine. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["QuarantineState"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-reads"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly listQuarantined: {
        readonly parameters: {
            readonly query?: {
                /** @description Rows per page. */
                readonly limit?: number;
                /** @description The `next_cursor` from the previous page, unchanged; anything else is refused. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A page of projects. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["QuarantinedProject"][];
                        /** @description Pass it as `cursor` to get the next page; null on the last page. */
                        readonly next_cursor: string | null;
                    };
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-reads"];
            readonly 431: components["responses"]["header-too-large"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly releaseQuarantine: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The database is released. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["QuarantineRelease"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 401: components["responses"]["unauthorized"];
            readonly 403: components["responses"]["forbidden"];
            readonly 413: components["responses"]["too-large"];
            readonly 415: components["responses"]["unsupported-media-type"];
            readonly 422: components["responses"]["invalid"];
            readonly 429: components["responses"]["too-many-requests-changes"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly explainProblem: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The last part of the problem's type. */
                readonly problem: "malformed-request" | "unauthorized" | "forbidden" | "not-found" | "method-not-allowed" | "request-timeout" | "conflict" | "log-behind" | "app-not-installed" | "too-large" | "unsupported-media-type" | "invalid" | "too-many-requests" | "header-too-large" | "internal" | "unavailable";
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The explanation. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ProblemExplanation"];
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 404: components["responses"]["not-found"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly getOpenApi: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The document. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": Record<string, never>;
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly readDocs: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/html": string;
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly readDocsScript: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A script, compressed. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/javascript": string;
                };
            };
            readonly 400: components["responses"]["malformed-request"];
            readonly 500: components["responses"]["internal"];
            readonly 503: components["responses"]["unavailable"];
        };
    };
    readonly "receive.customer.created": {
        readonly parameters: {
            readonly query?: never;
            readonly header: {
                /**
                 * @description The event's type.
                 * @example customer.created
                 */
                readonly "X-Service-Event": string;
                /**
                 * @description The event's id, the same as `id` in the body.
                 * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
                 */
                readonly "X-Service-Event-Id": string;
                /**
                 * @description 64 hexadecimal characters.
                 * @example 136ab4dd5d444087402aa9568273c75dfb4b9c954fcf2baa6325015c7f89ffea
                 */
                readonly "X-Service-Signature": string;
                /**
                 * @description The signed Unix time, in whole seconds.
                 * @example 1795232856
                 */
                readonly "X-Service-Timestamp": string;
                /**
                 * @description The sender.
                 * @example Service-Webhooks/1.0
                 */
                readonly "User-Agent": string;
                /**
                 * @description The event's id, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
                 */
                readonly "webhook-id"?: string;
                /**
                 * @description The signed Unix time, in whole seconds, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example 1795232856
                 */
                readonly "webhook-timestamp"?: string;
                /**
                 * @description `v1,` and the signature in base64, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example v1,vZdpFrmOnLHeYWOiNLW2jDiKTGj9vcAmxU5bMlJ6Hs4=
                 */
                readonly "webhook-signature"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "id": "evt_01kbjh6mrxe3q8z1v2t4w5y6a7",
                 *       "type": "customer.created",
                 *       "created_at": "2026-11-21T03:47:36.123Z",
                 *       "project_id": "proj_01kbjh2c7mfpyt0m9k5r8s3e4d",
                 *       "data": {
                 *         "customer_email": "ada@example.com",
                 *         "order_id": "ord_10482"
                 *       }
                 *     }
                 */
                readonly "application/json": {
                    /** @description Deduplicate by it. */
                    readonly id: string;
                    /** @constant */
                    readonly type: "customer.created";
                    /**
                     * Format: date-time
                     * @description When it was generated, ISO 8601 in UTC.
                     */
                    readonly created_at: string;
                    /** @description The project that the event belongs to. */
                    readonly project_id: string;
                    readonly data: components["schemas"]["CustomerCreatedData"];
                };
            };
        };
        readonly responses: {
            /** @description Received. The delivery is finished. */
            readonly "2XX": {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, including a redirect, counts as failed and is retried. */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly "receive.purchase.completed": {
        readonly parameters: {
            readonly query?: never;
            readonly header: {
                /**
                 * @description The event's type.
                 * @example purchase.completed
                 */
                readonly "X-Service-Event": string;
                /**
                 * @description The event's id, the same as `id` in the body.
                 * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
                 */
                readonly "X-Service-Event-Id": string;
                /**
                 * @description 64 hexadecimal characters.
                 * @example 136ab4dd5d444087402aa9568273c75dfb4b9c954fcf2baa6325015c7f89ffea
                 */
                readonly "X-Service-Signature": string;
                /**
                 * @description The signed Unix time, in whole seconds.
                 * @example 1795232856
                 */
                readonly "X-Service-Timestamp": string;
                /**
                 * @description The sender.
                 * @example Service-Webhooks/1.0
                 */
                readonly "User-Agent": string;
                /**
                 * @description The event's id, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
                 */
                readonly "webhook-id"?: string;
                /**
                 * @description The signed Unix time, in whole seconds, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example 1795232856
                 */
                readonly "webhook-timestamp"?: string;
                /**
                 * @description `v1,` and the signature in base64, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example v1,vZdpFrmOnLHeYWOiNLW2jDiKTGj9vcAmxU5bMlJ6Hs4=
                 */
                readonly "webhook-signature"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "id": "evt_01kbjh6mrxe3q8z1v2t4w5y6a7",
                 *       "type": "purchase.completed",
                 *       "created_at": "2026-11-21T03:47:36.123Z",
                 *       "project_id": "proj_01kbjh2c7mfpyt0m9k5r8s3e4d",
                 *       "data": {
                 *         "order_id": "ord_10482",
                 *         "customer_email": "ada@example.com",
                 *         "amount_cents": 2997,
                 *         "currency": "EUR",
                 *         "items": [
                 *           {
                 *             "product_id": "prod_vip_30d",
                 *             "name": "VIP rank, 30 days",
                 *             "quantity": 1,
                 *             "unit_amount_cents": 1999
                 *           },
                 *           {
                 *             "product_id": "prod_crate_key",
                 *             "name": "Crate key",
                 *             "quantity": 2,
                 *             "unit_amount_cents": 499
                 *           }
                 *         ]
                 *       }
                 *     }
                 */
                readonly "application/json": {
                    /** @description Deduplicate by it. */
                    readonly id: string;
                    /** @constant */
                    readonly type: "purchase.completed";
                    /**
                     * Format: date-time
                     * @description When it was generated, ISO 8601 in UTC.
                     */
                    readonly created_at: string;
                    /** @description The project that the event belongs to. */
                    readonly project_id: string;
                    readonly data: components["schemas"]["PurchaseCompletedData"];
                };
            };
        };
        readonly responses: {
            /** @description Received. The delivery is finished. */
            readonly "2XX": {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, including a redirect, counts as failed and is retried. */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly "receive.purchase.refunded": {
        readonly parameters: {
            readonly query?: never;
            readonly header: {
                /**
                 * @description The event's type.
                 * @example purchase.refunded
                 */
                readonly "X-Service-Event": string;
                /**
                 * @description The event's id, the same as `id` in the body.
                 * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
                 */
                readonly "X-Service-Event-Id": string;
                /**
                 * @description 64 hexadecimal characters.
                 * @example 136ab4dd5d444087402aa9568273c75dfb4b9c954fcf2baa6325015c7f89ffea
                 */
                readonly "X-Service-Signature": string;
                /**
                 * @description The signed Unix time, in whole seconds.
                 * @example 1795232856
                 */
                readonly "X-Service-Timestamp": string;
                /**
                 * @description The sender.
                 * @example Service-Webhooks/1.0
                 */
                readonly "User-Agent": string;
                /**
                 * @description The event's id, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
                 */
                readonly "webhook-id"?: string;
                /**
                 * @description The signed Unix time, in whole seconds, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example 1795232856
                 */
                readonly "webhook-timestamp"?: string;
                /**
                 * @description `v1,` and the signature in base64, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example v1,vZdpFrmOnLHeYWOiNLW2jDiKTGj9vcAmxU5bMlJ6Hs4=
                 */
                readonly "webhook-signature"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "id": "evt_01kbjh6mrxe3q8z1v2t4w5y6a7",
                 *       "type": "purchase.refunded",
                 *       "created_at": "2026-11-21T03:47:36.123Z",
                 *       "project_id": "proj_01kbjh2c7mfpyt0m9k5r8s3e4d",
                 *       "data": {
                 *         "order_id": "ord_10482",
                 *         "refund_id": "ref_2071",
                 *         "amount_cents": 499,
                 *         "currency": "EUR",
                 *         "partial": true
                 *       }
                 *     }
                 */
                readonly "application/json": {
                    /** @description Deduplicate by it. */
                    readonly id: string;
                    /** @constant */
                    readonly type: "purchase.refunded";
                    /**
                     * Format: date-time
                     * @description When it was generated, ISO 8601 in UTC.
                     */
                    readonly created_at: string;
                    /** @description The project that the event belongs to. */
                    readonly project_id: string;
                    readonly data: components["schemas"]["PurchaseRefundedData"];
                };
            };
        };
        readonly responses: {
            /** @description Received. The delivery is finished. */
            readonly "2XX": {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, including a redirect, counts as failed and is retried. */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly "receive.delivery.success": {
        readonly parameters: {
            readonly query?: never;
            readonly header: {
                /**
                 * @description The event's type.
                 * @example delivery.success
                 */
                readonly "X-Service-Event": string;
                /**
                 * @description The event's id, the same as `id` in the body.
                 * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
                 */
                readonly "X-Service-Event-Id": string;
                /**
                 * @description 64 hexadecimal characters.
                 * @example 136ab4dd5d444087402aa9568273c75dfb4b9c954fcf2baa6325015c7f89ffea
                 */
                readonly "X-Service-Signature": string;
                /**
                 * @description The signed Unix time, in whole seconds.
                 * @example 1795232856
                 */
                readonly "X-Service-Timestamp": string;
                /**
                 * @description The sender.
                 * @example Service-Webhooks/1.0
                 */
                readonly "User-Agent": string;
                /**
                 * @description The event's id, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
                 */
                readonly "webhook-id"?: string;
                /**
                 * @description The signed Unix time, in whole seconds, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example 1795232856
                 */
                readonly "webhook-timestamp"?: string;
                /**
                 * @description `v1,` and the signature in base64, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example v1,vZdpFrmOnLHeYWOiNLW2jDiKTGj9vcAmxU5bMlJ6Hs4=
                 */
                readonly "webhook-signature"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "id": "evt_01kbjh6mrxe3q8z1v2t4w5y6a7",
                 *       "type": "delivery.success",
                 *       "created_at": "2026-11-21T03:47:36.123Z",
                 *       "project_id": "proj_01kbjh2c7mfpyt0m9k5r8s3e4d",
                 *       "data": {
                 *         "order_id": "ord_10482",
                 *         "deliverable_id": "dlv_77120",
                 *         "kind": "game_command",
                 *         "detail": "Rank granted on survival-1"
                 *       }
                 *     }
                 */
                readonly "application/json": {
                    /** @description Deduplicate by it. */
                    readonly id: string;
                    /** @constant */
                    readonly type: "delivery.success";
                    /**
                     * Format: date-time
                     * @description When it was generated, ISO 8601 in UTC.
                     */
                    readonly created_at: string;
                    /** @description The project that the event belongs to. */
                    readonly project_id: string;
                    readonly data: components["schemas"]["DeliverySuccessData"];
                };
            };
        };
        readonly responses: {
            /** @description Received. The delivery is finished. */
            readonly "2XX": {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, including a redirect, counts as failed and is retried. */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly "receive.delivery.failed": {
        readonly parameters: {
            readonly query?: never;
            readonly header: {
                /**
                 * @description The event's type.
                 * @example delivery.failed
                 */
                readonly "X-Service-Event": string;
                /**
                 * @description The event's id, the same as `id` in the body.
                 * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
                 */
                readonly "X-Service-Event-Id": string;
                /**
                 * @description 64 hexadecimal characters.
                 * @example 136ab4dd5d444087402aa9568273c75dfb4b9c954fcf2baa6325015c7f89ffea
                 */
                readonly "X-Service-Signature": string;
                /**
                 * @description The signed Unix time, in whole seconds.
                 * @example 1795232856
                 */
                readonly "X-Service-Timestamp": string;
                /**
                 * @description The sender.
                 * @example Service-Webhooks/1.0
                 */
                readonly "User-Agent": string;
                /**
                 * @description The event's id, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
                 */
                readonly "webhook-id"?: string;
                /**
                 * @description The signed Unix time, in whole seconds, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example 1795232856
                 */
                readonly "webhook-timestamp"?: string;
                /**
                 * @description `v1,` and the signature in base64, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example v1,vZdpFrmOnLHeYWOiNLW2jDiKTGj9vcAmxU5bMlJ6Hs4=
                 */
                readonly "webhook-signature"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "id": "evt_01kbjh6mrxe3q8z1v2t4w5y6a7",
                 *       "type": "delivery.failed",
                 *       "created_at": "2026-11-21T03:47:36.123Z",
                 *       "project_id": "proj_01kbjh2c7mfpyt0m9k5r8s3e4d",
                 *       "data": {
                 *         "order_id": "ord_10482",
                 *         "deliverable_id": "dlv_77121",
                 *         "kind": "chat_role",
                 *         "detail": "The buyer is not a member of the chat server"
                 *       }
                 *     }
                 */
                readonly "application/json": {
                    /** @description Deduplicate by it. */
                    readonly id: string;
                    /** @constant */
                    readonly type: "delivery.failed";
                    /**
                     * Format: date-time
                     * @description When it was generated, ISO 8601 in UTC.
                     */
                    readonly created_at: string;
                    /** @description The project that the event belongs to. */
                    readonly project_id: string;
                    readonly data: components["schemas"]["DeliveryFailedData"];
                };
            };
        };
        readonly responses: {
            /** @description Received. The delivery is finished. */
            readonly "2XX": {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, including a redirect, counts as failed and is retried. */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly "receive.basket.abandoned": {
        readonly parameters: {
            readonly query?: never;
            readonly header: {
                /**
                 * @description The event's type.
                 * @example basket.abandoned
                 */
                readonly "X-Service-Event": string;
                /**
                 * @description The event's id, the same as `id` in the body.
                 * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
                 */
                readonly "X-Service-Event-Id": string;
                /**
                 * @description 64 hexadecimal characters.
                 * @example 136ab4dd5d444087402aa9568273c75dfb4b9c954fcf2baa6325015c7f89ffea
                 */
                readonly "X-Service-Signature": string;
                /**
                 * @description The signed Unix time, in whole seconds.
                 * @example 1795232856
                 */
                readonly "X-Service-Timestamp": string;
                /**
                 * @description The sender.
                 * @example Service-Webhooks/1.0
                 */
                readonly "User-Agent": string;
                /**
                 * @description The event's id, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
                 */
                readonly "webhook-id"?: string;
                /**
                 * @description The signed Unix time, in whole seconds, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example 1795232856
                 */
                readonly "webhook-timestamp"?: string;
                /**
                 * @description `v1,` and the signature in base64, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example v1,vZdpFrmOnLHeYWOiNLW2jDiKTGj9vcAmxU5bMlJ6Hs4=
                 */
                readonly "webhook-signature"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "id": "evt_01kbjh6mrxe3q8z1v2t4w5y6a7",
                 *       "type": "basket.abandoned",
                 *       "created_at": "2026-11-21T03:47:36.123Z",
                 *       "project_id": "proj_01kbjh2c7mfpyt0m9k5r8s3e4d",
                 *       "data": {
                 *         "basket_id": "bsk_55310",
                 *         "customer_email": "grace@example.com",
                 *         "items": [
                 *           {
                 *             "product_id": "prod_crate_key",
                 *             "name": "Crate key",
                 *             "quantity": 5,
                 *             "unit_amount_cents": 499
                 *           }
                 *         ]
                 *       }
                 *     }
                 */
                readonly "application/json": {
                    /** @description Deduplicate by it. */
                    readonly id: string;
                    /** @constant */
                    readonly type: "basket.abandoned";
                    /**
                     * Format: date-time
                     * @description When it was generated, ISO 8601 in UTC.
                     */
                    readonly created_at: string;
                    /** @description The project that the event belongs to. */
                    readonly project_id: string;
                    readonly data: components["schemas"]["BasketAbandonedData"];
                };
            };
        };
        readonly responses: {
            /** @description Received. The delivery is finished. */
            readonly "2XX": {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, including a redirect, counts as failed and is retried. */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly "receive.subscription.created": {
        readonly parameters: {
            readonly query?: never;
            readonly header: {
                /**
                 * @description The event's type.
                 * @example subscription.created
                 */
                readonly "X-Service-Event": string;
                /**
                 * @description The event's id, the same as `id` in the body.
                 * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
                 */
                readonly "X-Service-Event-Id": string;
                /**
                 * @description 64 hexadecimal characters.
                 * @example 136ab4dd5d444087402aa9568273c75dfb4b9c954fcf2baa6325015c7f89ffea
                 */
                readonly "X-Service-Signature": string;
                /**
                 * @description The signed Unix time, in whole seconds.
                 * @example 1795232856
                 */
                readonly "X-Service-Timestamp": string;
                /**
                 * @description The sender.
                 * @example Service-Webhooks/1.0
                 */
                readonly "User-Agent": string;
                /**
                 * @description The event's id, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
                 */
                readonly "webhook-id"?: string;
                /**
                 * @description The signed Unix time, in whole seconds, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example 1795232856
                 */
                readonly "webhook-timestamp"?: string;
                /**
                 * @description `v1,` and the signature in base64, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example v1,vZdpFrmOnLHeYWOiNLW2jDiKTGj9vcAmxU5bMlJ6Hs4=
                 */
                readonly "webhook-signature"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "id": "evt_01kbjh6mrxe3q8z1v2t4w5y6a7",
                 *       "type": "subscription.created",
                 *       "created_at": "2026-11-21T03:47:36.123Z",
                 *       "project_id": "proj_01kbjh2c7mfpyt0m9k5r8s3e4d",
                 *       "data": {
                 *         "subscription_id": "sub_3108",
                 *         "customer_email": "ada@example.com",
                 *         "plan": "vip_monthly"
                 *       }
                 *     }
                 */
                readonly "application/json": {
                    /** @description Deduplicate by it. */
                    readonly id: string;
                    /** @constant */
                    readonly type: "subscription.created";
                    /**
                     * Format: date-time
                     * @description When it was generated, ISO 8601 in UTC.
                     */
                    readonly created_at: string;
                    /** @description The project that the event belongs to. */
                    readonly project_id: string;
                    readonly data: components["schemas"]["SubscriptionCreatedData"];
                };
            };
        };
        readonly responses: {
            /** @description Received. The delivery is finished. */
            readonly "2XX": {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, including a redirect, counts as failed and is retried. */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly "receive.subscription.canceled": {
        readonly parameters: {
            readonly query?: never;
            readonly header: {
                /**
                 * @description The event's type.
                 * @example subscription.canceled
                 */
                readonly "X-Service-Event": string;
                /**
                 * @description The event's id, the same as `id` in the body.
                 * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
                 */
                readonly "X-Service-Event-Id": string;
                /**
                 * @description 64 hexadecimal characters.
                 * @example 136ab4dd5d444087402aa9568273c75dfb4b9c954fcf2baa6325015c7f89ffea
                 */
                readonly "X-Service-Signature": string;
                /**
                 * @description The signed Unix time, in whole seconds.
                 * @example 1795232856
                 */
                readonly "X-Service-Timestamp": string;
                /**
                 * @description The sender.
                 * @example Service-Webhooks/1.0
                 */
                readonly "User-Agent": string;
                /**
                 * @description The event's id, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
                 */
                readonly "webhook-id"?: string;
                /**
                 * @description The signed Unix time, in whole seconds, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example 1795232856
                 */
                readonly "webhook-timestamp"?: string;
                /**
                 * @description `v1,` and the signature in base64, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example v1,vZdpFrmOnLHeYWOiNLW2jDiKTGj9vcAmxU5bMlJ6Hs4=
                 */
                readonly "webhook-signature"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "id": "evt_01kbjh6mrxe3q8z1v2t4w5y6a7",
                 *       "type": "subscription.canceled",
                 *       "created_at": "2026-11-21T03:47:36.123Z",
                 *       "project_id": "proj_01kbjh2c7mfpyt0m9k5r8s3e4d",
                 *       "data": {
                 *         "subscription_id": "sub_3108",
                 *         "customer_email": "ada@example.com",
                 *         "plan": "vip_monthly"
                 *       }
                 *     }
                 */
                readonly "application/json": {
                    /** @description Deduplicate by it. */
                    readonly id: string;
                    /** @constant */
                    readonly type: "subscription.canceled";
                    /**
                     * Format: date-time
                     * @description When it was generated, ISO 8601 in UTC.
                     */
                    readonly created_at: string;
                    /** @description The project that the event belongs to. */
                    readonly project_id: string;
                    readonly data: components["schemas"]["SubscriptionCanceledData"];
                };
            };
        };
        readonly responses: {
            /** @description Received. The delivery is finished. */
            readonly "2XX": {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, including a redirect, counts as failed and is retried. */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly "receive.chargeback.created": {
        readonly parameters: {
            readonly query?: never;
            readonly header: {
                /**
                 * @description The event's type.
                 * @example chargeback.created
                 */
                readonly "X-Service-Event": string;
                /**
                 * @description The event's id, the same as `id` in the body.
                 * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
                 */
                readonly "X-Service-Event-Id": string;
                /**
                 * @description 64 hexadecimal characters.
                 * @example 136ab4dd5d444087402aa9568273c75dfb4b9c954fcf2baa6325015c7f89ffea
                 */
                readonly "X-Service-Signature": string;
                /**
                 * @description The signed Unix time, in whole seconds.
                 * @example 1795232856
                 */
                readonly "X-Service-Timestamp": string;
                /**
                 * @description The sender.
                 * @example Service-Webhooks/1.0
                 */
                readonly "User-Agent": string;
                /**
                 * @description The event's id, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example evt_01kbjh6mrxe3q8z1v2t4w5y6a7
                 */
                readonly "webhook-id"?: string;
                /**
                 * @description The signed Unix time, in whole seconds, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example 1795232856
                 */
                readonly "webhook-timestamp"?: string;
                /**
                 * @description `v1,` and the signature in base64, for Standard Webhooks. Only if the webhook has `standard_webhooks`.
                 * @example v1,vZdpFrmOnLHeYWOiNLW2jDiKTGj9vcAmxU5bMlJ6Hs4=
                 */
                readonly "webhook-signature"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "id": "evt_01kbjh6mrxe3q8z1v2t4w5y6a7",
                 *       "type": "chargeback.created",
                 *       "created_at": "2026-11-21T03:47:36.123Z",
                 *       "project_id": "proj_01kbjh2c7mfpyt0m9k5r8s3e4d",
                 *       "data": {
                 *         "chargeback_id": "cbk_914",
                 *         "order_id": "ord_10482",
                 *         "amount_cents": 2997,
                 *         "currency": "EUR",
                 *         "reason": "fraudulent"
                 *       }
                 *     }
                 */
                readonly "application/json": {
                    /** @description Deduplicate by it. */
                    readonly id: string;
                    /** @constant */
                    readonly type: "chargeback.created";
                    /**
                     * Format: date-time
                     * @description When it was generated, ISO 8601 in UTC.
                     */
                    readonly created_at: string;
                    /** @description The project that the event belongs to. */
                    readonly project_id: string;
                    readonly data: components["schemas"]["ChargebackCreatedData"];
                };
            };
        };
        readonly responses: {
            /** @description Received. The delivery is finished. */
            readonly "2XX": {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, including a redirect, counts as failed and is retried. */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}

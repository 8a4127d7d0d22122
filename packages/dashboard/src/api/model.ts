import type { Schemas } from "./client/operation.ts";

export type EventType = Schemas["EventType"];
export type Project = Schemas["Project"];
export type Account = Schemas["Account"];
export type Session = Schemas["Session"];
/** A project as the session sees it. */
export type SessionProject = Session["projects"][number];

import { DurableObject } from "cloudflare:workers";
import { Hono } from "hono";

/** Not used: the host of the isolates wants a class of this name. */
export class SessionObject extends DurableObject {}

const app = new Hono();
app.get("/healthz", (c) => c.json({ status: "ok" }));

export default app;

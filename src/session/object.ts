import { DurableObject } from "cloudflare:workers";
import type { SessionApi } from "./contract.ts";

export abstract class SessionObject extends DurableObject<Cloudflare.Env> implements SessionApi {
  abstract begin: SessionApi["begin"];
  abstract append: SessionApi["append"];
  abstract beat: SessionApi["beat"];
  abstract context: SessionApi["context"];
  abstract stop: SessionApi["stop"];
  abstract summary: SessionApi["summary"];
  abstract entries: SessionApi["entries"];
  abstract calls: SessionApi["calls"];
  abstract remove: SessionApi["remove"];
  abstract flushed: SessionApi["flushed"];
}

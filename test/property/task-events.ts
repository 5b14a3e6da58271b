import { beat } from "./clock.ts";
import { removePlace } from "./copies.ts";
import type { TaskEvent } from "./history.ts";
import { type Isolate, kill } from "./isolate.ts";
import type { Task } from "./task.ts";
import type { World } from "./world.ts";

/** Longer than a step goes on whose client has left. */
const GONE_MS = 20_001;

/** What the history has happen while a task's request is out, after so many calls of its own. */
export async function happens(world: World, isolate: Isolate, task: Task, calls: number): Promise<void> {
  const [event] = task.events;
  if (event === undefined || world.atOnce || world.ending !== null || event.at > calls) return;
  const { findings, here } = world;
  // Nobody waits for it any more, or somebody does who is in another isolate.
  const alone = isolate !== world.isolate;
  if (alone && event.what !== "dead") return;
  task.events.shift();
  saw(world, task, event);
  switch (event.what) {
    case "dead":
      kill(isolate, "dead_in_task", findings);
      break;
    case "handed":
      await leaves(world);
      return;
    case "stopped":
      world.ending = event.what;
      await here.session.stop();
      break;
    case "deleted":
      world.ending = event.what;
      await removePlace(world, here);
      break;
  }
  await beat();
  world.quiet ??= event.what;
}

/** The client of the running turn leaves, and has been gone for too long for the step in progress to end here. */
export async function leaves(world: World): Promise<void> {
  if (world.client.signal.aborted) return;
  world.client.abort();
  world.now += GONE_MS;
  await beat();
}

function saw(world: World, task: Task, { what, below }: TaskEvent): void {
  const { findings } = world;
  findings.seen.add(`task ${what}`);
  if (below && world.tasks.some((one) => one.below.includes(task))) findings.seen.add("event below");
}

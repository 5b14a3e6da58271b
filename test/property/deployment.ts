import { type Deploy, LAZY, type Model } from "./history.ts";

/** What is deployed at a moment: changed by a history's deploys and by `install`. */
export interface Deployment {
  readonly late: number[];
  readonly gone: number[];
  edition: number;
  shuffle: number;
  /** Another renderer than the first one. */
  renderer: boolean;
  /** How often the instructions were reworded. */
  instructions: number;
  revision: number;
  /** Another model than the first one. */
  model: Model | null;
}

export function firstDeployment(): Deployment {
  return { late: [], gone: [], edition: 0, shuffle: 0, renderer: false, instructions: 0, revision: 1, model: null };
}

export function applyDeploy(deployment: Deployment, deploy: Deploy): void {
  const drop = (list: number[], tool: number) => {
    if (list.includes(tool)) list.splice(list.indexOf(tool), 1);
  };
  switch (deploy.kind) {
    case "add":
      drop(deployment.gone, LAZY + deploy.tool);
      if (!deployment.late.includes(deploy.tool)) deployment.late.push(deploy.tool);
      return;
    case "remove":
      // The same again brings it back.
      if (deployment.gone.includes(deploy.tool)) drop(deployment.gone, deploy.tool);
      else deployment.gone.push(deploy.tool);
      return;
    case "edit":
      deployment.edition += 1;
      return;
    case "shuffle":
      deployment.shuffle += deploy.by;
      return;
    case "renderer":
      deployment.renderer = !deployment.renderer;
      return;
    case "instructions":
      deployment.instructions += 1;
      return;
    case "revise":
      deployment.revision += 1;
      return;
    case "model":
      deployment.model = deploy.to;
      return;
  }
}

/** The model that the agent runs on now. */
export function modelOf(first: Model, { model }: Deployment): Model {
  return model ?? first;
}

/** Which version of a Worker Deployment a worker is, if somebody has turned Temporal's worker versioning on. */
import type { WorkerDeploymentOptions } from '@temporalio/worker';
import { readVariable, requireVariable, type Env } from '../config/environment.js';

/** How Temporal names what a run does when another version becomes current, by our setting. */
const BEHAVIOURS = { pinned: 'PINNED', 'auto-upgrade': 'AUTO_UPGRADE' } as const;

/**
 * Undefined while versioning is off, which is the default. The deployment is named after the task queue and the version
 * after the package, unless variables name them. Throws `config_invalid` for names that Temporal does not take.
 */
export async function deploymentOf(
  env: Env,
  taskQueue: string,
  packageVersion: string,
): Promise<WorkerDeploymentOptions | undefined> {
  const versioning = await requireVariable(env, 'PARTNER_SYNC_WORKER_VERSIONING');
  if (versioning === 'off') return undefined;
  return {
    useWorkerVersioning: true,
    version: {
      deploymentName: (await readVariable(env, 'PARTNER_SYNC_DEPLOYMENT_NAME')) || taskQueue,
      buildId: (await readVariable(env, 'PARTNER_SYNC_BUILD_ID')) || packageVersion,
    },
    // The table of variables admits no other value.
    defaultVersioningBehavior: BEHAVIOURS[versioning as keyof typeof BEHAVIOURS],
  };
}

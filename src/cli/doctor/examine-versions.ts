/**
 * Doctor's check of Temporal's worker versioning. Temporal gives versioned workers no task at all until somebody says
 * which version is the current one, and nothing else shows it: the workers poll, and runs do not begin.
 */
import type { Client } from '@temporalio/client';
import { fail, ok, warn, type Examined } from './examination.js';

const NAME = 'versions';
const WORKFLOWS = 1;
const VERSIONED: number = 2;

/** A version of a Worker Deployment. */
interface Version {
  readonly deploymentName: string;
  readonly buildId: string;
}

/** What was found. If `reachable` is false, no worker of the task queue gets new work, so there is nobody to ask. */
export interface ExaminedVersions {
  readonly examined: readonly Examined[];
  readonly reachable: boolean;
}

/** No line at all if no worker of the task queue is versioned. */
export async function examineVersions(client: Client, taskQueue: string): Promise<ExaminedVersions> {
  const { namespace } = client.options;
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: WORKFLOWS,
  });
  const polling = (pollers ?? []).map(({ deploymentOptions: options }) =>
    options && Number(options.workerVersioningMode) === VERSIONED
      ? { deploymentName: options.deploymentName ?? '', buildId: options.buildId ?? '' }
      : null,
  );
  const versions = polling.filter((version) => version !== null);
  if (versions.length === 0) return { examined: [], reachable: true };
  const name = versions[0]!.deploymentName;
  const current = await currentOf(client, name);
  const built = [...new Set(versions.map(({ buildId }) => buildId))].sort();
  const set = `${SET} --namespace ${namespace} --deployment-name ${name} --build-id ${built.at(-1)}`;
  const reachable = { reachable: true };
  if (current === null) {
    if (polling.includes(null))
      return {
        ...reachable,
        examined: [warn(NAME, `${name} has no current version: only workers without versioning get work`, set)],
      };
    return {
      reachable: false,
      examined: [
        fail(NAME, `${name} has no current version, so no worker gets any work; polling: ${built.join(', ')}`, set),
      ],
    };
  }
  if (!built.includes(current.buildId))
    return {
      reachable: false,
      examined: [
        fail(
          NAME,
          `the current version of ${name} is ${current.buildId}, which no worker has; polling: ${built.join(', ')}`,
          `start a worker of version ${current.buildId}, or: ${set}`,
        ),
      ],
    };
  return {
    ...reachable,
    examined: [ok(NAME, `the current version of ${name} is ${current.buildId}; polling: ${built.join(', ')}`)],
  };
}

const SET = 'temporal worker deployment set-current-version';

/** Null if none is set. */
async function currentOf(client: Client, deploymentName: string): Promise<Version | null> {
  const { workerDeploymentInfo } = await client.workflowService.describeWorkerDeployment({
    namespace: client.options.namespace,
    deploymentName,
  });
  const version = workerDeploymentInfo?.routingConfig?.currentDeploymentVersion;
  return version ? { deploymentName, buildId: version.buildId ?? '' } : null;
}

/** Who asks for something by an Update. */
import { currentUpdateInfo } from '@temporalio/workflow';
import { actorOfUpdate, type Actor } from '../src/domain/audit.js';
import type { ControlInput } from '../src/domain/run-controls.js';

/** The sender of the Update whose handler calls this. */
export const updateActor = ({ by }: ControlInput): Actor => actorOfUpdate(currentUpdateInfo()!.id, by);

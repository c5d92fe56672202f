/**
 * Marks errors that only this worker may have, since its files or variables are not those that the run needs. It is
 * in the domain because the modules that load mappings set the mark, and the activities, which know nothing of files, read it.
 */
import type { PartnerSyncError } from '../errors.js';

/** Details of such an error: the activity is retried on any worker, though a retry on this one cannot help. */
export const ON_ANOTHER_WORKER = { onAnotherWorker: true } as const;

/** Whether an error has the mark. */
export const mayWorkOnAnotherWorker = ({ details }: PartnerSyncError): boolean => details['onAnotherWorker'] === true;

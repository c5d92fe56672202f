/**
 * Marks errors that only this worker may have, since its files or variables are not those that the run needs. The mark is
 * set where mappings are loaded and read where activities fail, in rooms that do not know each other.
 */
import type { PartnerSyncError } from './errors.js';

/** Details of such an error: the activity is retried on any worker, though a retry on this one cannot help. */
export const ON_ANOTHER_WORKER = { onAnotherWorker: true } as const;

/** Whether an error has the mark. */
export const mayWorkOnAnotherWorker = ({ details }: PartnerSyncError): boolean => details['onAnotherWorker'] === true;

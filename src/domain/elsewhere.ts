/** What one worker lacks and another may have: its files or variables are not those that a run needs. */
import type { PartnerSyncError } from './errors.js';

/** Details of such an error: the activity is tried again, on whichever worker is free, though trying here cannot help. */
export const ELSEWHERE = { elsewhere: true } as const;

export const mayBeElsewhere = ({ details }: PartnerSyncError): boolean => details['elsewhere'] === true;

/** Milliseconds between two attempts; they make no haste, since it is the worker without the files that is quick. */
export const ELSEWHERE_EVERY = 1000;
/** Attempts until it is clear that no worker has it: with one good worker among four, one run in five thousand is unlucky. */
export const ELSEWHERE_ATTEMPTS = 30;

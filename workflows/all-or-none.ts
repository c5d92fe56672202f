/** Concurrent work in which one failure ends everything. */
import { CancellationScope } from '@temporalio/workflow';
import { isFromCancellation } from './cancellation.js';

/**
 * Runs all `works` side by side and returns their results. When one fails, the others are cancelled and awaited, so that
 * none outlives the run. Then throws the failure that began it, rather than a cancellation that followed from it.
 */
export async function allOrNone<T>(works: readonly (() => Promise<T>)[]): Promise<T[]> {
  const scope = new CancellationScope();
  const results = await scope.run(() =>
    Promise.allSettled(
      works.map((work) =>
        work().catch((error: unknown) => {
          scope.cancel();
          throw error;
        }),
      ),
    ),
  );
  const failures = results.filter((result) => result.status === 'rejected').map((result) => result.reason as unknown);
  if (failures.length > 0) throw failures.find((error) => !isFromCancellation(error)) ?? failures[0];
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

/** Which traces are exported, by OTEL_TRACES_SAMPLER. */
import type { TracePackages } from './trace-packages.js';

/**
 * Decides by the id of a trace, so that all processes decide alike. The tracer does the same for traces that begin in a
 * command. Those of a schedule begin in a workflow, which has no variables and samples every trace.
 */
export function sampledTraces({ api, core, sdk }: TracePackages): (traceId: string) => boolean {
  const { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: share } = core.getEnv();
  if (name.endsWith('always_off')) return () => false;
  if (!name.endsWith('traceidratio')) return () => true;
  const sampler = new sdk.TraceIdRatioBasedSampler(Number(share || 1));
  return (traceId) =>
    sampler.shouldSample(api.ROOT_CONTEXT, traceId).decision === sdk.SamplingDecision.RECORD_AND_SAMPLED;
}

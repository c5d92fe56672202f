/**
 * The last step before a span is exported. Temporal's interceptors describe a workflow with its memo and a failure with
 * its text and stack, and the next version may add more: so spans are reduced to what is known to be harmless.
 */
import type { Context } from '@opentelemetry/api';
import type { ReadableSpan, Span, SpanProcessor } from '@opentelemetry/sdk-trace-node';
import { EXPORTED_ATTRIBUTES } from './span-attributes.js';

/** Spans of queries to a workflow: a command asks each second how a run is going, which is no part of the run. */
const QUERIES = /^(QueryWorkflow|DescribeWorkflow)/;

/**
 * Passes spans on to the processor that exports them, without events and with known attributes only.
 *
 * @param isSampled whether the trace with this id is exported
 */
export class ExportedSpans implements SpanProcessor {
  readonly #exporting: SpanProcessor;
  readonly #isSampled: (traceId: string) => boolean;

  constructor(exporting: SpanProcessor, isSampled: (traceId: string) => boolean) {
    this.#exporting = exporting;
    this.#isSampled = isSampled;
  }

  onStart(span: Span, parent: Context): void {
    this.#exporting.onStart(span, parent);
  }

  onEnd(span: ReadableSpan): void {
    if (QUERIES.test(span.name) || !this.#isSampled(span.spanContext().traceId)) return;
    this.#exporting.onEnd(reduced(span));
  }

  forceFlush(): Promise<void> {
    return this.#exporting.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#exporting.shutdown();
  }
}

/** The same span with some properties replaced; the others are still those of the original. */
const reduced = (span: ReadableSpan): ReadableSpan =>
  Object.create(span, {
    attributes: {
      value: Object.fromEntries(Object.entries(span.attributes).filter(([name]) => EXPORTED_ATTRIBUTES.has(name))),
    },
    status: { value: { code: span.status.code } },
    events: { value: [] },
    links: { value: [] },
  }) as ReadableSpan;

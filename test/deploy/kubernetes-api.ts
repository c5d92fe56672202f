/** Checks a manifest against the schemas of the APIs of Kubernetes, KEDA and the Prometheus Operator. */
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject';
import { PodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Secret } from 'kubernetes-models/v1/Secret';

/** The objects that deploy/kubernetes creates. */
const MODELS = [ConfigMap, Secret, Deployment, PodMonitor, ScaledObject];

/**
 * What is wrong with a manifest; empty if nothing is. The validators ignore a field that their schema does not name, as an API
 * server does unless it is asked to be strict. Such a field is found by this: the validator has not read it.
 */
export function problemsOf(manifest: { readonly apiVersion: string; readonly kind: string }): readonly string[] {
  const model = MODELS.find(({ apiVersion, kind }) => apiVersion === manifest.apiVersion && kind === manifest.kind);
  if (model === undefined) return [`unknown: ${manifest.apiVersion} ${manifest.kind}`];
  const unread = new Set<string>();
  try {
    model.prototype.validate.call(watched(manifest, '', unread) as never);
  } catch (error) {
    return [(error as Error).message];
  }
  return [...unread].map((path) => `unknown field: ${path}`);
}

/** A copy in which each field, once it is read, takes its path out of `unread`. */
function watched(value: unknown, path: string, unread: Set<string>): unknown {
  if (Array.isArray(value)) return value.map((item, i) => watched(item, `${path}/${i}`, unread));
  if (typeof value !== 'object' || value === null) return value;
  const copy = {};
  for (const [name, field] of Object.entries(value)) {
    const at = `${path}/${name}`;
    unread.add(at);
    const inner = watched(field, at, unread);
    Object.defineProperty(copy, name, { enumerable: true, get: () => (unread.delete(at), inner) });
  }
  return copy;
}

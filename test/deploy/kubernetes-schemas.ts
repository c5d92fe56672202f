/**
 * JSON schemas of what deploy/kubernetes uses of the API, written by hand: Kubernetes, KEDA 2.17 with its Temporal scaler, and the
 * Prometheus Operator. The packages that contain all of it are many times as large as ours. A field that is not here is
 * refused, also one that the API would take: look it up there and add it.
 */
type Schema = Readonly<Record<string, unknown>>;

const object = (
  required: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
): Schema => ({
  type: 'object',
  properties: { ...required, ...optional },
  required: Object.keys(required),
  additionalProperties: false,
});
const list = (items: Schema): Schema => ({ type: 'array', items, minItems: 1 });
const oneOf = (...values: readonly unknown[]): Schema => ({ enum: values });

const TEXT: Schema = { type: 'string' };
const YES_OR_NO: Schema = { type: 'boolean' };
const COUNT: Schema = { type: 'integer', minimum: 0 };
const FROM_1: Schema = { type: 'integer', minimum: 1 };
/** A DNS label: names of objects, containers, volumes and ports. */
const NAME: Schema = { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$' };
/** An integer or a text such as `25%`. */
const INT_OR_STRING: Schema = { type: ['integer', 'string'] };
const QUANTITY: Schema = { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi)?$' };
const DURATION: Schema = { type: 'string', pattern: '^([0-9]+(ms|s|m|h))+$' };
const ENVIRONMENT_VARIABLE: Schema = { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' };
/** Labels and annotations have texts as values: a number or a boolean without quotation marks is refused. */
const TEXTS: Schema = { type: 'object', additionalProperties: TEXT };
const LABELS: Schema = {
  type: 'object',
  propertyNames: { pattern: '^([a-z0-9.-]{1,253}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$' },
  additionalProperties: { type: 'string', pattern: '^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$' },
};

const METADATA = object({ name: NAME }, { labels: LABELS, annotations: TEXTS });
const SELECTOR = object({ matchLabels: LABELS });
const manifest = (apiVersion: string, kind: string, more: Readonly<Record<string, Schema>>): Schema =>
  object({ apiVersion: oneOf(apiVersion), kind: oneOf(kind), metadata: METADATA, ...more });

const PROBE = object(
  { httpGet: object({ path: TEXT, port: INT_OR_STRING }) },
  { periodSeconds: FROM_1, timeoutSeconds: FROM_1, failureThreshold: FROM_1 },
);
const RESOURCES = object({}, { cpu: QUANTITY, memory: QUANTITY });

const CONTAINER = object(
  { name: NAME, image: TEXT },
  {
    args: list(TEXT),
    envFrom: list(object({ configMapRef: object({ name: NAME }) })),
    env: list(object({ name: ENVIRONMENT_VARIABLE }, { value: TEXT })),
    ports: list(object({ containerPort: { ...FROM_1, maximum: 65535 } }, { name: { ...NAME, maxLength: 15 } })),
    startupProbe: PROBE,
    livenessProbe: PROBE,
    readinessProbe: PROBE,
    resources: object({}, { requests: RESOURCES, limits: RESOURCES }),
    securityContext: object(
      {},
      {
        allowPrivilegeEscalation: YES_OR_NO,
        readOnlyRootFilesystem: YES_OR_NO,
        capabilities: object({}, { drop: list(TEXT) }),
      },
    ),
    volumeMounts: list(object({ name: NAME, mountPath: TEXT }, { readOnly: YES_OR_NO })),
  },
);

const POD = object(
  { containers: list(CONTAINER) },
  {
    terminationGracePeriodSeconds: COUNT,
    automountServiceAccountToken: YES_OR_NO,
    enableServiceLinks: YES_OR_NO,
    securityContext: object(
      {},
      {
        runAsNonRoot: YES_OR_NO,
        runAsUser: COUNT,
        runAsGroup: COUNT,
        seccompProfile: object({ type: oneOf('RuntimeDefault', 'Unconfined') }),
      },
    ),
    volumes: list(
      object(
        { name: NAME },
        { configMap: object({ name: NAME }), secret: object({ secretName: NAME }), emptyDir: object({}) },
      ),
    ),
  },
);

/** The settings of KEDA's Temporal scaler, which are texts. */
const TEMPORAL_TRIGGER = object({
  type: oneOf('temporal'),
  metadata: object(
    { endpoint: TEXT, taskQueue: TEXT },
    {
      namespace: TEXT,
      queueTypes: { type: 'string', pattern: '^(workflow|activity|nexus)(,(workflow|activity|nexus))*$' },
      targetQueueSize: { type: 'string', pattern: '^[1-9][0-9]*$' },
    },
  ),
});

/** By kind. */
export const KUBERNETES_SCHEMAS: Readonly<Record<string, Schema>> = {
  ConfigMap: manifest('v1', 'ConfigMap', { data: TEXTS }),
  Secret: manifest('v1', 'Secret', { type: oneOf('Opaque'), stringData: TEXTS }),
  Deployment: manifest('apps/v1', 'Deployment', {
    spec: object(
      {
        selector: SELECTOR,
        template: object({ metadata: object({ labels: LABELS }, { annotations: TEXTS }), spec: POD }),
      },
      {
        strategy: object({
          type: oneOf('RollingUpdate'),
          rollingUpdate: object({}, { maxUnavailable: INT_OR_STRING, maxSurge: INT_OR_STRING }),
        }),
      },
    ),
  }),
  PodMonitor: manifest('monitoring.coreos.com/v1', 'PodMonitor', {
    spec: object({
      selector: SELECTOR,
      podMetricsEndpoints: list(object({ port: NAME }, { path: TEXT, interval: DURATION })),
    }),
  }),
  ScaledObject: manifest('keda.sh/v1alpha1', 'ScaledObject', {
    spec: object(
      { scaleTargetRef: object({ name: NAME }), triggers: list(TEMPORAL_TRIGGER) },
      { minReplicaCount: COUNT, maxReplicaCount: FROM_1, pollingInterval: FROM_1, cooldownPeriod: COUNT },
    ),
  }),
};

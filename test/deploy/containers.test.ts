/** docker-compose.yml, the Dockerfile and deploy/kubernetes fit the program: its variables, probes, folders and times. */
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { VARIABLES } from '../../src/config/environment.js';
import { seconds } from '../../src/domain/timeouts.js';
import { loadQueueOf } from '../../src/domain/run/work.js';
import { checkSyncFiles } from '../../src/mapping/load-sync.js';
import { listSyncs } from '../../src/mapping/sync-folder.js';
import { ROOT } from '../docs/pages.js';
import { problemsOf } from './kubernetes-api.js';

const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** What is read here of a container of either file. */
interface Service {
  readonly image?: string;
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly env_file?: readonly { readonly path: string; readonly required: boolean }[];
  readonly volumes?: readonly string[];
  readonly stop_grace_period?: string;
  readonly restart?: string;
  readonly healthcheck?: { readonly test: readonly string[] };
}
interface Variable {
  readonly name: string;
  readonly value: string;
}
interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly timeoutSeconds?: number;
}
interface Container {
  readonly args: readonly string[];
  readonly env: readonly Variable[];
  readonly envFrom: readonly { readonly configMapRef: { readonly name: string } }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly securityContext: object;
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
}
interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: { readonly runAsNonRoot: boolean; readonly runAsUser: number };
  readonly containers: readonly [Container];
  readonly volumes: readonly { readonly name: string; readonly secret?: { readonly secretName: string } }[];
}
interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly spec: {
    readonly template: { readonly spec: Pod; readonly metadata: { readonly labels: Readonly<Record<string, string>> } };
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly podMetricsEndpoints: readonly { readonly port: string }[];
    readonly scaleTargetRef: { readonly name: string };
    readonly triggers: readonly { readonly metadata: Readonly<Record<string, string>> }[];
  };
}

const dockerfile = text('Dockerfile');
const image = Object.fromEntries(
  [.../^ENV (.*)$/m.exec(dockerfile)![1]!.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
) as Readonly<Record<string, string>>;
const { services } = parse(text('docker-compose.yml'), { merge: true }) as { services: Record<string, Service> };
const WORKERS = Object.entries(services).filter(([name]) => name.endsWith('worker'));

/** SOURCE_URL is a variable of the demo's sync.yaml. */
const isKnown = (name: string): boolean => {
  const known = (each: string): boolean => each === 'SOURCE_URL' || Object.hasOwn(VARIABLES, each);
  return known(name) || known(name.replace(/_FILE$/, ''));
};
/** Twice what activities get: an upload that is under way is still finished and recorded. */
const DRAINED = 2 * seconds('workerDrain');

describe('the image', () => {
  it('has what the program loads beside dist, and the drivers that were asked for', () => {
    expect(text('src/embedded/watch-npm.ts')).toContain('scripts/stack/');
    expect(dockerfile).toMatch(/^COPY --from=build \/app\/scripts\/stack \.\/scripts\/stack$/m);
    // Drivers are development dependencies, which npm would leave out with --omit=dev unless they are saved as others.
    expect(dockerfile).toMatch(/npm install --no-save --save-prod --omit=dev \$DRIVERS/);
  });

  it('contains the schemas of the mapping language and no sync', () => {
    const copied = [...dockerfile.matchAll(/^COPY --from=build \/app\/mappings(\S*) /gm)].map(([, what]) => what);
    expect(copied).toEqual(['/*.schema.json']);
    expect(image['PARTNER_SYNC_MAPPINGS']).toBe('/mappings');
  });
});

describe.each(WORKERS)('%s of docker-compose.yml', (_, worker) => {
  it('gets the mappings from this machine, where the image looks for them', () => {
    expect(worker.volumes).toContain(`./mappings:${image['PARTNER_SYNC_MAPPINGS']}:ro`);
  });

  it('gets any variable from a file, and otherwise only variables that exist', () => {
    expect(worker.env_file).toEqual([{ path: 'worker.env', required: false }]);
    expect(Object.keys(worker.environment!).filter((name) => !isKnown(name))).toEqual([]);
  });

  it('is started again unless somebody stopped it, and has time to drain', () => {
    expect(worker.restart).toBe('unless-stopped');
    expect(worker.stop_grace_period).toBe(`${DRAINED}s`);
  });

  it.each([
    [200, 0],
    [503, 1],
    [null, 1],
  ])('is healthy if /ready responds with 200: %s gives %i', async (status, code) => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url!);
      response.writeHead(status!).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const close = () => new Promise((resolve) => server.close(resolve));
    if (status === null) await close();
    else onTestFinished(async () => void (await close()));
    const [how, program, option, script] = worker.healthcheck!.test;
    expect([how, program, option]).toEqual(['CMD', 'node', '-e']);
    const here = script!.replace(`:${worker.environment!['PARTNER_SYNC_METRICS_PORT']}/`, `:${port}/`);
    expect(here).not.toBe(script);

    const ended = await new Promise((resolve) =>
      execFile(process.execPath, ['-e', here], (error) => resolve(error === null ? 0 : error.code)),
    );

    expect(ended).toBe(code);
    expect(asked).toEqual(status === null ? [] : ['/ready']);
  });
});

describe('deploy/kubernetes', () => {
  const manifests = readdirSync(join(ROOT, 'deploy/kubernetes')).flatMap((name) =>
    // Without merge keys, which Kubernetes' own reader refuses to override.
    parseAllDocuments(text(`deploy/kubernetes/${name}`)).map((document) => document.toJS() as Manifest),
  );
  const one = (kind: string): Manifest => manifests.find((manifest) => manifest.kind === kind)!;
  const deployment = one('Deployment');
  const pod = deployment.spec.template.spec;
  const [container] = pod.containers;
  const variables = one('ConfigMap').data!;
  const portNamed = (name: string): string => String(container.ports.find((each) => each.name === name)!.containerPort);

  it('has only kinds and fields of the APIs, with values of their types', () => {
    for (const manifest of manifests) expect(problemsOf(manifest), manifest.kind).toEqual([]);
    const kinds = ['ConfigMap', 'Deployment', 'PodMonitor', 'ScaledObject', 'Secret'];
    expect(manifests.map(({ kind }) => kind).sort()).toEqual(kinds);
  });

  const POD = 'spec/template/spec';
  it.each([
    ['a misspelt field', 'Deployment', `${POD}/terminationGracePeriod`, 60, `unknown field: /${POD}/termination`],
    ['a misspelt field of a list', 'Deployment', `${POD}/containers/0/livenessProbe/httpGet/prot`, 1, 'httpGet/prot'],
    ['a misspelt field', 'PodMonitor', 'spec/podMetricsEndpoints/1/intreval', '15s', 'unknown field: /spec/podMetrics'],
    ['a misspelt field', 'ScaledObject', 'spec/maxReplicas', 4, 'unknown field: /spec/maxReplicas'],
    ['a misspelt field', 'ConfigMap', 'datas', { A: 'a' }, 'unknown field: /datas'],
    ['a misspelt field', 'Secret', 'stringdata', { a: 'a' }, 'unknown field: /stringdata'],
    ['a number as a variable', 'Deployment', `${POD}/containers/0/env/0/value`, 1, 'env/0/value must be string'],
    ['a quantity of no unit', 'Deployment', `${POD}/containers/0/resources/limits/memory`, '1 Gi', 'format "quantity"'],
    ['a number as a text', 'Deployment', `${POD}/containers/0/ports/0/containerPort`, '9464', 'must be integer'],
    ['a wrong duration', 'PodMonitor', 'spec/podMetricsEndpoints/0/interval', '15 s', 'must match pattern'],
    ['a number as a text', 'ScaledObject', 'spec/triggers/0/metadata/targetQueueSize', 10, 'must be string'],
    ['a number as a variable', 'ConfigMap', 'data/PARTNER_SYNC_METRICS_PORT', 9464, 'must be string'],
    ['no selector', 'Deployment', 'spec/selector', undefined, 'must have required property selector'],
    ['a variable without a name', 'Deployment', `${POD}/containers/0/env/0/name`, undefined, 'required property name'],
    ['no selector', 'PodMonitor', 'spec/selector', undefined, 'must have required property selector'],
    ['a trigger without a type', 'ScaledObject', 'spec/triggers/0/type', undefined, 'must have required property type'],
    ['another version', 'ScaledObject', 'apiVersion', 'keda.sh/v1', 'unknown: keda.sh/v1 ScaledObject'],
  ])('would not have %s in a %s (%s)', (_, kind, path, value, problem) => {
    const manifest = structuredClone(one(kind));
    const fields = path.split('/');
    const last = fields.pop()!;
    const object = fields.reduce<object>((at, field) => (at as Record<string, object>)[field]!, manifest);
    Object.assign(object, { [last]: value });
    expect(problemsOf(manifest).join('\n')).toContain(problem);
  });

  it('sets only variables that exist, and no secret outside the Secret', () => {
    const names = [...Object.keys(variables), ...container.env.map(({ name }) => name)];
    expect(names.filter((name) => !isKnown(name))).toEqual([]);
    const secrets = Object.entries(VARIABLES).filter(([, variable]) => 'secret' in variable);
    expect(names).toEqual(expect.not.arrayContaining(secrets.map(([name]) => name)));
    expect(container.envFrom).toEqual([{ configMapRef: { name: one('ConfigMap').metadata.name } }]);
  });

  it('takes each secret from a key of the Secret', () => {
    const keys = Object.keys(one('Secret').stringData!);
    const folder = container.volumeMounts.find(({ name }) => name === 'secrets')!.mountPath;
    expect(pod.volumes.find(({ name }) => name === 'secrets')!.secret!.secretName).toBe(one('Secret').metadata.name);
    const used = container.env.map(({ value }) => value.slice(folder.length + 1));
    expect(used.sort()).toEqual(keys.sort());
  });

  it('probes the pages of the port that metrics are served on', () => {
    expect(portNamed('metrics')).toBe(variables['PARTNER_SYNC_METRICS_PORT']);
    expect(portNamed('temporal')).toBe(variables['PARTNER_SYNC_TEMPORAL_METRICS_PORT']);
    expect(container.livenessProbe.httpGet).toEqual({ path: '/live', port: 'metrics' });
    expect(container.startupProbe.httpGet).toEqual({ path: '/live', port: 'metrics' });
    expect(container.readinessProbe.httpGet).toEqual({ path: '/ready', port: 'metrics' });
    expect(container.readinessProbe.timeoutSeconds).toBeGreaterThan(seconds('readyWait'));
    expect(one('PodMonitor').spec.podMetricsEndpoints.map(({ port }) => port)).toEqual(['metrics', 'temporal']);
  });

  it('lets a worker drain, as a user that can change nothing', () => {
    expect(pod.terminationGracePeriodSeconds).toBe(DRAINED);
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(dockerfile).toMatch(/^USER 1000:1000$/m);
    expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
    expect(container.args).toEqual(['worker']);
  });

  it('mounts a sync where the image looks for syncs', () => {
    const mounted = container.volumeMounts.filter(({ name }) => name.startsWith('mappings-'));
    expect(mounted).not.toEqual([]);
    for (const { name, mountPath } of mounted)
      expect(mountPath).toBe(`${image['PARTNER_SYNC_MAPPINGS']}/${name.slice('mappings-'.length)}`);
  });

  it('lets a sync be read from a ConfigMap, whose files are links to a folder beside them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'config-map-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const sync = join(folder, 'online-retail');
    cpSync(join(ROOT, 'mappings/online-retail'), join(sync, '..2026_11_23'), { recursive: true });
    symlinkSync('..2026_11_23', join(sync, '..data'));
    for (const name of readdirSync(join(sync, '..data'))) symlinkSync(`..data/${name}`, join(sync, name));

    expect(await listSyncs(folder)).toEqual(['online-retail']);
    const env = { SOURCE_URL: 'postgres://shop_reader@127.0.0.1:5432/shop', PLATFORM_TENANT: 'demo-shop' };
    const { sync: loaded, findings } = await checkSyncFiles(folder, 'online-retail', env);
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(loaded!.mappings.length).toBe(3);
  });

  it('scales by the common task queue and the load queue', () => {
    const { scaleTargetRef, triggers } = one('ScaledObject').spec;
    expect(scaleTargetRef.name).toBe(deployment.metadata.name);
    const queue = variables['PARTNER_SYNC_TASK_QUEUE']!;
    expect(triggers.map(({ metadata }) => metadata['taskQueue'])).toEqual([queue, loadQueueOf(queue)]);
    // The schema lets the settings of a trigger be any texts: these are the ones of the Temporal scaler.
    const settings = ['endpoint', 'namespace', 'queueTypes', 'targetQueueSize', 'taskQueue'];
    for (const { metadata } of triggers) expect(Object.keys(metadata).sort()).toEqual(settings);
    for (const { metadata } of triggers)
      expect([metadata['endpoint'], metadata['namespace']]).toEqual([
        variables['TEMPORAL_ADDRESS'],
        variables['TEMPORAL_NAMESPACE'],
      ]);
  });

  it('selects the pods of the Deployment', () => {
    const { labels } = deployment.spec.template.metadata;
    expect(labels).toMatchObject(deployment.spec.selector.matchLabels);
    expect(labels).toMatchObject(one('PodMonitor').spec.selector.matchLabels);
  });
});

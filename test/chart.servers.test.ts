import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadAll } from 'js-yaml';
import { afterAll, describe, expect, test } from 'vitest';
import { pythonWith } from './kits/process/python-judges.ts';
import { run } from './kits/process/run-command.ts';

const CHART = path.resolve('deploy/helm/mesh');
const HELM = path.resolve('node_modules/.cache/helm');
const SETS = readdirSync(path.join(CHART, 'ci')).map((file) => path.join(CHART, 'ci', file));
const python = pythonWith(path.resolve('test/chart-judges/requirements.txt'), 'chart-judges');
/** The judge knows the kinds of Kubernetes alone. */
const OF_OPERATOR: ReadonlySet<string> = new Set(['ServiceMonitor', 'PrometheusRule']);

interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  // biome-ignore lint/suspicious/noExplicitAny: whatever a kind has
  readonly spec: any;
}

const folder = mkdtempSync(path.join(tmpdir(), 'mesh-chart-'));
afterAll(() => rmSync(folder, { recursive: true }));

function rendered(values: string, ...settings: string[]): Rendered[] {
  const text = execFileSync(HELM, ['template', 'net', CHART, '--values', values, ...settings], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return loadAll(text).filter((document) => document !== null && document !== undefined) as Rendered[];
}

const setOf = (name: string) => path.join(CHART, 'ci', `${name}.yaml`);
const podsOf = (documents: readonly Rendered[]) =>
  documents.flatMap(({ spec }) => (spec?.template?.spec ? [spec.template.spec] : []));

describe.skipIf(!existsSync(HELM) || !python)('the chart', () => {
  test.each(SETS)('passes helm lint with %s', async (values) => {
    const { code, stdout, stderr } = await run(HELM, ['lint', '--strict', '--values', values, CHART]);
    expect(code, stdout + stderr).toBe(0);
  });

  test.each(SETS)('renders what Kubernetes takes with %s', async (values) => {
    const documents = rendered(values).filter(({ kind }) => !OF_OPERATOR.has(kind));
    const file = path.join(folder, path.basename(values));
    writeFileSync(file, documents.map((document) => `---\n${JSON.stringify(document)}\n`).join(''));
    const judge = ['-m', 'kubernetes_validate', '--strict', '--quiet', file];
    const { code, stdout, stderr } = await run(python ?? '', judge);
    expect(code, stdout + stderr).toBe(0);
    expect(documents.length).toBeGreaterThan(5);
  });

  test.each(SETS)('gives no pod rights that it has no need of, with %s', (values) => {
    for (const pod of podsOf(rendered(values))) {
      expect(pod).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } });
      // Else a service mesh would be a variable MESH_PORT, which the configuration does not know.
      expect(pod.enableServiceLinks).toBe(false);
      for (const container of [...pod.containers, ...(pod.initContainers ?? [])]) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    }
  });

  test('keeps one control plane on a volume, and several on what they share', () => {
    const [alone] = rendered(setOf('standalone')).filter(({ kind }) => kind === 'StatefulSet');
    expect(alone?.spec).toMatchObject({ replicas: 1, volumeClaimTemplates: [{ metadata: { name: 'data' } }] });
    const [several] = rendered(setOf('cluster')).filter(({ kind }) => kind === 'StatefulSet');
    expect(several?.spec).toMatchObject({ replicas: 3 });
    expect(several?.spec.volumeClaimTemplates).toBeUndefined();
    const variables = several?.spec.template.spec.containers[0].env.map(({ name }: { name: string }) => name);
    for (const name of ['MESH_STORE_URL', 'MESH_BUS_URL', 'MESH_KEYS_FILE', 'MESH_BUS_KEYS_FILE'])
      expect(variables).toContain(name);
  });

  test('has the alert rules of deploy/prometheus', () => {
    const [rule] = rendered(setOf('monitored')).filter(({ kind }) => kind === 'PrometheusRule');
    expect(rule?.spec).toEqual(loadAll(readFileSync('deploy/prometheus/mesh.rules.yml', 'utf8'))[0]);
  });

  test.each([
    [setOf('standalone'), 'host=', 'host: name or address that nodes reach this installation by'],
    [setOf('cluster'), 'cluster.secret=', 'cluster.secret: the Secret that the control planes share'],
    [setOf('monitored'), 'ingress.host=', 'ingress.host: name of the dashboard and the API'],
  ])('is refused without what it needs: %s with %s', async (values, setting, message) => {
    const { code, stderr } = await run(HELM, ['template', 'net', CHART, '--values', values, '--set', setting]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
  });

  test.each(['https://mesh.example.com', 'mesh.example.com:4222', 'fd00::1', 'a b', 'a\nb'])(
    'refuses %j as the host of nodes, which are given addresses with schemes and ports of it',
    async (host) => {
      const { code, stderr } = await run(HELM, ['template', 'net', CHART, '--set-string', `host=${host}`]);
      expect([code, stderr]).toEqual([1, expect.stringContaining('without a scheme and a port')]);
    },
  );

  test.each([
    'app.initAdmins[0].password=0123456789',
    'app.metrics.token=0123456789abcdef',
    'app.oidc[0].clientSecret=0123456789',
    'app.oauth.identityAssertions.clients[0].secret=0123456789',
  ])('keeps no secret in a ConfigMap, but has it put into a Secret: %s', async (setting) => {
    const args = ['template', 'net', CHART, '--values', setOf('standalone'), '--set', `config.${setting}`];
    const { code, stderr } = await run(HELM, args);
    expect([code, stderr]).toEqual([1, expect.stringContaining('name that in configSecret')]);
    expect((await run(HELM, [...args, '--set', 'configSecret=mesh-config'])).code).toBe(0);
  });

  test('lets settings into a ConfigMap that say where a secret is', () => {
    const named = 'config.app.oidc[0].clientSecretFile=/run/secrets/oidc';
    const [config] = rendered(setOf('standalone'), '--set', named).filter(({ kind }) => kind === 'ConfigMap');
    expect(JSON.stringify(config)).toContain('/run/secrets/oidc');
  });

  test('takes a value as one text, whatever characters it has', () => {
    const injected = ['priorityClassName', 'persistence.storageClass', 'ingress.className', 'ingress.tlsSecret'];
    const settings = injected.flatMap((name) => ['--set-string', `${name}=x\nhostNetwork: true`]);
    const documents = rendered(setOf('monitored'), ...settings);
    for (const pod of podsOf(documents)) expect(pod.hostNetwork).toBeUndefined();
    expect(podsOf(documents)[0].priorityClassName).toBe('x\nhostNetwork: true');
  });
});

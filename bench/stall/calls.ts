/** The calls among which the dearest are found by measurement. */
export interface Call {
  readonly what: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  readonly path: string;
  /** `round` differs with each call, so that a write changes something. */
  readonly body?: (round: number) => unknown;
}

export interface Place {
  readonly workspace: string;
  readonly snapshots: readonly string[];
}

export function callsOf({ workspace, snapshots: [first, second, third] }: Place): Call[] {
  const at = `/api/v1/workspaces/${workspace}`;
  const pair = 'src=peer-1&dst=peer-2&protocol=TCP&port=5432';
  return [
    post('simulate, 200 peers x 50 policies, many ports', '/api/v1/connectivity/simulate', () => combs),
    post('simulate, 500 peers, all open', '/api/v1/connectivity/simulate', () => open),
    get('matrix', '/api/v1/connectivity/matrix'),
    get('matrix of a snapshot', `/api/v1/connectivity/matrix?snapshot_id=${first}`),
    get('diff, one policy', `${at}/snapshots/diff?from=${first}&to=${second}`),
    get('diff, every label', `${at}/snapshots/diff?from=${first}&to=${third}`),
    post('plan from words', '/api/v1/ai/intent/plan', () => ({ intent: 'allow peer-1 to reach peer-2 on tcp 5432' })),
    post('plan of a base under all', '/api/v1/ai/intent/plan', () => ({ intent: 'close all', changes: [base] })),
    post('revert the last change', '/api/v1/ai/intent/revert', () => ({ dry_run: true })),
    post('revert to a snapshot', '/api/v1/ai/intent/revert', () => ({ snapshot_id: second, dry_run: true })),
    get('check now', `/api/v1/connectivity/check?${pair}`),
    get('check at a snapshot', `/api/v1/connectivity/check-at?${pair}&snapshot_id=${first}`),
    get('explain a denial', `/api/v1/connectivity/explain?${pair}`),
    get('200 peers', '/api/v1/peers?limit=200'),
    get('policies', '/api/v1/policies?limit=200'),
    get('networks', '/api/v1/networks'),
    get('audit', '/api/v1/audit?limit=200'),
    get('a snapshot', `${at}/snapshots/${first}`),
    get('snapshots', `${at}/snapshots?limit=200`),
    get('OpenAPI document', '/api/v1/openapi.json'),
    { what: 'write a policy', method: 'PUT', path: '/api/v1/policies/policy-1', body: written },
    post('apply 50 policies', '/api/v1/apply', (round) => ({ documents: documents(round) })),
  ];
}

const base = { action: 'create', resource: 'MeshPolicy', name: 'base', spec: { action: 'DENY', peerSelector: {} } };

function written(round: number) {
  const ingress = [{ ports: [{ protocol: 'TCP', port: 1_000 + (round % 60_000) }] }];
  return { spec: { action: 'ALLOW', peerSelector: { matchLabels: { role: 'r1' } }, ingress } };
}

function documents(round: number): unknown[] {
  return Array.from({ length: 50 }, (_, index) => ({
    apiVersion: 'mesh.internal/v1alpha1',
    kind: 'MeshPolicy',
    metadata: { name: `applied-${index}` },
    spec: { ...written(round + index).spec, peerSelector: { matchLabels: { role: `r${index % 50}` } } },
  }));
}

const combs = {
  peers: Array.from({ length: 200 }, (_, n) => ({ name: `s${n}`, labels: { role: `r${n}` } })),
  policies: Array.from({ length: 50 }, (_, n) => {
    const from = [{ peerSelector: { matchExpressions: [{ key: 'role', operator: 'NotIn', values: [`r${n}`] }] } }];
    const ingress = [{ from, ports: [{ protocol: 'TCP', port: 1_000 + 7 * n }] }];
    return { name: `p${n}`, spec: { action: n % 2 === 0 ? 'DENY' : 'ALLOW', peerSelector: {}, ingress } };
  }),
};

const open = { peers: Array.from({ length: 500 }, (_, n) => ({ name: `s${n}` })), policies: [] };

function get(what: string, path: string): Call {
  return { what, method: 'GET', path };
}

function post(what: string, path: string, body: Call['body'] & object): Call {
  return { what, method: 'POST', path, body };
}

import { setTimeout as after } from 'node:timers/promises';
import type { Api, ApiAnswer } from '../kits/http/harness.ts';
import { freshKey } from '../kits/plane/devices.ts';
import { type Network, PORTS, ROLES, type Rule, withoutPeer, withoutPolicy, withPeer, withPolicy } from './oracle.ts';
import type { Random } from './random.ts';

/** Where to write, and as whom. */
export interface Place {
  readonly api: Api;
  readonly token: string;
  readonly workspace: string;
  /** Of role → join token for its devices. */
  readonly joinTokens: ReadonlyMap<string, string>;
}

type Change = readonly [what: 'created' | 'updated' | 'deleted', kind: 'MeshPeer' | 'MeshPolicy', name: string];

/** One request that is done wholly or not at all. */
export interface Write {
  /** What the audit log has to tell of it, once. */
  readonly changes: readonly Change[];
  send(place: Place): Promise<ApiAnswer>;
  /** The network after it. */
  apply(network: Network): Network;
}

/** A writer has names of its own, so that what several do at once can be told without their order. */
export function nextWrite(random: Random, writer: string, network: Network): Write {
  const own = (names: Iterable<string>) => [...names].filter((name) => name.startsWith(`${writer}-`));
  const [policies, peers] = [own(network.policies.keys()), own(network.peers.keys())];
  const fresh = () => `${writer}-${random.below(1e9)}`;
  const kinds: (() => Write)[] = [() => createPolicy(fresh(), ruleOf(random))];
  if (policies.length < 9) kinds.push(() => applyBatch([fresh(), fresh(), fresh()], random));
  if (peers.length < 4) kinds.push(() => join(fresh(), random.pick(ROLES)));
  if (policies.length > 0) {
    kinds.push(() => replacePolicy(network, random.pick(policies), random));
    if (policies.length > 3) kinds.push(() => deletePolicy(random.pick(policies)));
  }
  if (policies.length > 8) return deletePolicy(random.pick(policies));
  if (peers.length > 0) {
    kinds.push(() => relabel(network, random.pick(peers), random));
    if (peers.length > 2) kinds.push(() => removePeer(random.pick(peers)));
  }
  return random.pick(kinds)();
}

export function ruleOf(random: Random): Rule {
  return {
    action: random.chance(0.6) ? 'ALLOW' : 'DENY',
    to: random.pick(ROLES),
    from: random.pick(ROLES),
    port: random.pick(PORTS),
  };
}

export function specOf({ action, to, from, port }: Rule) {
  return {
    action,
    peerSelector: { matchLabels: { role: to } },
    ingress: [{ from: [{ peerSelector: { matchLabels: { role: from } } }], ports: [{ protocol: 'TCP', port }] }],
  };
}

/** Several resources as `apply` takes them: all of them or none. */
export function manifestOf(rules: ReadonlyMap<string, Rule>): { readonly manifest: string } {
  const documents = [...rules].map(([name, rule]) =>
    JSON.stringify({
      apiVersion: 'mesh.internal/v1alpha1',
      kind: 'MeshPolicy',
      metadata: { name },
      spec: specOf(rule),
    }),
  );
  return { manifest: documents.join('\n---\n') };
}

export function withPolicies(network: Network, rules: ReadonlyMap<string, Rule>): Network {
  return [...rules].reduce((after, [name, rule]) => withPolicy(after, name, rule), network);
}

export function createPolicy(name: string, rule: Rule): Write {
  return {
    changes: [['created', 'MeshPolicy', name]],
    send: (place) => call(place, 'POST', '/policies', { name, spec: specOf(rule) }),
    apply: (network) => withPolicy(network, name, rule),
  };
}

function replacePolicy(network: Network, name: string, random: Random): Write {
  const before = network.policies.get(name);
  let rule = ruleOf(random);
  while (JSON.stringify(specOf(rule)) === JSON.stringify(before && specOf(before))) rule = ruleOf(random);
  return {
    changes: [['updated', 'MeshPolicy', name]],
    send: (place) => call(place, 'PUT', `/policies/${name}`, { spec: specOf(rule) }),
    apply: (after) => withPolicy(after, name, rule),
  };
}

function deletePolicy(name: string): Write {
  return {
    changes: [['deleted', 'MeshPolicy', name]],
    send: (place) => call(place, 'DELETE', `/policies/${name}`),
    apply: (network) => withoutPolicy(network, name),
  };
}

function applyBatch(names: readonly string[], random: Random): Write {
  const rules = new Map(names.map((name) => [name, ruleOf(random)]));
  return {
    changes: names.map((name) => ['created', 'MeshPolicy', name]),
    send: (place) => call(place, 'POST', '/apply', manifestOf(rules)),
    apply: (network) => withPolicies(network, rules),
  };
}

/** A device with a key of its own. */
export function join(name: string, role: string): Write {
  const { publicKey } = freshKey();
  return {
    changes: [['created', 'MeshPeer', name]],
    send: ({ api, joinTokens }) =>
      api('POST', '/api/v1/devices/register', {
        token: joinTokens.get(role) ?? '',
        body: { name, platform: 'linux', publicKey },
      }),
    apply: (network) => withPeer(network, name, role),
  };
}

export function removePeer(name: string): Write {
  return {
    changes: [['deleted', 'MeshPeer', name]],
    send: (place) => call(place, 'DELETE', `/peers/${name}`),
    apply: (network) => withoutPeer(network, name),
  };
}

function relabel(network: Network, name: string, random: Random): Write {
  const role = random.pick(ROLES.filter((each) => each !== network.peers.get(name)));
  return {
    changes: [['updated', 'MeshPeer', name]],
    send: (place) => call(place, 'PATCH', `/peers/${name}`, { labels: { role } }),
    apply: (after) => withPeer(after, name, role),
  };
}

/** Of a machine that has other work. */
const ANSWERED_WITHIN_MS = 180_000;
const ASK_AGAIN_MS = 500;

/** Reads; to be told to ask again later is no lie. @throws Error with any other answer than the one that was asked for */
export async function read(place: Place, route: string): Promise<ApiAnswer> {
  const until = performance.now() + ANSWERED_WITHIN_MS;
  for (;;) {
    const answer = await call(place, 'GET', route);
    if (answer.status === 200) return answer;
    if (answer.status !== 503 || performance.now() > until) {
      throw new Error(`GET ${route} answered ${answer.status}: ${answer.text}`);
    }
    await after(ASK_AGAIN_MS);
  }
}

export function call({ api, token, workspace }: Place, method: string, route: string, body?: unknown) {
  return api(method, `/api/v1${route}`, { token, workspace, ...(body !== undefined && { body }) });
}

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { network, peer, stateWith } from '../../test/kits/records/records.ts';
import { readAgentManifest } from '../identity/agent-manifest.ts';
import { readChange } from './manifest.ts';

const STATE = stateWith(network('default'), peer('db-1', { address: '10.96.0.1' }));
const HEAD = { apiVersion: 'mesh.internal/v1alpha1' };
const METADATA = { name: 'one', namespace: 'prod' };

/** Documents without a fault, by kind. */
const SOUND = {
  MeshPolicy: {
    ...HEAD,
    kind: 'MeshPolicy',
    metadata: METADATA,
    spec: { action: 'ALLOW', peerSelector: {}, ingress: [{ from: [{ peerSelector: {} }], ports: [{ port: 443 }] }] },
  },
  MeshNetwork: { ...HEAD, kind: 'MeshNetwork', metadata: METADATA, spec: { cidr: '10.97.0.0/24' } },
  MeshPeer: { ...HEAD, kind: 'MeshPeer', metadata: { ...METADATA, name: 'db-1' }, spec: { network: 'default' } },
  AgentIdentity: { ...HEAD, kind: 'AgentIdentity', metadata: METADATA, spec: { ttl: '1h', scopes: ['network:read'] } },
};
type Kind = keyof typeof SOUND;

type Fault = readonly [pointer: string, value: unknown];
/** Each a fault wherever it is put; `undefined` takes the field away. */
const ANYWHERE: Fault[] = [
  ['/apiVersion', undefined],
  ['/metadata/name', undefined],
  ['/metadata/namespace', 'dev'],
  ['/metadata/labels', 'role=db'],
  ['/metadata/annotations', 7],
  ['/metadata/colour', 'red'],
];
const OF_KIND: Readonly<Record<Kind, Fault[]>> = {
  MeshPolicy: [
    ['/extra', 1],
    ['/spec/action', 'MAYBE'],
    ['/spec/peerSelector', undefined],
    ['/spec/podSelector', {}],
    ['/spec/ingress/0/ports/0/port', 0],
    ['/spec/ingress/0/from/0/colour', 1],
    ['/spec/expiresAt', 'soon'],
  ],
  MeshNetwork: [
    ['/extra', 1],
    ['/spec/cidr', 'x'],
    ['/spec/colour', 1],
  ],
  MeshPeer: [
    ['/extra', 1],
    ['/spec/network', 7],
    ['/spec/hostname', 'evil'],
    ['/spec/platform', 'evil'],
  ],
  AgentIdentity: [
    ['/extra', 1],
    ['/spec/ttl', 7],
    ['/spec/scopes', 'all'],
    ['/spec/colour', 1],
  ],
};

function withFaults(document: object, faults: readonly Fault[]): unknown {
  const made = structuredClone(document);
  for (const [pointer, value] of faults) {
    const path = pointer.slice(1).split('/');
    const last = path.pop() ?? '';
    const parent = path.reduce<object>((at, key) => Reflect.get(at, key), made);
    if (value === undefined) Reflect.deleteProperty(parent, last);
    else Reflect.set(parent, last, value);
  }
  return made;
}

const read = (kind: Kind, document: unknown) =>
  kind === 'AgentIdentity' ? readAgentManifest(document, 'prod') : readChange(document, STATE, 'prod');
const pointersOf = (answer: unknown) =>
  Array.isArray(answer) ? answer.map(({ pointer }: { pointer: string }) => pointer).sort() : [];

test.each(Object.keys(SOUND) as Kind[])('every fault of a document of kind %s is named at once', (kind) => {
  expect(read(kind, SOUND[kind])).not.toBeInstanceOf(Array);
  fc.assert(
    fc.property(fc.subarray([...ANYWHERE, ...OF_KIND[kind]], { minLength: 1 }), (faults) => {
      const answer = read(kind, withFaults(SOUND[kind], faults));
      expect(pointersOf(answer)).toEqual(faults.map(([pointer]) => pointer).sort());
    }),
  );
});

test('a document of no known kind is told of that and of whatever else every kind has', () => {
  fc.assert(
    fc.property(fc.subarray(ANYWHERE), fc.constantFrom(undefined, 'Pod', 7), (faults, kind) => {
      const answer = readChange(withFaults({ ...SOUND.MeshPolicy, kind }, faults), STATE, 'prod');
      expect(pointersOf(answer)).toEqual(['/kind', ...faults.map(([pointer]) => pointer)].sort());
    }),
  );
});
